/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the elements of a tensor after one pass over them, and what names a whole model:
 * the canonical digest, which is the same in every format (docs/model.md defines it to the byte).
 */
#ifndef WTI_MODEL_EXAMINE_H
#define WTI_MODEL_EXAMINE_H

#include <wheeltap/wheeltap.h>

#include "base/sha.h"
#include "model/model.h"

/* Rows are the first dimension: the outputs of a layer, in most formats. Of tensors of two
 * dimensions or more. */
struct wti_model_units {
	uint64_t rows;
	uint64_t zero_rows;
	uint64_t equal_rows;    /* all elements of the row are the same, and not 0 */
	uint64_t first_row;     /* the first of both */
	uint64_t columns;       /* 0: they were not looked at */
	uint64_t zero_columns;  /* of two dimensions */
	uint64_t equal_columns; /* each row has the same value there, and not 0 */
	uint64_t first_column;  /* the first of both */
	bool has_same_rows;     /* all rows are the same, and there are two or more */
};

enum {
	WTI_MODEL_HASH = 1 << 0,       /* the fast hash */
	WTI_MODEL_STATISTICS = 1 << 1, /* and the rest of the digest */
	WTI_MODEL_SHA = 1 << 2,
	WTI_MODEL_UNITS = 1 << 3,
};

struct wti_model_examined {
	struct wt_digest digest; /* of WT_DTYPE_OTHER only the hash, over its bytes */
	uint8_t sha[WTI_SHA256_BYTES];
	struct wti_model_units units;
};

/* How far the work is, in bytes of elements; called from one thread at a time. */
struct wti_model_watch {
	void (*progress)(void *cookie, double share);
	void *cookie;
};

/* One tensor. `what`: bits of the enum above. */
int wti_model_examine(struct wti_model *model, const struct wti_model_tensor *tensor, unsigned what,
		      struct wti_model_examined *ret, struct wt_err *err);
/* All of them, on the cores that there are: an array in the order of the tensors, to be freed. */
int wti_model_examine_all(struct wti_model *model, unsigned what,
			  const struct wti_model_watch *watch, struct wti_model_examined **ret,
			  struct wt_err *err);

/* "f32"; of WT_DTYPE_OTHER the format's own word. */
const char *wti_model_dtype_word(const struct wti_model_tensor *tensor);
/* WT_DTYPE_OTHER: there is no such word. */
uint32_t wti_model_dtype_by_word(const char *word);

/* Numbers of the tensors by name, in order of bytes; to be freed. NULL: out of memory. */
size_t *wti_model_by_name(const struct wti_model *model);
/* Out of the SHA-256 of all tensors, in the order of the file. */
int wti_model_canonical(const struct wti_model *model, const struct wti_model_examined *examined,
			uint8_t ret_digest[WTI_SHA256_BYTES], struct wt_err *err);
/* The SHA-256 of a file of the model. */
int wti_model_file_sha(struct wti_model *model, uint32_t source,
		       const struct wti_model_watch *watch, uint8_t ret_sha[WTI_SHA256_BYTES],
		       struct wt_err *err);

#endif
