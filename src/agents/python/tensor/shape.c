/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapes by name: "3x4". They are put together once and kept, in a table with one place for each
 * key, where a newcomer replaces what was there.
 */
#include "own.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 256 };

static struct wt_name *shape_text(const struct wti_tensor *tensor)
{
	char text[TEXT_BYTES];
	int used = 0;

	for (uint32_t i = 0; i < tensor->rank && used < TEXT_BYTES - 24; i++)
		used += snprintf(text + used, (size_t)(TEXT_BYTES - used), "%s%lld", i ? "x" : "",
				 (long long)tensor->sizes[i]);
	return wti_name_find(text, (size_t)used);
}

struct wt_name *wti_shape_name(const struct wti_tensor *tensor)
{
	uint64_t key = tensor->rank;
	struct wti_named_shape *shape;

	if (tensor->rank > WTI_SHAPE_RANK)
		return shape_text(tensor);
	for (uint32_t i = 0; i < tensor->rank; i++)
		key = key * 0x100000001b3u ^ (uint64_t)tensor->sizes[i];
	shape = &wti_tensor_state.shapes[(key * 0x9e3779b97f4a7c15u >> 48) % WTI_SHAPES];
	if (shape->name && shape->rank == tensor->rank &&
	    memcmp(shape->sizes, tensor->sizes, tensor->rank * sizeof(int64_t)) == 0)
		return shape->name;
	shape->name = shape_text(tensor);
	shape->rank = tensor->rank;
	memcpy(shape->sizes, tensor->sizes, tensor->rank * sizeof(int64_t));
	return shape->name;
}
