/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document as a series of events, whatever it is written in: MessagePack, JSON or CBOR. A map is
 * WTI_BURN_MAP, then a text and a value for each entry, then WTI_BURN_END.
 */
#ifndef WTI_MODEL_BURN_RECORD_H
#define WTI_MODEL_BURN_RECORD_H

#include "model/burn/burn.h"

enum wti_burn_event_type {
	WTI_BURN_MAP,
	WTI_BURN_LIST,
	WTI_BURN_END, /* of a map or a list */
	WTI_BURN_TEXT,
	WTI_BURN_BYTES, /* stay in the file */
	WTI_BURN_COUNT,
	WTI_BURN_NEGATIVE,
	WTI_BURN_F32, /* `number`: its bits */
	WTI_BURN_F64,
	WTI_BURN_BOOL,
	WTI_BURN_NIL,
};

struct wti_burn_event {
	enum wti_burn_event_type type;
	uint64_t at;      /* in the file, for errors; of bytes: the first */
	const char *text; /* valid during the call, ends with NUL */
	size_t bytes;
	uint64_t number; /* a count, a Boolean, bits; how many bytes there are */
	int64_t negative;
	double real;
};

typedef int wti_burn_take_event(void *self, const struct wti_burn_event *event, struct wt_err *err);

/* How deep a document nests, for forms that say how many entries a map has. */
struct wti_burn_nest {
	uint64_t left[WTI_DOC_DEPTH_MAX]; /* values and keys that are still to come */
	unsigned depth;
	wti_burn_take_event *take;
	void *self;
};

/*
 * Hands the event on, and the ends of all that it completes. `entries`: of a map or list. True in
 * `ret_done` after the last one.
 */
int wti_burn_nest_take(struct wti_burn_nest *nest, const struct wti_burn_event *event,
		       uint64_t entries, bool *ret_done, struct wt_err *err);

/* Makes a model of the events of a record. */
struct wti_burn_record;

int wti_burn_record_open(struct wti_model *model, uint32_t source, struct wti_burn_record **ret,
			 struct wt_err *err);
int wti_burn_record_take(void *record, const struct wti_burn_event *event, struct wt_err *err);
int wti_burn_record_end(struct wti_burn_record *record, struct wt_err *err); /* adds the tensors */
void wti_burn_record_free(struct wti_burn_record *record);

#endif
