/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tensor whose elements are spread over several places, as a source that has them packed in
 * row-major order: whoever reads it need not know of the pieces. The pieces are boxes that cover
 * the tensor exactly.
 */
#ifndef WTI_MODEL_JOINED_H
#define WTI_MODEL_JOINED_H

#include "model/format.h"

struct wti_model_piece {
	const uint64_t *begin;  /* of its first element in the whole tensor, per dimension */
	const uint64_t *shape;  /* as long as the tensor's */
	const int64_t *strides; /* of its elements in the source */
	uint32_t source;
	uint64_t offset; /* of its first element there, in bytes; inside was checked */
};

struct wti_model_joined;

/* Copies shape and pieces. Refuses pieces that overlap or leave a gap; `name` is for messages. */
int wti_model_add_joined(struct wti_model *model, const char *name,
			 const struct wti_model_tensor *tensor,
			 const struct wti_model_piece *pieces, size_t count, uint32_t *ret_source,
			 struct wt_err *err);
/* A stretch of another source as one of its own. */
int wti_model_add_part(struct wti_model *model, uint32_t source, uint64_t offset, uint64_t bytes,
		       uint32_t *ret_source, struct wt_err *err);
/* Takes the source that was added last away again. */
void wti_model_drop_last_source(struct wti_model *model);

/* For source.c: inside was checked. */
int wti_model_joined_read(struct wti_model *model, const struct wti_model_joined *joined,
			  uint64_t offset, uint8_t *data, size_t bytes, struct wt_err *err);
/* For joined.c: takes over nothing but the number of bytes. */
int wti_model_add_virtual(struct wti_model *model, const struct wti_model_joined *joined,
			  uint64_t bytes, const char *path, uint32_t *ret_source,
			  struct wt_err *err);

#endif
