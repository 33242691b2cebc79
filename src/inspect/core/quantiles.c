/* SPDX-License-Identifier: Apache-2.0 */
/* Hides that numbers are put in order by their bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantiles.h"

#define BUCKETS_MAX (1u << 16)
#define MANTISSA_BITS 7
#define SHIFT (52 - MANTISSA_BITS)
#define SIGN ((uint64_t)1 << 63)

void wti_quantiles_init(struct wti_quantiles *quantiles)
{
	*quantiles = (struct wti_quantiles){.count = 0};
	wti_map_init(&quantiles->buckets, BUCKETS_MAX);
}

void wti_quantiles_release(struct wti_quantiles *quantiles)
{
	wti_map_release(&quantiles->buckets);
}

/* A number that grows as the value does. */
static uint64_t bucket_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return (bits & SIGN ? ~bits : bits | SIGN) >> SHIFT;
}

/* The middle of the bucket. */
static double value_of(uint64_t bucket)
{
	uint64_t key = bucket << SHIFT | (uint64_t)1 << (SHIFT - 1);
	uint64_t bits = key & SIGN ? key & ~SIGN : ~key;
	double value;

	memcpy(&value, &bits, sizeof(value));
	return fpclassify(value) == FP_SUBNORMAL ? 0 : value; /* the bucket of zero itself */
}

void wti_quantiles_add(struct wti_quantiles *q, double value)
{
	uint64_t *slot = isfinite(value) ? wti_map_number(&q->buckets, bucket_of(value)) : NULL;

	if (!slot)
		return;
	++*slot;
	q->min = q->count && q->min < value ? q->min : value;
	q->max = q->count && q->max > value ? q->max : value;
	q->count++;
}

static int by_key(const void *a, const void *b)
{
	const struct wti_map_entry *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static double clamped(const struct wti_quantiles *q, double value)
{
	return value < q->min ? q->min : value > q->max ? q->max : value;
}

double wti_quantiles_at(const struct wti_quantiles *q, double share)
{
	/* The smallest rank that is at least that share, from 1. */
	double wanted = ceil(share * (double)q->count);
	struct wti_map_entry *sorted;
	uint64_t seen = 0;
	size_t i = 0;
	double value;

	if (!q->count)
		return NAN;
	if (wanted <= 1)
		return q->min;
	sorted = malloc(q->buckets.count * sizeof(*sorted));
	if (!sorted)
		return NAN;
	memcpy(sorted, q->buckets.entries, q->buckets.count * sizeof(*sorted));
	qsort(sorted, q->buckets.count, sizeof(*sorted), by_key);
	while (i + 1 < q->buckets.count && (double)(seen + sorted[i].value) < wanted)
		seen += sorted[i++].value;
	value = clamped(q, value_of(sorted[i].key));
	free(sorted);
	return value;
}
