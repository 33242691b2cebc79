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

/*
 * The upper 16 bits of an 8-bit float as a double; the others are 0. `mag` without sign in the
 * order of floats is piecewise linear: a line for each octave of denormals and one for all normal
 * numbers, each the lowest where it is right. Only finite elements come out right.
 */
static inline uint16_t top_of_float8(uint8_t x, int mantissa_bits, int bias)
{
	const int first = (1024 - bias - mantissa_bits) * 16; /* of the least denormal */
	int16_t mag = x & 0x7f;
	int16_t top = (int16_t)(16 * mag + first - 16);
	int16_t line = (int16_t)(8 * mag + first);

	top = line < top ? line : top;
	line = (int16_t)(4 * mag + first + 16);
	top = line < top ? line : top;
	line = (int16_t)(2 * mag + first + 32);
	top = mantissa_bits == 3 && line < top ? line : top;
	top = (int16_t)(top & -(mag != 0));
	return (uint16_t)((uint16_t)top | (uint16_t)((x & 0x80) << 8));
}

#if defined(__AVX2__)
/*
 * The same for 32 elements, their lower and upper bytes apart. A normal number is `mag` shifted and
 * added to a constant, of which the upper byte takes in one at most twice; denormals are looked up.
 */
INLINE void tops_of_32(const uint8_t *data, int mantissa_bits, int bias, __m256i lower,
		       __m256i upper, uint16_t *ret)
{
	const int first = (1022 - bias) * 16 + 16; /* as if the exponent 0 were a normal one */
	const int step = 16 >> mantissa_bits;
	const int once = (0x100 - (first & 0xff) + step - 1) / step;
	const int twice = (0x200 - (first & 0xff) + step - 1) / step;
	const __m256i x = _mm256_permute4x64_epi64(_mm256_loadu_si256((const void *)data), 0xd8);
	const __m256i mag = _mm256_and_si256(x, _mm256_set1_epi8(0x7f));
	const __m256i is_denormal =
		_mm256_cmpgt_epi8(_mm256_set1_epi8((char)(1 << mantissa_bits)), mag);
	__m256i low = _mm256_add_epi8(mag, mag);
	__m256i high = _mm256_set1_epi8((char)(first >> 8));

	if (mantissa_bits == 2)
		low = _mm256_add_epi8(low, low);
	low = _mm256_add_epi8(low, _mm256_set1_epi8((char)first));
	if (once < 0x80)
		high = _mm256_sub_epi8(high,
				       _mm256_cmpgt_epi8(mag, _mm256_set1_epi8((char)(once - 1))));
	if (twice < 0x80)
		high = _mm256_sub_epi8(high,
				       _mm256_cmpgt_epi8(mag, _mm256_set1_epi8((char)(twice - 1))));
	low = _mm256_blendv_epi8(low, _mm256_shuffle_epi8(lower, mag), is_denormal);
	high = _mm256_blendv_epi8(high, _mm256_shuffle_epi8(upper, mag), is_denormal);
	high = _mm256_or_si256(high, _mm256_and_si256(x, _mm256_set1_epi8((char)0x80)));
	_mm256_storeu_si256((void *)ret, _mm256_unpacklo_epi8(low, high));
	_mm256_storeu_si256((void *)(ret + 16), _mm256_unpackhi_epi8(low, high));
}
#endif

INLINE void tops_of_float8(const uint8_t *data, size_t count, int mantissa_bits, int bias,
			   uint16_t *ret)
{
	size_t done = 0;
#if defined(__AVX2__)
	uint8_t lower[16] = {0}, upper[16] = {0}; /* of denormals */

	for (int i = 0; i < 1 << mantissa_bits; i++) {
		uint16_t top = top_of_float8((uint8_t)i, mantissa_bits, bias);

		lower[i] = (uint8_t)top;
		upper[i] = (uint8_t)(top >> 8);
	}
	for (; done + 32 <= count; done += 32)
		tops_of_32(data + done, mantissa_bits, bias,
			   _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)lower)),
			   _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)upper)),
			   ret + done);
#endif
	for (; done < count; done++)
		ret[done] = top_of_float8(data[done], mantissa_bits, bias);
}

/* 2^(x - 127). */
INLINE void tops_of_e8m0(const uint8_t *data, size_t count, uint16_t *ret)
{
	for (size_t i = 0; i < count; i++)
		ret[i] = (uint16_t)((data[i] + 1023 - 127) << 4);
}

static void to_tops(const uint8_t *data, uint32_t dtype, size_t count, uint16_t *ret)
{
	switch (dtype) {
	case WT_DTYPE_F8E4M3:
		tops_of_float8(data, count, 3, 7, ret);
		break;
	case WT_DTYPE_F8E5M2:
		tops_of_float8(data, count, 2, 15, ret);
		break;
	case WT_DTYPE_F8E4M3FNUZ:
		tops_of_float8(data, count, 3, 8, ret);
		break;
	case WT_DTYPE_F8E5M2FNUZ:
		tops_of_float8(data, count, 2, 16, ret);
		break;
	case WT_DTYPE_F8E8M0:
		tops_of_e8m0(data, count, ret);
		break;
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
