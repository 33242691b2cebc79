/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the core share, and no format needs. */
#ifndef WTI_MODEL_OWN_H
#define WTI_MODEL_OWN_H

#include "model/format.h"
#include "model/joined.h"
#include "model/manifest.h"

/* A file, bytes in memory, or a tensor in pieces. */
struct wti_model_source {
	char *path; /* of memory: of what it was unpacked from */
	int fd;     /* -1: it lies in `memory` */
	uint64_t bytes;
	uint8_t *memory;
	const struct wti_model_joined *joined; /* in the arena of the model */
	bool is_beside; /* added by a name relative to the model's folder, which is `name` */
	char *name;
};

/* The file that was named by the user: the first source. */
int wti_model_add_first(struct wti_model *model, struct wt_err *err);
void wti_model_source_free(struct wti_model_source *source);
/* The memory of a source, NULL where it is a file. */
const uint8_t *wti_model_source_memory(const struct wti_model *model, uint32_t source);

/* The elements of a tensor with strides, in logical order. */
int wti_model_gather_new(struct wti_model *model, const struct wti_model_tensor *tensor,
			 struct wti_model_gather **ret, struct wt_err *err);
void wti_model_gather_free(struct wti_model_gather *gather);
/* The next `count` elements; there are so many. */
int wti_model_gather_next(struct wti_model_gather *gather, uint8_t *out, uint64_t count,
			  struct wt_err *err);

/* An empty manifest with room for so many. */
int wti_manifest_new(size_t files, size_t tensors, struct wti_manifest **ret, struct wt_err *err);

#endif
