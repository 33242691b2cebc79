/* SPDX-License-Identifier: Apache-2.0 */
/* Log-linear buckets: page 0 holds 0..63 exactly, page p the values of 6 + p significant bits. */
#include <math.h>
#include <stdlib.h>

#include <wheeltap/err.h>

#include "sketch.h"

#define SLOTS (1u << WTI_SKETCH_BITS)

static unsigned page_of(uint64_t value)
{
	return value < SLOTS ? 0 : 64 - (unsigned)__builtin_clzll(value) - WTI_SKETCH_BITS;
}

static unsigned slot_of(uint64_t value, unsigned page)
{
	return (unsigned)(page ? (value >> (page - 1)) & (SLOTS - 1) : value);
}

/* The middle of a bucket. */
static uint64_t value_of(unsigned page, unsigned slot)
{
	uint64_t low;

	if (!page)
		return slot;
	low = (uint64_t)(SLOTS + slot) << (page - 1);
	return low + ((1ull << (page - 1)) >> 1);
}

void wti_sketch_release(struct wti_sketch *sketch)
{
	for (unsigned i = 0; i < WTI_SKETCH_PAGES; i++)
		free(sketch->pages[i]);
	*sketch = (struct wti_sketch){0};
}

int wti_sketch_add(struct wti_sketch *sketch, uint64_t value)
{
	unsigned page = page_of(value);

	if (!sketch->pages[page]) {
		sketch->pages[page] = calloc(SLOTS, sizeof(uint64_t));
		if (!sketch->pages[page])
			return WT_E_NOMEM;
	}
	sketch->pages[page][slot_of(value, page)]++;
	if (!sketch->count || value < sketch->min)
		sketch->min = value;
	if (value > sketch->max)
		sketch->max = value;
	sketch->count++;
	return 0;
}

static uint64_t clamp(const struct wti_sketch *sketch, uint64_t value)
{
	if (value < sketch->min)
		return sketch->min;
	return value > sketch->max ? sketch->max : value;
}

uint64_t wti_sketch_quantile(const struct wti_sketch *sketch, double share)
{
	/* 0.07 of 20,000 is a little more than 1,400 in binary: that must not become 1,401. */
	uint64_t rank = (uint64_t)ceil(share * (double)sketch->count * (1 - 1e-12));
	uint64_t seen = 0;

	if (rank <= 1)
		return sketch->min;
	if (rank >= sketch->count)
		return sketch->max;
	for (unsigned page = 0; page < WTI_SKETCH_PAGES; page++) {
		for (unsigned slot = 0; sketch->pages[page] && slot < SLOTS; slot++) {
			seen += sketch->pages[page][slot];
			if (seen >= rank)
				return clamp(sketch, value_of(page, slot));
		}
	}
	return sketch->max;
}
