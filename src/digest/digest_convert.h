/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements of every type as floats or doubles, exactly (but 64-bit integers, which are rounded).
 * Included by the kernel, so that it is compiled for each instruction set. Loops are plain and
 * without branches, for the compiler to turn into vectors.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float float_of_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* yes or no: `?:` may become a branch, and then nothing becomes a vector. */
static inline uint32_t chosen(bool is, uint32_t yes, uint32_t no)
{
	uint32_t mask = 0 - (uint32_t)is;

	return (yes & mask) | (no & ~mask);
}

/*
 * A small float whose exponent and mantissa have been shifted to where a float has them, and whose
 * exponents are too small by `bias`. A denormal is taken for a number with the smallest exponent
 * and a leading one, which is subtracted again: that is exact, and no denormal float, which
 * processors are slow with, comes up. `is_special`: NaN, or infinity if the mantissa is 0.
 */
static inline float widened(uint32_t bits, uint32_t sign, uint32_t bias, bool is_special)
{
	uint32_t normal = bits + (bias << 23);
	uint32_t wide;
	float denormal = float_of_bits(bits + ((bias + 1) << 23)) - float_of_bits((bias + 1) << 23);

	memcpy(&wide, &denormal, sizeof(wide));
	wide = chosen(bits >> 23 != 0, normal, wide);
	wide = chosen(is_special, 0x7f800000u | (bits & 0x7fffffu), wide);
	return float_of_bits(wide | sign);
}

static inline float float_of_f16(uint16_t x)
{
	return widened((uint32_t)(x & 0x7fff) << 13, (uint32_t)(x & 0x8000) << 16, 112,
		       (x & 0x7c00) == 0x7c00);
}

/*
 * The same for finite ones, in fewer steps: what is computed for a denormal is less than what is
 * computed for a normal number just where it is right. Others come out as 65536 or more.
 */
static inline float float_of_finite_f16(uint16_t x)
{
	uint32_t bits = (uint32_t)(x & 0x7fff) << 13;
	float denormal = float_of_bits(bits + (113u << 23)) - float_of_bits(113u << 23);
	int32_t normal = (int32_t)(bits + (112u << 23));
	int32_t wide;

	memcpy(&wide, &denormal, sizeof(wide));
	wide = wide < normal ? wide : normal;
	return float_of_bits((uint32_t)wide | (uint32_t)(x & 0x8000) << 16);
}

static inline float float_of_bf16(uint16_t x)
{
	return float_of_bits((uint32_t)x << 16);
}

static inline float float_of_e5m2(uint8_t x)
{
	return float_of_f16((uint16_t)(x << 8));
}

/* No infinities; one NaN for each sign. */
static inline float float_of_e4m3(uint8_t x)
{
	return widened((uint32_t)(x & 0x7f) << 20, (uint32_t)(x & 0x80) << 24, 120,
		       (x & 0x7f) == 0x7f);
}

/* No infinities, no negative zero: its place is the only NaN. */
static inline float float_of_fnuz(uint8_t x, int mantissa_bits, uint32_t bias)
{
	float value = widened((uint32_t)(x & 0x7f) << (23 - mantissa_bits),
			      (uint32_t)(x & 0x80) << 24, bias, false);
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return float_of_bits(chosen(x == 0x80, 0x7fc00000, bits));
}

/* An exponent alone. */
static inline float float_of_e8m0(uint8_t x)
{
	uint32_t bits = chosen(x != 0, (uint32_t)x << 23, 0x400000);

	return float_of_bits(chosen(x == 0xff, 0x7fc00000, bits));
}

#define CONVERT(type, real, expression)                                                            \
	for (size_t i = 0; i < count; i++) {                                                       \
		type x;                                                                            \
		memcpy(&x, (const char *)data + i * sizeof(type), sizeof(x));                      \
		ret[i] = (real)(expression);                                                       \
	}                                                                                          \
	break

/* True for types of which every value is a float. */
static bool is_narrow(uint32_t dtype)
{
	return dtype != WT_DTYPE_F64 && dtype != WT_DTYPE_U32 && dtype != WT_DTYPE_I32 &&
	       dtype != WT_DTYPE_U64 && dtype != WT_DTYPE_I64;
}

/* Of the types of which every value is a float. */
static bool is_integer(uint32_t dtype)
{
	return dtype == WT_DTYPE_BOOL || dtype == WT_DTYPE_U8 || dtype == WT_DTYPE_I8 ||
	       dtype == WT_DTYPE_U16 || dtype == WT_DTYPE_I16;
}

static bool is_float8(uint32_t dtype)
{
	return dtype == WT_DTYPE_F8E8M0 || dtype == WT_DTYPE_F8E4M3 || dtype == WT_DTYPE_F8E5M2 ||
	       dtype == WT_DTYPE_F8E4M3FNUZ || dtype == WT_DTYPE_F8E5M2FNUZ;
}

static void to_floats(const void *data, uint32_t dtype, size_t count, float *ret)
{
	switch (dtype) {
	case WT_DTYPE_BOOL:
		CONVERT(uint8_t, float, x != 0);
	case WT_DTYPE_U8:
		CONVERT(uint8_t, float, x);
	case WT_DTYPE_I8:
		CONVERT(int8_t, float, x);
	case WT_DTYPE_U16:
		CONVERT(uint16_t, float, x);
	case WT_DTYPE_I16:
		CONVERT(int16_t, float, x);
	case WT_DTYPE_F16:
		CONVERT(uint16_t, float, float_of_f16(x));
	case WT_DTYPE_BF16:
		CONVERT(uint16_t, float, float_of_bf16(x));
	case WT_DTYPE_F32:
		CONVERT(float, float, x);
	case WT_DTYPE_F8E4M3:
		CONVERT(uint8_t, float, float_of_e4m3(x));
	case WT_DTYPE_F8E5M2:
		CONVERT(uint8_t, float, float_of_e5m2(x));
	case WT_DTYPE_F8E4M3FNUZ:
		CONVERT(uint8_t, float, float_of_fnuz(x, 3, 119));
	case WT_DTYPE_F8E5M2FNUZ:
		CONVERT(uint8_t, float, float_of_fnuz(x, 2, 111));
	case WT_DTYPE_F8E8M0:
		CONVERT(uint8_t, float, float_of_e8m0(x));
	}
}

/* The same where it is enough that finite elements come out right. */
static void to_finite_floats(const void *data, uint32_t dtype, size_t count, float *ret)
{
	size_t done = 0;

	if (dtype != WT_DTYPE_F16) {
		to_floats(data, dtype, count, ret);
		return;
	}
#if defined(__AVX512F__)
	for (; done + 16 <= count; done += 16)
		_mm512_storeu_ps(ret + done,
				 _mm512_cvtph_ps(_mm256_loadu_si256(
					 (const void *)((const char *)data + 2 * done))));
#endif
	for (; done < count; done++) {
		uint16_t x;

		memcpy(&x, (const char *)data + 2 * done, sizeof(x));
		ret[done] = float_of_finite_f16(x);
	}
}

static void to_doubles(const void *data, uint32_t dtype, size_t count, double *ret)
{
	switch (dtype) {
	case WT_DTYPE_U32:
		CONVERT(uint32_t, double, x);
	case WT_DTYPE_I32:
		CONVERT(int32_t, double, x);
	case WT_DTYPE_U64:
		CONVERT(uint64_t, double, x);
	case WT_DTYPE_I64:
		CONVERT(int64_t, double, x);
	case WT_DTYPE_F64:
		CONVERT(double, double, x);
	}
}

#undef CONVERT
