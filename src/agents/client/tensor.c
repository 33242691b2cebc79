/* SPDX-License-Identifier: Apache-2.0 */
/* Digests of tensors in memory: computed here, defined in docs/digest.md. */
#include "client.h"

#include <stdio.h>

#include "digest/digest.h"
#include "digest/sample.h"

enum {
	RANK_MAX = 16, /* extents that are emitted */
};

void wt_digest_compute(const void *data, uint32_t dtype, uint64_t count, struct wt_digest *ret)
{
	wti_digest(data, dtype, count, ret);
}

/* "64x10"; empty for a scalar. */
static size_t shape_text(char *text, size_t text_bytes, uint32_t rank, const size_t *extents)
{
	size_t used = 0;

	text[0] = 0;
	for (uint32_t i = 0; i < rank && i < RANK_MAX; i++)
		used += (size_t)snprintf(text + used, text_bytes - used, "%s%zu", i ? "x" : "",
					 extents[i]);
	return used;
}

static uint64_t element_count(uint32_t rank, const size_t *extents)
{
	uint64_t count = 1;

	for (uint32_t i = 0; i < rank; i++)
		if (__builtin_mul_overflow(count, extents[i], &count))
			return 0;
	return count;
}

bool wti_client_tensor_emit(const struct wti_client_tensor *tensor)
{
	const struct wti_here here = wti_here();
	const uint32_t dtype = tensor->dtype;
	struct wti_record_tensor *record;
	struct wti_sampled_value value = {.dtype = dtype, .has_hash = true};
	struct wt_digest digest;
	char shape[RANK_MAX * 21 + 1];
	uint32_t ids[3];
	bool done, is_known;

	if (!here.ring)
		return false;
	wti_digest(tensor->data, dtype, element_count(tensor->rank, tensor->extents), &digest);
	value.count = digest.count;
	value.hash = digest.hash;
	is_known = wti_sampled_is_known(&value);
	ids[0] = wti_name(here, tensor->name);
	ids[1] = tensor->owner ? wti_name(here, tensor->owner) : 0;
	ids[2] = wti_name(here, wti_name_find(shape, shape_text(shape, sizeof(shape), tensor->rank,
								tensor->extents)));
	record = wti_open(here, WT_KIND_TENSOR, sizeof(*record));
	if (!record)
		return false;
	record->name = ids[0];
	record->owner = ids[1];
	record->dtype = dtype;
	record->shape = ids[2];
	record->device = 0;
	record->flags = wti_dtype_bytes(dtype) ? 0 : WT_TENSOR_NO_STATISTICS | WT_TENSOR_NO_HASH;
	record->flags |= is_known ? WT_TENSOR_SAMPLED : 0;
	record->count = digest.count;
	record->hash = digest.hash;
	record->nan = digest.nan;
	record->inf = digest.inf;
	record->zeros = digest.zeros;
	record->min = digest.min;
	record->max = digest.max;
	record->mean = digest.mean;
	record->m2 = digest.m2;
	record->call = tensor->call;
	record->position = tensor->position;
	record->sort = 0;
	value.tensor = record->record.seq;
	done = wti_commit(here, sizeof(*record));
	if (!is_known)
		wti_sampled_emit_packed(&value, tensor->data);
	return done;
}

bool wt_tensor_of(struct wt_name *owner, struct wt_name *name, const void *data, uint32_t dtype,
		  uint32_t rank, const size_t *extents)
{
	return wti_client_tensor_emit(&(struct wti_client_tensor){.owner = owner,
								  .name = name,
								  .data = data,
								  .dtype = dtype,
								  .rank = rank,
								  .extents = extents});
}

bool wt_tensor(struct wt_name *name, const void *data, uint32_t dtype, uint32_t rank,
	       const size_t *extents)
{
	return wt_tensor_of(NULL, name, data, dtype, rank, extents);
}
