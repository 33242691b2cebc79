/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model file, opened: its tensors by name, whatever the format. A file that opens has been
 * checked as a whole: every tensor lies inside its file and has the size that its shape and type
 * ask for. Nothing of a file is executed, and no more of it is in memory than its header and one
 * block.
 */
#ifndef WTI_MODEL_MODEL_H
#define WTI_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

#include "base/arena.h"
#include "base/map.h"

struct wti_model_format;
struct wti_model_source;

struct wti_model_tensor {
	const char *name; /* "linear1.weight": the path of keys, joined by dots */
	uint32_t dtype;   /* enum wt_dtype; WT_DTYPE_OTHER: `type` alone says what it is */
	const char *type; /* the format's own word: "F32", "torch.FloatStorage", "Q4_K" */
	uint32_t rank;    /* 0: a scalar */
	const uint64_t *shape;
	const int64_t *strides; /* in elements; NULL: packed, in row-major order */
	uint64_t count;         /* elements */
	uint64_t bytes;         /* of all elements, packed */
	uint32_t source;        /* in `sources`: the file that has its elements */
	uint64_t offset;        /* of its first element there, in bytes */
	bool is_big_endian;     /* in its source; whoever reads elements gets them little-endian */
};

/* What a file has besides tensors: metadata, the numbers of a checkpoint, identifiers. */
struct wti_model_entry {
	const char *key;
	const char *value; /* as text; never interpreted */
};

struct wti_model {
	const struct wti_model_format *format;
	const char *path;                  /* as it was given: a file or a folder */
	bool is_folder;                    /* `path` is one */
	struct wti_model_source **sources; /* the first is `path` itself where that is a file */
	size_t source_count;
	size_t source_capacity;
	struct wti_model_tensor *tensors; /* in the order of the file */
	size_t tensor_count;
	size_t tensor_capacity;
	struct wti_map names; /* to the number of the tensor */
	struct wti_model_entry *entries;
	size_t entry_count;
	size_t entry_capacity;
	uint64_t unpacked_bytes; /* that are larger in memory or in a walk than in the file */
	struct wti_arena arena;  /* texts and shapes */
};

/* The format is found by what the file contains, never by its name. */
int wti_model_open(const char *path, struct wti_model **ret, struct wt_err *err);
void wti_model_free(struct wti_model *model);

/* NULL: there is no such tensor. */
const struct wti_model_tensor *wti_model_find(const struct wti_model *model, const char *name);
/* The value of the first entry of that key, or NULL. */
const char *wti_model_entry_value(const struct wti_model *model, const char *key);

/*
 * The elements of a tensor, packed in row-major order and little-endian, as many at a time as is
 * asked for. Several may be under way at once. What a tensor of WT_DTYPE_OTHER has is bytes.
 */
struct wti_model_elements {
	struct wti_model *model;
	const struct wti_model_tensor *tensor;
	uint64_t taken;  /* bytes, of tensor->bytes */
	size_t unit;     /* bytes of an element; of WT_DTYPE_OTHER 1 */
	uint8_t *block;  /* what was read and not taken; NULL: the source lies in memory, packed */
	size_t capacity; /* of the block */
	size_t used;
	size_t filled;
	struct wti_model_gather *gather; /* only with strides */
};

#define WTI_MODEL_BLOCK_BYTES ((size_t)256 << 10)

int wti_model_elements_init(struct wti_model_elements *elements, struct wti_model *model,
			    const struct wti_model_tensor *tensor, struct wt_err *err);
void wti_model_elements_release(struct wti_model_elements *elements);
/*
 * Points to the next bytes, at most `wanted` and at most to the end of the tensor, in whole
 * elements; they stay until the next call. The count, 0 at the end, or a negative code. `wanted`
 * is at least an element; fewer come only at the end or where a block ends.
 */
int64_t wti_model_elements_next(struct wti_model_elements *elements, size_t wanted,
				const uint8_t **ret_data, struct wt_err *err);

/*
 * All elements of a tensor, packed in row-major order, a block of whole elements at a time. Ends at
 * the first block whose function returns other than 0, with that.
 */
typedef int wti_model_block_fn(void *cookie, const void *data, size_t bytes);
int wti_model_walk(struct wti_model *model, const struct wti_model_tensor *tensor,
		   wti_model_block_fn *block, void *cookie, struct wt_err *err);

#endif
