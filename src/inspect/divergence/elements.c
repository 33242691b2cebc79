/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distances in units of the last place, by the order of bit patterns: of two floats of one sign the
 * difference of their patterns counts the numbers between them. -0 and +0 are one place apart.
 */
#include "elements.h"

#include <math.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "inspect/digits/element.h"

#define CHUNK 256u

size_t wti_elements_bytes(uint32_t dtype)
{
	return wti_element_of(dtype).bytes;
}

static uint64_t pattern(const uint8_t *at, size_t bytes)
{
	uint64_t bits = 0;

	memcpy(&bits, at, bytes); /* little-endian, as digests are */
	return bits;
}

/* Patterns in the order of the numbers that they stand for. */
static int64_t ordered(uint64_t bits, size_t bytes)
{
	uint64_t sign = 1ull << (8 * bytes - 1);
	int64_t magnitude = (int64_t)(bits & (sign - 1));

	return bits & sign ? -magnitude - 1 : magnitude;
}

static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static void take_ulp(struct wti_elements *elements, uint64_t a, uint64_t b, size_t bytes)
{
	static const uint64_t limits[] = {1, 4, 64};
	uint64_t ulp = distance(ordered(a, bytes), ordered(b, bytes));

	if (ulp > elements->ulp_max)
		elements->ulp_max = ulp;
	for (size_t i = 0; i < 3; i++)
		elements->within[i] += ulp <= limits[i];
}

static void take(struct wti_elements *elements, uint64_t a, uint64_t b, double x, double y,
		 size_t bytes)
{
	uint64_t place = elements->count++;

	if (a == b)
		return;
	if (!elements->different++)
		elements->first = place;
	elements->nan_a += isnan(x) && !isnan(y);
	elements->nan_b += isnan(y) && !isnan(x);
	if (isnan(x) || isnan(y))
		return;
	if (isfinite(x) && isfinite(y))
		elements->farthest = fmax(elements->farthest, fabs(x - y));
	if (elements->is_float)
		take_ulp(elements, a, b, bytes);
}

bool wti_elements_compare(uint32_t dtype, const void *a, const void *b, uint64_t count,
			  struct wti_elements *ret_elements)
{
	struct wti_element element = wti_element_of(dtype);
	struct wti_elements elements = {.is_float = element.is_float};
	const uint8_t *x = a, *y = b;
	double reals_x[CHUNK], reals_y[CHUNK];
	size_t bytes = element.bytes ? element.bytes / element.parts : 0;

	if (!bytes || bytes > sizeof(uint64_t))
		return false;
	for (uint64_t done = 0, all = count * element.parts; done < all; done += CHUNK) {
		size_t n = all - done < CHUNK ? (size_t)(all - done) : CHUNK;

		wti_element_read(dtype, x + done * bytes, n, reals_x);
		wti_element_read(dtype, y + done * bytes, n, reals_y);
		for (size_t i = 0; i < n; i++)
			take(&elements, pattern(x + (done + i) * bytes, bytes),
			     pattern(y + (done + i) * bytes, bytes), reals_x[i], reals_y[i], bytes);
	}
	*ret_elements = elements;
	return true;
}
