/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tensor of PyTorch: a view into a storage, by offset, size and stride in elements. Every view is
 * checked against its storage, not only against the file: a tensor that reads its neighbour's
 * elements is refused.
 */
#include <inttypes.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/err.h"
#include "digest/digest.h"
#include "model/torch/torch.h"

static int bad(const struct wti_torch *torch, const char *name, struct wt_err *err,
	       const char *reason)
{
	return wti_err(err, WT_E_FORMAT, "'%s': tensor '%.200s' %s", torch->model->path, name,
		       reason);
}

/* ---- Storages ------------------------------------------------------------------------------- */

/* (key, offset, count) of a view that old versions have instead of None. */
static bool read_view(const struct wti_pickle_value *view, struct wti_torch_id *id)
{
	uint64_t count;

	if (!view || view->type == WTI_PICKLE_NONE)
		return true;
	return view->type == WTI_PICKLE_TUPLE && view->count == 3 &&
	       wti_pickle_u64(view->items[1], &id->begin) &&
	       wti_pickle_u64(view->items[2], &count) && id->begin <= id->count &&
	       count <= id->count - id->begin;
}

/* ('storage', torch.FloatStorage, '0', 'cpu', 10) */
int wti_torch_read_id(const struct wti_torch *torch, const struct wti_pickle_value *persistent,
		      struct wti_torch_id *ret, struct wt_err *err)
{
	const struct wti_pickle_value *id = persistent->arguments;
	const struct wti_pickle_value *type = wti_pickle_item(id, 1, WTI_PICKLE_NAME);
	const struct wti_pickle_value *key = wti_pickle_item(id, 2, WTI_PICKLE_TEXT);
	struct wti_torch_id made = {0};

	if (id->type != WTI_PICKLE_TUPLE || id->count < 5 ||
	    !wti_pickle_is_text(id->items[0], "storage") || !type || !key ||
	    type->meaning != WTI_NAME_STORAGE || strlen(key->text) != key->bytes ||
	    !wti_pickle_u64(id->items[4], &made.count) ||
	    made.count > INT64_MAX / wti_dtype_bytes(type->dtype) ||
	    !read_view(id->count > 5 ? id->items[5] : NULL, &made)) {
		const struct wti_pickle_value *wanted = wti_pickle_item(
			id, id->type == WTI_PICKLE_TUPLE ? 0 : SIZE_MAX, WTI_PICKLE_TEXT);

		return wti_err(err, WT_E_FORMAT,
			       "'%s' refers to something outside of its pickle that is not a "
			       "storage ('%.100s'%s%.100s): refused; nothing was executed",
			       torch->model->path, wanted ? wanted->text : "?", type ? ", " : "",
			       type ? type->text : "");
	}
	made.key = key->text;
	made.type = type->text;
	made.dtype = type->dtype;
	*ret = made;
	return 0;
}

static int find_storage(const struct wti_torch *torch, const char *name,
			const struct wti_torch_id *id, struct wti_torch_storage *ret,
			struct wt_err *err)
{
	uint64_t bytes = id->count * wti_dtype_bytes(id->dtype);
	int r;

	if (!torch->find)
		return bad(torch, name, err, "has its elements outside of the file");
	r = torch->find(torch->cookie, id, ret, err);
	if (r)
		return r;
	if (ret->bytes != bytes)
		return wti_err(err, WT_E_FORMAT,
			       "'%s': tensor '%.200s': its storage '%.60s' has %" PRIu64
			       " bytes, but should have %" PRIu64
			       ": the file is damaged; copy or download it again",
			       torch->model->path, name, id->key, ret->bytes, bytes);
	return 0;
}

/* ---- Views ---------------------------------------------------------------------------------- */

static bool is_sequence(const struct wti_pickle_value *value)
{
	return value->type == WTI_PICKLE_TUPLE || value->type == WTI_PICKLE_LIST;
}

/* Sizes and strides; how far the last element is from the first. */
static bool read_view_of(const struct wti_pickle_value *size, const struct wti_pickle_value *stride,
			 struct wti_torch_tensor *made, uint64_t *ret_last)
{
	bool is_empty = false;

	*ret_last = 0;
	if (!is_sequence(size) || !is_sequence(stride) || size->count != stride->count ||
	    size->count > WTI_MODEL_RANK_MAX)
		return false;
	made->tensor.rank = (uint32_t)size->count;
	for (size_t i = 0; i < size->count; i++) {
		uint64_t step, length;

		if (!wti_pickle_u64(size->items[i], &made->shape[i]) ||
		    !wti_pickle_u64(stride->items[i], &step))
			return false;
		made->strides[i] = (int64_t)step;
		is_empty |= !made->shape[i];
		if (made->shape[i] && (__builtin_mul_overflow(made->shape[i] - 1, step, &length) ||
				       __builtin_add_overflow(*ret_last, length, ret_last)))
			return false;
	}
	if (is_empty)
		*ret_last = 0;
	return true;
}

static bool is_empty(const struct wti_torch_tensor *tensor)
{
	for (uint32_t i = 0; i < tensor->tensor.rank; i++)
		if (!tensor->shape[i])
			return true;
	return false;
}

/* Parameters and subclasses are tensors with something around. */
static const struct wti_pickle_value *innermost(const struct wti_pickle_value *value)
{
	/* Each step goes to a value that was made before: it ends. */
	for (int i = 0; value && i < 16; i++) {
		if (value->type != WTI_PICKLE_CALL)
			return NULL;
		if (value->meaning == WTI_NAME_TENSOR || value->meaning == WTI_NAME_TENSOR_OF_TYPE)
			return value;
		if (value->meaning != WTI_NAME_PARAMETER || !value->arguments->count)
			return NULL;
		value = value->arguments->items[0];
	}
	return NULL;
}

bool wti_torch_is_tensor(const struct wti_pickle_value *value)
{
	return innermost(value) != NULL;
}

/* The type of its elements: of the storage, or the argument that has it. */
static bool read_type(const struct wti_pickle_value *call, struct wti_torch_id *id)
{
	const struct wti_pickle_value *type;
	uint64_t bytes;

	if (call->meaning != WTI_NAME_TENSOR_OF_TYPE)
		return true;
	type = wti_pickle_item(call->arguments, 6, WTI_PICKLE_NAME);
	if (!type || type->meaning != WTI_NAME_TYPE || id->dtype != WT_DTYPE_U8)
		return false;
	bytes = wti_dtype_bytes(type->dtype);
	if (id->count % bytes)
		return false;
	id->dtype = type->dtype;
	id->type = type->text;
	id->count /= bytes;
	return true;
}

int wti_torch_tensor(const struct wti_torch *torch, const char *name,
		     const struct wti_pickle_value *value, struct wti_torch_tensor *ret,
		     struct wt_err *err)
{
	const struct wti_pickle_value *call = innermost(value), *arguments, *storage;
	struct wti_torch_storage place = {0};
	struct wti_torch_id id = {0};
	uint64_t offset, last, item;
	int r;

	arguments = call ? call->arguments : NULL;
	storage = wti_pickle_item(arguments, 0, WTI_PICKLE_PERSISTENT);
	if (!storage || arguments->count < 4 || !wti_pickle_u64(arguments->items[1], &offset) ||
	    !read_view_of(arguments->items[2], arguments->items[3], ret, &last))
		return bad(torch, name, err, "has no storage, size or stride: the file is damaged");
	r = wti_torch_read_id(torch, storage, &id, err);
	if (r)
		return r;
	if (!read_type(call, &id))
		return bad(torch, name, err, "has a type that does not fit its storage");
	r = find_storage(torch, name, &id, &place, err);
	if (r)
		return r;
	if (__builtin_add_overflow(offset, id.begin, &offset) || offset > id.count ||
	    (!is_empty(ret) && last >= id.count - offset))
		return bad(torch, name, err, "leaves its storage: refused");
	item = wti_dtype_bytes(id.dtype);
	ret->tensor.name = name;
	ret->tensor.dtype = id.dtype;
	ret->tensor.type = id.type;
	ret->tensor.shape = ret->shape;
	ret->tensor.strides = ret->strides;
	ret->tensor.source = place.source;
	ret->tensor.offset = place.offset + offset * item;
	ret->tensor.is_big_endian = torch->is_big_endian;
	return 0;
}
