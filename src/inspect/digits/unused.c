/* SPDX-License-Identifier: Apache-2.0 */
/* A value is forgotten when it is used: what is kept is bounded by results, not by calls. */
#include "unused.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define UNUSED_MAX ((size_t)1 << 20)
#define UNUSED_BYTES_MAX ((size_t)64 << 20)

void wti_unused_init(struct wti_unused *unused)
{
	*unused = (struct wti_unused){0};
	wti_map_init(&unused->by_hash, UNUSED_MAX);
}

static size_t bytes_of(const struct wti_unused_value *one)
{
	return strlen(one->key) + one->value.filled * sizeof(double) +
	       (one->value.sketch ? WTI_SKETCH_BUCKETS * sizeof(double) : 0);
}

static void forget(struct wti_unused *unused, struct wti_unused_value *one)
{
	if (!one->key)
		return;
	unused->bytes -= bytes_of(one);
	free(one->key);
	free(one->value.reals);
	free(one->value.sketch);
	*one = (struct wti_unused_value){.key = NULL};
}

void wti_unused_release(struct wti_unused *unused)
{
	for (size_t i = 0; i < unused->count; i++)
		forget(unused, &unused->all[i]);
	wti_map_release(&unused->by_hash);
	free(unused->all);
}

static double *copy_of(const double *from, size_t count)
{
	double *copy = malloc(count * sizeof(double) + 1);

	if (copy && count)
		memcpy(copy, from, count * sizeof(double));
	return copy;
}

int wti_unused_add(struct wti_unused *unused, const char *key, uint64_t occurrence, int64_t step,
		   const struct wti_sampled *value)
{
	struct wti_unused_value one = {
		.key = strdup(key), .occurrence = occurrence, .step = step, .value = *value};
	uint64_t *slot = wti_map_number(&unused->by_hash, value->hash);
	int r = wti_grow_zeroed(&unused->all, unused->count + 1, &unused->capacity, UNUSED_MAX);

	one.value.reals = copy_of(value->reals, value->filled);
	one.value.sketch = value->sketch ? copy_of(value->sketch, WTI_SKETCH_BUCKETS) : NULL;
	if (!one.key || !one.value.reals || (value->sketch && !one.value.sketch))
		r = WT_E_NOMEM;
	if (r || !slot || unused->bytes + bytes_of(&one) > UNUSED_BYTES_MAX) {
		unused->left_out++;
		free(one.key);
		free(one.value.reals);
		free(one.value.sketch);
		return r == WT_E_NOMEM || unused->by_hash.failed ? WT_E_NOMEM : 0;
	}
	unused->bytes += bytes_of(&one);
	if (*slot) /* the same number again: one result is as good as the other */
		forget(unused, &unused->all[*slot - 1]);
	unused->all[unused->count++] = one;
	*slot = unused->count;
	return 0;
}

void wti_unused_use(struct wti_unused *unused, uint64_t hash)
{
	uint64_t number = wti_map_get(&unused->by_hash, hash);

	if (number)
		forget(unused, &unused->all[number - 1]);
}
