/* SPDX-License-Identifier: Apache-2.0 */
/* What is open while a record with names is read; for record.c and record_tensor.c. */
#ifndef WTI_MODEL_BURN_FRAMES_H
#define WTI_MODEL_BURN_FRAMES_H

#include "base/json.h"
#include "model/burn/record.h"

#define WTI_BURN_FRAMES_MAX (WTI_DOC_DEPTH_MAX + 2u)
#define WTI_BURN_DTYPE_MAX 4096u

enum wti_burn_frame_kind {
	WTI_FRAME_TOP,
	WTI_FRAME_META,
	WTI_FRAME_NOTHING,   /* "_b" as an empty list */
	WTI_FRAME_UNDECIDED, /* a map before its first value */
	WTI_FRAME_MODULE,
	WTI_FRAME_MODULES, /* a list of anything */
	WTI_FRAME_PARAM,
	WTI_FRAME_TENSOR,
	WTI_FRAME_BYTE_LIST,   /* the elements as numbers 0 to 255 */
	WTI_FRAME_NUMBER_LIST, /* the elements as floats */
	WTI_FRAME_SHAPE,
	WTI_FRAME_DTYPE, /* a type with more than a name */
	WTI_FRAME_DTYPE_INSIDE,
};

struct wti_burn_frame {
	enum wti_burn_frame_kind kind;
	bool is_map;
	bool has_key;      /* the value of `key` comes next */
	char key[64];      /* as far as it matters: fields of modules go to the path */
	uint64_t entries;  /* so far */
	size_t path_bytes; /* of the path of this map or list itself */
};

/* A tensor that is known; it is added when all of its source is there. */
struct wti_burn_found {
	char *name;
	char *dtype_json;
	char id[WTI_BURN_ID_MAX + 1];
	const struct wti_burn_dtype *type;
	uint64_t shape[WTI_MODEL_RANK_MAX];
	uint64_t *kept_shape;
	uint32_t rank;
	bool is_unpacked;
	bool has_data;
	bool has_shape;
	uint64_t at;
	uint64_t bytes;
};

struct wti_burn_record {
	struct wti_model *model;
	uint32_t source;
	struct wti_burn_meta meta;
	struct wti_burn_frame frames[WTI_BURN_FRAMES_MAX];
	unsigned depth;
	bool done;
	struct wti_buf path;
	struct wti_buf tree;
	struct wti_json json;
	struct wti_buf dtype;
	struct wti_json dtype_json;
	struct wti_buf unpacked;
	struct wti_burn_found now;
	struct wti_burn_found *found;
	size_t found_count;
	size_t found_capacity;
	struct wti_arena arena;
};

/* "... WHAT at byte ...": the code. */
int wti_burn_bad(const struct wti_burn_record *record, const struct wti_burn_event *event,
		 struct wt_err *err, const char *what);
int wti_burn_no_memory(struct wt_err *err);
int wti_burn_push(struct wti_burn_record *record, const struct wti_burn_event *event,
		  enum wti_burn_frame_kind kind, struct wt_err *err);
/* Anything but text, map and list. */
void wti_burn_put_scalar(struct wti_json *json, const struct wti_burn_event *event);

/* Events of a tensor's own frames. */
int wti_burn_take_data(struct wti_burn_record *record, const struct wti_burn_event *event,
		       struct wt_err *err);
int wti_burn_take_tensor(struct wti_burn_record *record, struct wti_burn_frame *frame,
			 const struct wti_burn_event *event, struct wt_err *err);
int wti_burn_take_element(struct wti_burn_record *record, const struct wti_burn_frame *frame,
			  const struct wti_burn_event *event, struct wt_err *err);
int wti_burn_take_dtype_inside(struct wti_burn_record *record, struct wti_burn_frame *frame,
			       const struct wti_burn_event *event, struct wt_err *err);
int wti_burn_end_dtype(struct wti_burn_record *record, const struct wti_burn_event *event,
		       struct wt_err *err);
int wti_burn_keep_tensor(struct wti_burn_record *record, const struct wti_burn_event *event,
			 struct wt_err *err);
/* Into the model; `unpacked` is the source of what was not packed in the file. */
int wti_burn_add_found(struct wti_burn_record *record, const struct wti_burn_found *found,
		       uint32_t unpacked, struct wt_err *err);

#endif
