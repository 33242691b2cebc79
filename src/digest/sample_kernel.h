/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass of the sketch over memory, included once for each instruction set with WTI_SKETCH naming
 * the function. Loops over the 64 buckets are plain and without branches, for the compiler to turn
 * into vectors; buckets never meet, so that the width of vectors cannot change a result.
 *
 * Doubles are added with what each addition loses (TwoSum): the difference of two runs may be as
 * small as that. Sums of narrower types are far more exact than these types as they are.
 */
#include <string.h>

#include "digest_types.h"

#include "digest_vector.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* the digest needs more of them */
#include "digest_convert.h"
#pragma GCC diagnostic pop
#include "sample.h"

enum { PIECE_REALS = 1024 }; /* of types that are widened first */

INLINE uint64_t signs_of(uint64_t block)
{
	uint64_t x = block + 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* With the sign given; 0 if it is not finite. */
INLINE float signed_float(uint32_t bits, uint32_t sign_bits, uint32_t bit)
{
	uint32_t sign = 0u - (uint32_t)((sign_bits & bit) != 0);
	uint32_t finite = 0u - (uint32_t)((bits & 0x7f800000u) != 0x7f800000u);

	return float_of_bits((bits ^ (sign & 0x80000000u)) & finite);
}

INLINE double signed_double(uint64_t bits, uint64_t signs, uint64_t bit)
{
	uint64_t sign = 0u - (uint64_t)((signs & bit) != 0);
	uint64_t finite = 0u - (uint64_t)((bits & 0x7ff0000000000000u) != 0x7ff0000000000000u);
	uint64_t wanted = (bits ^ (sign & 0x8000000000000000u)) & finite;
	double value;

	memcpy(&value, &wanted, sizeof(value));
	return value;
}

/* Half a block: so many signs fit an integer as wide as a float. */
INLINE void add_floats_32(double *sum, const char *data, uint32_t signs)
{
	uint32_t bits[32];

	memcpy(bits, data, sizeof(bits));
	for (uint32_t b = 0; b < 32; b++)
		sum[b] += (double)signed_float(bits[b], signs, 1u << b);
}

INLINE void add_float_block(struct wti_sketched *sketch, const char *data, uint64_t block)
{
	const uint64_t signs = signs_of(block);

	add_floats_32(sketch->sum, data, (uint32_t)signs);
	add_floats_32(sketch->sum + 32, data + 32 * sizeof(float), (uint32_t)(signs >> 32));
}

INLINE void add_exactly(double *sum, double *rest, double x)
{
	double total = *sum + x;
	double part = total - *sum;

	*rest += (*sum - (total - part)) + (x - part);
	*sum = total;
}

INLINE void add_double_block(struct wti_sketched *sketch, const char *data, uint64_t block)
{
	const uint64_t signs = signs_of(block);
	uint64_t bits[WTI_SKETCH_BUCKETS];

	memcpy(bits, data, sizeof(bits));
	for (uint32_t b = 0; b < WTI_SKETCH_BUCKETS; b++)
		add_exactly(&sketch->sum[b], &sketch->rest[b],
			    signed_double(bits[b], signs, (uint64_t)1 << b));
}

/* What does not fill a block. */
static void add_few(struct wti_sketched *sketch, const char *data, bool is_double, uint64_t first,
		    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const uint32_t b = (uint32_t)((first + i) % WTI_SKETCH_BUCKETS);
		const uint64_t signs = signs_of((first + i) / WTI_SKETCH_BUCKETS);
		uint64_t wide;
		uint32_t narrow;

		if (is_double) {
			memcpy(&wide, data + 8 * i, sizeof(wide));
			add_exactly(&sketch->sum[b], &sketch->rest[b],
				    signed_double(wide, signs, (uint64_t)1 << b));
		} else {
			memcpy(&narrow, data + 4 * i, sizeof(narrow));
			sketch->sum[b] += (double)signed_float(narrow, (uint32_t)(signs >> b), 1u);
		}
	}
}

static void add_reals(struct wti_sketched *sketch, const char *data, bool is_double, uint64_t first,
		      size_t count)
{
	const size_t size = is_double ? sizeof(double) : sizeof(float);
	size_t before = (size_t)(-first % WTI_SKETCH_BUCKETS);

	before = before < count ? before : count;
	add_few(sketch, data, is_double, first, before);
	for (; count - before >= WTI_SKETCH_BUCKETS; before += WTI_SKETCH_BUCKETS) {
		const uint64_t block = (first + before) / WTI_SKETCH_BUCKETS;

		if (is_double)
			add_double_block(sketch, data + before * size, block);
		else
			add_float_block(sketch, data + before * size, block);
	}
	add_few(sketch, data + before * size, is_double, first + before, count - before);
}

void WTI_SKETCH(struct wti_sketched *sketch, const void *data, uint32_t dtype, uint64_t first,
		size_t count)
{
	const size_t size = wti_dtype_bytes(dtype);
	float piece[PIECE_REALS] __attribute__((aligned(64)));

	if (dtype == WT_DTYPE_F32 || dtype == WT_DTYPE_F64) {
		add_reals(sketch, data, dtype == WT_DTYPE_F64, first, count);
		return;
	}
	for (size_t at = 0; at < count; at += PIECE_REALS) {
		size_t n = count - at < PIECE_REALS ? count - at : PIECE_REALS;

		to_floats((const char *)data + at * size, dtype, n, piece);
		add_reals(sketch, (const char *)piece, false, first + at, n);
	}
}
