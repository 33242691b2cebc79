/* SPDX-License-Identifier: Apache-2.0 */
/* The number formats that tensors have, little-endian as samples are. */
#include "element.h"

#include <math.h>
#include <string.h>

#include <wheeltap/trace.h>

static const struct wti_element elements[] = {
	[WT_DTYPE_BOOL] = {1, 1, 0, false},      [WT_DTYPE_U8] = {1, 1, 8, false},
	[WT_DTYPE_I8] = {1, 1, 8, false},        [WT_DTYPE_U16] = {2, 1, 16, false},
	[WT_DTYPE_I16] = {2, 1, 16, false},      [WT_DTYPE_U32] = {4, 1, 32, false},
	[WT_DTYPE_I32] = {4, 1, 32, false},      [WT_DTYPE_U64] = {8, 1, 52, false},
	[WT_DTYPE_I64] = {8, 1, 52, false},      [WT_DTYPE_F16] = {2, 1, 10, true},
	[WT_DTYPE_BF16] = {2, 1, 7, true},       [WT_DTYPE_F32] = {4, 1, 23, true},
	[WT_DTYPE_F64] = {8, 1, 52, true},       [WT_DTYPE_C32] = {4, 2, 10, true},
	[WT_DTYPE_C64] = {8, 2, 23, true},       [WT_DTYPE_C128] = {16, 2, 52, true},
	[WT_DTYPE_F8E4M3] = {1, 1, 3, true},     [WT_DTYPE_F8E5M2] = {1, 1, 2, true},
	[WT_DTYPE_F8E4M3FNUZ] = {1, 1, 3, true}, [WT_DTYPE_F8E5M2FNUZ] = {1, 1, 2, true},
};

struct wti_element wti_element_of(uint32_t dtype)
{
	if (dtype >= sizeof(elements) / sizeof(elements[0]))
		return (struct wti_element){0};
	return elements[dtype];
}

/* A number of `mantissa` bits and an exponent of `exponent` bits, biased by `bias`. */
static double small_float(uint32_t bits, unsigned exponent, unsigned mantissa, int bias)
{
	uint32_t fraction = bits & ((1u << mantissa) - 1);
	uint32_t power = bits >> mantissa & ((1u << exponent) - 1);
	double sign = bits >> (exponent + mantissa) & 1 ? -1 : 1;

	if (!power)
		return sign * ldexp(fraction, 1 - bias - (int)mantissa);
	return sign * ldexp((1u << mantissa) + fraction, (int)power - bias - (int)mantissa);
}

static double half(uint16_t bits)
{
	if ((bits & 0x7c00) == 0x7c00)
		return bits & 0x3ff ? (double)NAN : bits & 0x8000 ? -INFINITY : INFINITY;
	return small_float(bits, 5, 10, 15);
}

static double eighth(uint32_t dtype, uint8_t bits)
{
	switch (dtype) {
	case WT_DTYPE_F8E4M3:
		return (bits & 0x7f) == 0x7f ? (double)NAN : small_float(bits, 4, 3, 7);
	case WT_DTYPE_F8E5M2:
		return half((uint16_t)(bits << 8));
	case WT_DTYPE_F8E4M3FNUZ:
		return bits == 0x80 ? (double)NAN : small_float(bits, 4, 3, 8);
	default:
		return bits == 0x80 ? (double)NAN : small_float(bits, 5, 2, 16);
	}
}

#define READ(type)                                                                                 \
	do {                                                                                       \
		type one;                                                                          \
		memcpy(&one, from + i * sizeof(one), sizeof(one));                                 \
		return (double)one;                                                                \
	} while (0)

static double read_one(uint32_t dtype, const uint8_t *from, size_t i)
{
	uint16_t two;
	uint32_t four;
	float single;

	switch (dtype) {
	case WT_DTYPE_BOOL:
	case WT_DTYPE_U8:
		READ(uint8_t);
	case WT_DTYPE_I8:
		READ(int8_t);
	case WT_DTYPE_U16:
		READ(uint16_t);
	case WT_DTYPE_I16:
		READ(int16_t);
	case WT_DTYPE_U32:
		READ(uint32_t);
	case WT_DTYPE_I32:
		READ(int32_t);
	case WT_DTYPE_U64:
		READ(uint64_t);
	case WT_DTYPE_I64:
		READ(int64_t);
	case WT_DTYPE_F16:
	case WT_DTYPE_C32:
		memcpy(&two, from + 2 * i, 2);
		return half(two);
	case WT_DTYPE_BF16:
		memcpy(&two, from + 2 * i, 2);
		four = (uint32_t)two << 16;
		memcpy(&single, &four, 4);
		return (double)single;
	default:
		return eighth(dtype, from[i]);
	}
}

void wti_element_read(uint32_t dtype, const void *data, size_t reals, double *ret_reals)
{
	const uint8_t *from = data;
	float single;

	if (dtype == WT_DTYPE_F64 || dtype == WT_DTYPE_C128) {
		memcpy(ret_reals, from, reals * sizeof(double));
		return;
	}
	if (dtype == WT_DTYPE_F32 || dtype == WT_DTYPE_C64) {
		for (size_t i = 0; i < reals; i++) {
			memcpy(&single, from + 4 * i, 4);
			ret_reals[i] = (double)single;
		}
		return;
	}
	for (size_t i = 0; i < reals; i++)
		ret_reals[i] = read_one(dtype, from, i);
}

double wti_element_ulp(double x, unsigned mantissa)
{
	int exponent;

	if (x == 0 || !isfinite(x))
		return 0;
	frexp(x, &exponent);
	return ldexp(1, exponent - 1 - (int)mantissa);
}
