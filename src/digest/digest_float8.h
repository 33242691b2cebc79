/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 8-bit floats of a block, all finite, their extremes and zeros known from their bytes
 * (digest_survey.h): widened once and added up, then squared. As doubles only their upper 16 bits,
 * their tops, are not 0, so that a block is kept as tops. Included by the kernel.
 *
 * With a sign they span at most 33 bits, and a block of them adds 12: no sum of them is rounded,
 * and they may be added in any order. Those of an exponent alone (e8m0) may not.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

static inline uint16_t top_of_e8m0(uint8_t x)
{
	return (uint16_t)((x + 1023 - 127) << 4);
}

/* ---- Tops, and 16 of them as doubles --------------------------------------------------------- */

#if defined(__AVX512F__)
/*
 * Tops have 32 bits. The two of a long are those of a double (the upper one) and of the double 8
 * elements further: no shuffle, of which there are few at a time, is needed to get at them.
 */
typedef uint32_t top;

INLINE void doubles_of_pairs(longs pairs, doubles ret[2])
{
	ret[0] = (doubles)(pairs & ~INT64_C(0xffffffff));
	ret[1] = (doubles)(pairs << 32);
}

INLINE void doubles_of_tops(const top *x, doubles ret[2])
{
	longs pairs;

	memcpy(&pairs, x, sizeof(pairs));
	doubles_of_pairs(pairs, ret);
}
#else
typedef uint16_t top;

#if defined(__AVX2__)
INLINE void doubles_of_tops(const top *x, doubles ret[4])
{
	const __m256i places = _mm256_set_epi64x(0x0706808080808080, 0x0504808080808080,
						 0x0302808080808080, 0x0100808080808080);

	for (int k = 0; k < 4; k++) {
		long long tops;

		memcpy(&tops, x + 4 * k, sizeof(tops));
		ret[k] = (doubles)_mm256_shuffle_epi8(_mm256_set1_epi64x(tops), places);
	}
}
#else
INLINE void doubles_of_tops(const top *x, doubles ret[8])
{
	for (int k = 0; k < 8; k += 4) {
		shorts tops;
		ints low, high;

		memcpy(&tops, x + 2 * k, sizeof(tops));
		low = (ints)__builtin_shufflevector((shorts){0}, tops, 0, 8, 1, 9, 2, 10, 3, 11);
		high = (ints)__builtin_shufflevector((shorts){0}, tops, 4, 12, 5, 13, 6, 14, 7, 15);
		ret[k] = (doubles)__builtin_shufflevector((ints){0}, low, 0, 4, 1, 5);
		ret[k + 1] = (doubles)__builtin_shufflevector((ints){0}, low, 2, 6, 3, 7);
		ret[k + 2] = (doubles)__builtin_shufflevector((ints){0}, high, 0, 4, 1, 5);
		ret[k + 3] = (doubles)__builtin_shufflevector((ints){0}, high, 2, 6, 3, 7);
	}
}
#endif
#endif

INLINE void sum_tops(struct lanes *lanes, const top *x, size_t count)
{
	doubles sum[VECTORS]; /* in registers */

	sums_copy(sum, lanes->sum);
	for (size_t i = 0; i < count; i += LANES) {
		doubles value[VECTORS];

		doubles_of_tops(x + i, value);
		for (int k = 0; k < VECTORS; k++)
			sum[k] += value[k];
	}
	sums_copy(lanes->sum, sum);
}

/*
 * x - mean; every second time (k is odd) by the pipe that multiplies, since the one that adds has
 * more to do. x * 1 is exact, so that the one rounding of the fused operation is that of the
 * subtraction.
 */
#if defined(__AVX512F__)
#define DISTANCE(x, mean, k)                                                                       \
	((k) % 2 ? (doubles)_mm512_fmsub_pd((__m512d)(x), _mm512_set1_pd(1), _mm512_set1_pd(mean)) \
		 : (x) - (mean))
#else
#define DISTANCE(x, mean, k) ((x) - (mean))
#endif

INLINE void square_tops(struct lanes *lanes, const top *x, size_t count, double mean)
{
	doubles sum[VECTORS]; /* in registers */

	sums_copy(sum, lanes->sum);
	for (size_t i = 0; i < count; i += LANES) {
		doubles value[VECTORS];

		doubles_of_tops(x + i, value);
		for (int k = 0; k < VECTORS; k++) {
			doubles distance = DISTANCE(value[k], mean, k);

			sum[k] += distance * distance;
		}
	}
	sums_copy(lanes->sum, sum);
}

/* ---- Widened and added up; `count` is a multiple of LANES ------------------------------------ */

#if defined(__AVX512F__)
/* The top of element i has its place beside that of the element 8 further, or before. */
INLINE size_t place_of_top(size_t i)
{
	return i / 16 * 16 + i % 8 * 2 + (i % 16 < 8);
}

/* 64 elements in the order in which pairs_of_bytes() takes them. */
INLINE octets in_order_of_pairs(octets x)
{
	octets places;

	for (int i = 0; i < 64; i++) /* a constant: unpacking works within quarters */
		places[i] = (uint8_t)(i % 16 / 4 * 16 + i / 16 * 2 + i % 4 / 2 + (i % 2 ? 0 : 8));
	return (octets)_mm512_permutexvar_epi8((__m512i)places, (__m512i)x);
}

/* Of the lower and the upper bytes of tops. */
INLINE void pairs_of_bytes(octets lower, octets upper, longs ret[4])
{
	const __m512i zero = _mm512_setzero_si512();
	const __m512i first = _mm512_unpacklo_epi8((__m512i)lower, (__m512i)upper);
	const __m512i last = _mm512_unpackhi_epi8((__m512i)lower, (__m512i)upper);

	ret[0] = (longs)_mm512_unpacklo_epi16(zero, first);
	ret[1] = (longs)_mm512_unpackhi_epi16(zero, first);
	ret[2] = (longs)_mm512_unpacklo_epi16(zero, last);
	ret[3] = (longs)_mm512_unpackhi_epi16(zero, last);
}

/* Of the elements below 0x80; the sign is not looked at. */
struct tops_table {
	uint8_t lower[128], upper[128];
};

INLINE octets look_up(const uint8_t table[128], octets x)
{
	return (octets)_mm512_permutex2var_epi8(_mm512_loadu_si512(table), (__m512i)x,
						_mm512_loadu_si512(table + 64));
}

INLINE void pairs_of_signed(octets x, const struct tops_table *table, longs ret[4])
{
	x = in_order_of_pairs(x);
	pairs_of_bytes(look_up(table->lower, x), look_up(table->upper, x) | (x & 0x80), ret);
}

INLINE void pairs_of_e8m0(octets x, longs ret[4])
{
	x = in_order_of_pairs(x);
	pairs_of_bytes((octets)((shorts)(x & 0x0f) << 4),
		       ((octets)((shorts)x >> 4) & 0x0f) + ((1023 - 127) >> 4), ret);
}

/* Additions wait for one another: in any order, 64 elements wait for two of them. */
INLINE void add_pairs(doubles sum[VECTORS], const longs pairs[4], bool in_any_order)
{
	doubles value[4][VECTORS];

	for (int i = 0; i < 4; i++)
		doubles_of_pairs(pairs[i], value[i]);
	for (int k = 0; k < VECTORS; k++) {
		if (in_any_order) {
			sum[k] += (value[0][k] + value[1][k]) + (value[2][k] + value[3][k]);
			continue;
		}
		for (int i = 0; i < 4; i++)
			sum[k] += value[i][k];
	}
}

/* `table` NULL: of an exponent alone. How many elements were taken, a multiple of 64. */
INLINE size_t sum_vectors(struct lanes *lanes, const uint8_t *x, size_t count,
			  const struct tops_table *table, top *ret)
{
	doubles sum[VECTORS]; /* in registers */
	size_t i = 0;

	sums_copy(sum, lanes->sum);
	for (; i + sizeof(octets) <= count; i += sizeof(octets)) {
		longs pairs[4];
		octets value;

		memcpy(&value, x + i, sizeof(value));
		if (table)
			pairs_of_signed(value, table, pairs);
		else
			pairs_of_e8m0(value, pairs);
		memcpy(ret + i, pairs, sizeof(pairs));
		add_pairs(sum, pairs, table);
	}
	sums_copy(lanes->sum, sum);
	return i;
}

INLINE void sum_signed(struct lanes *lanes, const uint8_t *x, size_t count, int mantissa_bits,
		       int bias, top *ret)
{
	struct tops_table table;
	size_t done;

	for (int i = 0; i < 128; i++) {
		uint16_t bits = top_of_float8((uint8_t)i, mantissa_bits, bias);

		table.lower[i] = (uint8_t)bits;
		table.upper[i] = (uint8_t)(bits >> 8);
	}
	done = sum_vectors(lanes, x, count, &table, ret);
	for (size_t i = done; i < count; i++)
		ret[place_of_top(i)] = (top)top_of_float8(x[i], mantissa_bits, bias) << 16;
	sum_tops(lanes, ret + done, count - done);
}

INLINE void sum_e8m0(struct lanes *lanes, const uint8_t *x, size_t count, top *ret)
{
	size_t done = sum_vectors(lanes, x, count, NULL, ret);

	for (size_t i = done; i < count; i++)
		ret[place_of_top(i)] = (top)top_of_e8m0(x[i]) << 16;
	sum_tops(lanes, ret + done, count - done);
}
#else
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

INLINE void sum_signed(struct lanes *lanes, const uint8_t *data, size_t count, int mantissa_bits,
		       int bias, top *ret)
{
	size_t done = 0;
#if defined(__AVX2__)
	uint8_t lower[16] = {0}, upper[16] = {0}; /* of denormals */

	for (int i = 0; i < 1 << mantissa_bits; i++) {
		uint16_t bits = top_of_float8((uint8_t)i, mantissa_bits, bias);

		lower[i] = (uint8_t)bits;
		upper[i] = (uint8_t)(bits >> 8);
	}
	for (; done + 32 <= count; done += 32)
		tops_of_32(data + done, mantissa_bits, bias,
			   _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)lower)),
			   _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)upper)),
			   ret + done);
#endif
	for (; done < count; done++)
		ret[done] = top_of_float8(data[done], mantissa_bits, bias);
	sum_tops(lanes, ret, count);
}

INLINE void sum_e8m0(struct lanes *lanes, const uint8_t *x, size_t count, top *ret)
{
	for (size_t i = 0; i < count; i++)
		ret[i] = top_of_e8m0(x[i]);
	sum_tops(lanes, ret, count);
}
#endif

static void sum_float8(struct lanes *lanes, const uint8_t *x, uint32_t dtype, size_t count,
		       top *ret)
{
	switch (dtype) {
	case WT_DTYPE_F8E4M3:
		sum_signed(lanes, x, count, 3, 7, ret);
		break;
	case WT_DTYPE_F8E5M2:
		sum_signed(lanes, x, count, 2, 15, ret);
		break;
	case WT_DTYPE_F8E4M3FNUZ:
		sum_signed(lanes, x, count, 3, 8, ret);
		break;
	case WT_DTYPE_F8E5M2FNUZ:
		sum_signed(lanes, x, count, 2, 16, ret);
		break;
	case WT_DTYPE_F8E8M0:
		sum_e8m0(lanes, x, count, ret);
		break;
	}
}
