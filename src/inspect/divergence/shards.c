/* SPDX-License-Identifier: Apache-2.0 */
/* Names of parameters that were seen with different numbers of elements: see shards.h. */
#include "shards.h"

#include <string.h>

#define NAMES_MAX 65536u

void wti_shards_init(struct wti_shards *shards)
{
	wti_map_init(&shards->names, NAMES_MAX);
}

void wti_shards_release(struct wti_shards *shards)
{
	wti_map_release(&shards->names);
}

/* "Net.fc.weight" of "Net.fc.weight.grad" */
static size_t parameter_bytes(const char *name)
{
	static const char suffix[] = ".grad";
	size_t bytes = strlen(name), end = sizeof(suffix) - 1;

	return bytes > end && !strcmp(name + bytes - end, suffix) ? bytes - end : bytes;
}

/* A tensor without elements has the hash 0. */
static bool has_other_extent(const struct wti_value_row *a, const struct wti_value_row *b)
{
	if (a->type == WTI_VALUE_TENSOR && b->type == WTI_VALUE_TENSOR)
		return a->digest.count != b->digest.count;
	return a->type == WT_VALUE_TYPE_HASH && b->type == WT_VALUE_TYPE_HASH &&
	       !a->bits != !b->bits;
}

bool wti_is_shard(struct wti_shards *shards, const char *name, const struct wti_value_row *a,
		  const struct wti_value_row *b)
{
	size_t bytes = parameter_bytes(name);
	uint64_t *slot;

	if (has_other_extent(a, b)) {
		slot = wti_map_text(&shards->names, name, bytes);
		if (slot)
			*slot = 1;
		return true;
	}
	return wti_map_find_text(&shards->names, name, bytes) != NULL;
}
