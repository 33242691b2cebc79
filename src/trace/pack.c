/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops here are what encoding and decoding cost. They are plain so that the compiler turns
 * them into vector code; WTI_CLONES asks it to do so for several instruction sets and to pick at
 * run time. Results do not depend on which one is taken: all of it is integer arithmetic.
 */
#include "pack.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
	!defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WTI_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WTI_CLONES
#endif

struct range {
	int64_t low;
	int64_t high;
};

WTI_CLONES static struct range range_of(const uint64_t *values, uint32_t rows)
{
	int64_t low = (int64_t)values[0];
	int64_t high = low;

	for (uint32_t i = 1; i < rows; i++) {
		int64_t value = (int64_t)values[i];

		low = value < low ? value : low;
		high = value > high ? value : high;
	}
	return (struct range){low, high};
}

/*
 * The residuals of each transform, and their range, in one pass. Row 0 of those that look at the
 * row before is the caller's.
 */
#define RESIDUALS(begin, expression)                                                               \
	int64_t low = INT64_MAX;                                                                   \
	int64_t high = INT64_MIN;                                                                  \
                                                                                                   \
	for (uint32_t i = begin; i < rows; i++) {                                                  \
		int64_t residual = (int64_t)(expression);                                          \
                                                                                                   \
		out[i] = (uint64_t)residual;                                                       \
		low = residual < low ? residual : low;                                             \
		high = residual > high ? residual : high;                                          \
	}                                                                                          \
	return (struct range)                                                                      \
	{                                                                                          \
		low, high                                                                          \
	}

WTI_CLONES static struct range differences(const uint64_t *restrict values, uint32_t rows,
					   uint64_t *restrict out)
{
	RESIDUALS(1, values[i] - values[i - 1]);
}

WTI_CLONES static struct range changes(const uint64_t *restrict values, uint32_t rows,
				       uint64_t *restrict out)
{
	RESIDUALS(1, values[i] ^ values[i - 1]);
}

WTI_CLONES static struct range distances(const uint64_t *restrict values,
					 const uint64_t *restrict ref, uint32_t rows,
					 uint64_t *restrict out)
{
	RESIDUALS(0, values[i] - ref[i]);
}

WTI_CLONES static struct range distance_differences(const uint64_t *restrict values,
						    const uint64_t *restrict ref, uint32_t rows,
						    uint64_t *restrict out)
{
	RESIDUALS(1, (values[i] - ref[i]) - (values[i - 1] - ref[i - 1]));
}

WTI_CLONES static struct range gaps(const uint64_t *restrict values, const uint64_t *restrict ref,
				    uint32_t rows, uint64_t *restrict out)
{
	RESIDUALS(1, values[i] - ref[i - 1]);
}

static uint8_t width_of(uint64_t span)
{
	unsigned bits = span ? 64 - (unsigned)__builtin_clzll(span) : 0;

	return (uint8_t)((bits + 7) / 8);
}

static bool is_constant(const uint64_t *values, uint32_t rows)
{
	return !memcmp(values, values + 1, sizeof(*values) * (rows - 1));
}

const uint64_t *wti_pack_plan(uint8_t transform, const uint64_t *values, const uint64_t *ref,
			      uint32_t rows, uint64_t *scratch, struct wti_packing *ret_packing)
{
	const uint64_t *residuals = scratch;
	uint64_t first = values[0];
	struct range range;

	/* A constant is best left alone, whatever was meant to predict it. */
	if (is_constant(values, rows)) {
		*ret_packing = (struct wti_packing){.transform = WT_PLAIN, .bias = first};
		return values;
	}
	/*
	 * The first row has no predecessor, so we invent one that makes its residual equal to the
	 * second row's: a column that counts up by a constant then needs no planes at all.
	 */
	switch (transform) {
	case WT_DELTA:
		range = differences(values, rows, scratch);
		scratch[0] = scratch[1];
		first = values[0] - scratch[0];
		break;
	case WT_XOR:
		range = changes(values, rows, scratch);
		scratch[0] = scratch[1];
		first = values[0] ^ scratch[0];
		break;
	case WT_REL:
		range = distances(values, ref, rows, scratch);
		first = 0;
		break;
	case WT_REL_DELTA:
		range = distance_differences(values, ref, rows, scratch);
		scratch[0] = scratch[1];
		first = values[0] - ref[0] - scratch[0];
		break;
	case WT_REL_PREVIOUS:
		range = gaps(values, ref, rows, scratch);
		scratch[0] = scratch[1];
		first = values[0] - scratch[0];
		break;
	default:
		transform = WT_PLAIN;
		range = range_of(values, rows);
		residuals = values;
		first = 0;
	}
	*ret_packing = (struct wti_packing){
		.transform = transform,
		.first = first,
		.bias = (uint64_t)range.low,
		.width = width_of((uint64_t)range.high - (uint64_t)range.low),
	};
	return residuals;
}

WTI_CLONES void wti_pack_plane(const uint64_t *residuals, uint32_t rows, uint64_t bias,
			       unsigned plane, uint8_t *out)
{
	unsigned shift = plane * 8;

	for (uint32_t i = 0; i < rows; i++)
		out[i] = (uint8_t)((residuals[i] - bias) >> shift);
}

WTI_CLONES static void spread(const uint8_t *plane, unsigned shift, uint32_t rows, uint64_t *values)
{
	for (uint32_t i = 0; i < rows; i++)
		values[i] |= (uint64_t)plane[i] << shift;
}

WTI_CLONES static void spread_two(const uint8_t *low, const uint8_t *high, uint32_t rows,
				  uint64_t *values)
{
	for (uint32_t i = 0; i < rows; i++)
		values[i] = (uint64_t)low[i] | (uint64_t)high[i] << 8;
}

WTI_CLONES static void spread_one(const uint8_t *low, uint32_t rows, uint64_t *values)
{
	for (uint32_t i = 0; i < rows; i++)
		values[i] = low[i];
}

void wti_unpack_planes(const uint8_t *const *planes, unsigned width, uint32_t rows,
		       uint64_t *values)
{
	unsigned done = width >= 2 ? 2 : width;

	if (width == 0) {
		for (uint32_t i = 0; i < rows; i++)
			values[i] = 0;
	} else if (width == 1) {
		spread_one(planes[0], rows, values);
	} else {
		spread_two(planes[0], planes[1], rows, values);
	}
	for (; done < width; done++)
		spread(planes[done], done * 8, rows, values);
}

WTI_CLONES static void add_bias(uint64_t bias, uint32_t rows, uint64_t *values)
{
	for (uint32_t i = 0; i < rows; i++)
		values[i] += bias;
}

WTI_CLONES static void add_ref(const uint64_t *ref, uint64_t bias, uint32_t rows, uint64_t *values)
{
	for (uint32_t i = 0; i < rows; i++)
		values[i] += ref[i] + bias;
}

void wti_unpack_transform(const struct wti_packing *packing, const uint64_t *ref, uint32_t rows,
			  uint64_t *values)
{
	uint64_t bias = packing->bias;
	uint64_t last = packing->first;

	switch (packing->transform) {
	case WT_PLAIN:
		add_bias(bias, rows, values);
		break;
	case WT_DELTA:
		for (uint32_t i = 0; i < rows; i++)
			values[i] = last += values[i] + bias;
		break;
	case WT_XOR:
		for (uint32_t i = 0; i < rows; i++)
			values[i] = last ^= values[i] + bias;
		break;
	case WT_REL:
		add_ref(ref, bias, rows, values);
		break;
	case WT_REL_DELTA:
		for (uint32_t i = 0; i < rows; i++) {
			last += values[i] + bias;
			values[i] = last + ref[i];
		}
		break;
	case WT_REL_PREVIOUS:
		values[0] += last + bias;
		add_ref(ref, bias, rows - 1, values + 1);
		break;
	}
}
