/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tensor has to have right in every format. Nothing is added that does not pass, so that
 * whoever walks a tensor need not check again.
 */
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/text.h"
#include "digest/digest.h"
#include "model/own.h"

#define ENTRIES_MAX ((size_t)1 << 20)

static int bad(const struct wti_model *model, const struct wti_model_tensor *tensor,
	       struct wt_err *err, const char *reason)
{
	return wti_model_bad(model, tensor->source, tensor->offset, err, "tensor '%.200s' %s",
			     tensor->name, reason);
}

static int check_name(const struct wti_model *model, const struct wti_model_tensor *tensor,
		      struct wt_err *err)
{
	size_t bytes = strlen(tensor->name);

	if (!bytes)
		return wti_model_bad(model, tensor->source, tensor->offset, err,
				     "a tensor has no name");
	if (bytes > WTI_MODEL_NAME_MAX)
		return bad(model, tensor, err, "has a name that is too long");
	if (!wti_is_utf8(tensor->name, bytes))
		return bad(model, tensor, err, "has a name that is not UTF-8");
	if (wti_model_find(model, tensor->name))
		return bad(model, tensor, err, "is there twice");
	return 0;
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

static int measure(const struct wti_model *model, struct wti_model_tensor *tensor,
		   struct wt_err *err)
{
	uint64_t nonzero = 1; /* without the extents of 0: they must not hide an overflow */
	size_t item = wti_dtype_bytes(tensor->dtype);

	if (tensor->rank > WTI_MODEL_RANK_MAX)
		return bad(model, tensor, err, "has too many dimensions");
	if (!item && tensor->dtype != WT_DTYPE_OTHER)
		return bad(model, tensor, err, "has an unknown type");
	tensor->count = 1;
	for (uint32_t i = 0; i < tensor->rank; i++) {
		tensor->count *= tensor->shape[i];
		if (tensor->shape[i] && __builtin_mul_overflow(nonzero, tensor->shape[i], &nonzero))
			return bad(model, tensor, err, "has a shape with too many elements");
	}
	if (tensor->dtype == WT_DTYPE_OTHER) {
		if (tensor->bytes > INT64_MAX)
			return bad(model, tensor, err, "has too many bytes");
		return 0;
	}
	if (__builtin_mul_overflow(nonzero, item, &nonzero) || nonzero > INT64_MAX)
		return bad(model, tensor, err, "has a shape with too many elements");
	tensor->bytes = tensor->count * item;
	return 0;
}

/* How far elements lie before and behind the first one, in elements. */
static bool reach(const struct wti_model_tensor *tensor, int64_t *ret_before, int64_t *ret_behind)
{
	*ret_before = 0;
	*ret_behind = 0;
	for (uint32_t i = 0; i < tensor->rank; i++) {
		int64_t *side = tensor->strides[i] < 0 ? ret_before : ret_behind;
		int64_t length;

		if (tensor->shape[i] - 1 > INT64_MAX ||
		    __builtin_mul_overflow((int64_t)(tensor->shape[i] - 1), tensor->strides[i],
					   &length) ||
		    __builtin_add_overflow(*side, length, side))
			return false;
	}
	return true;
}

/* With strides: every element lies inside, and the copies of the same one are not too many. */
static int check_strides(struct wti_model *model, const struct wti_model_tensor *tensor,
			 struct wt_err *err)
{
	uint64_t all = wti_model_source_bytes(model, tensor->source);
	int64_t item = (int64_t)wti_dtype_bytes(tensor->dtype);
	int64_t before, behind, begin, end;

	if (!item)
		return bad(model, tensor, err, "has strides, which its type does not allow");
	if (!tensor->count)
		return 0;
	if (!reach(tensor, &before, &behind) || __builtin_mul_overflow(before, item, &before) ||
	    __builtin_mul_overflow(behind, item, &behind) ||
	    __builtin_add_overflow((int64_t)tensor->offset, before, &begin) ||
	    __builtin_add_overflow((int64_t)tensor->offset, behind, &end) ||
	    __builtin_add_overflow(end, item, &end) || begin < 0 || (uint64_t)end > all)
		return bad(model, tensor, err, "has strides that leave its file");
	if (tensor->bytes <= (uint64_t)(end - begin))
		return 0;
	if (tensor->bytes > WTI_MODEL_UNPACKED_MAX - model->unpacked_bytes)
		return bad(model, tensor, err,
			   "repeats a few elements so often that the limit is passed");
	model->unpacked_bytes += tensor->bytes;
	return 0;
}

static int check_place(struct wti_model *model, const struct wti_model_tensor *tensor,
		       struct wt_err *err)
{
	uint64_t all = wti_model_source_bytes(model, tensor->source);

	if (tensor->source >= model->source_count)
		return wti_err(err, WT_E_ARG, "tensor '%.200s' of '%s' has no file", tensor->name,
			       model->path);
	if (tensor->offset > INT64_MAX || tensor->offset > all)
		return bad(model, tensor, err, "begins behind the end of its file");
	if (tensor->strides)
		return check_strides(model, tensor, err);
	if (tensor->bytes > all - tensor->offset)
		return bad(
			model, tensor, err,
			"ends behind the end of its file: it was cut; copy or download it again");
	return 0;
}

/* ---- Adding --------------------------------------------------------------------------------- */

/* Strides that say no more than the shape does are left out. */
static bool is_packed(const struct wti_model_tensor *tensor)
{
	int64_t expected = 1;

	if (!tensor->count)
		return true;
	for (uint32_t i = tensor->rank; i-- > 0;) {
		if (tensor->shape[i] != 1 && tensor->strides[i] != expected)
			return false;
		expected *= (int64_t)tensor->shape[i];
	}
	return true;
}

static void *copy(struct wti_arena *arena, const void *data, size_t bytes)
{
	void *room = wti_arena_alloc(arena, bytes ? bytes : 1);

	if (room && bytes)
		memcpy(room, data, bytes);
	return room;
}

static int keep(struct wti_model *model, struct wti_model_tensor *tensor)
{
	struct wti_arena *arena = &model->arena;

	tensor->name = wti_arena_text(arena, tensor->name, strlen(tensor->name));
	tensor->type = wti_arena_text(arena, tensor->type, strlen(tensor->type));
	tensor->shape = copy(arena, tensor->shape, tensor->rank * sizeof(*tensor->shape));
	if (!tensor->name || !tensor->type || !tensor->shape)
		return arena->status;
	if (!tensor->strides)
		return 0;
	tensor->strides = copy(arena, tensor->strides, tensor->rank * sizeof(*tensor->strides));
	return tensor->strides ? 0 : arena->status;
}

static int full(const struct wti_model *model, int code, struct wt_err *err)
{
	if (code == WT_E_NOMEM)
		return wti_err(err, code, "out of memory while '%s' was opened", model->path);
	return wti_err(err, WT_E_LIMIT, "'%s' has more tensors or metadata than any model: refused",
		       model->path);
}

int wti_model_add(struct wti_model *model, const struct wti_model_tensor *given, struct wt_err *err)
{
	struct wti_model_tensor tensor = *given;
	uint64_t *number;
	int r = check_name(model, &tensor, err);

	r = r ? r : measure(model, &tensor, err);
	r = r ? r : check_place(model, &tensor, err);
	if (r)
		return r;
	if (tensor.dtype == WT_DTYPE_OTHER) /* what belongs together is not known: `type` says it */
		tensor.is_big_endian = false;
	if (tensor.strides && is_packed(&tensor))
		tensor.strides = NULL;
	r = keep(model, &tensor);
	r = r ? r
	      : wti_grow(&model->tensors, model->tensor_count + 1, &model->tensor_capacity,
			 WTI_MODEL_TENSORS_MAX);
	if (r)
		return full(model, r, err);
	number = wti_map_text(&model->names, tensor.name, strlen(tensor.name));
	if (!number)
		return full(model, WT_E_NOMEM, err);
	*number = model->tensor_count;
	model->tensors[model->tensor_count++] = tensor;
	return 0;
}

int wti_model_add_entry(struct wti_model *model, const char *key, const char *value,
			struct wt_err *err)
{
	struct wti_model_entry entry;
	int r;

	if (!wti_is_utf8(key, strlen(key)) || !wti_is_utf8(value, strlen(value)))
		return wti_err(err, WT_E_FORMAT, "'%s' has metadata that are not UTF-8",
			       model->path);
	entry.key = wti_arena_text(&model->arena, key, strlen(key));
	entry.value = wti_arena_text(&model->arena, value, strlen(value));
	if (!entry.key || !entry.value)
		return full(model, model->arena.status, err);
	r = wti_grow(&model->entries, model->entry_count + 1, &model->entry_capacity, ENTRIES_MAX);
	if (r)
		return full(model, r, err);
	model->entries[model->entry_count++] = entry;
	return 0;
}
