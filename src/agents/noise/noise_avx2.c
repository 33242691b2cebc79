/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The noise with vectors of 256 bits: eight blocks of random words at a time, which are 32 numbers
 * of up to four bytes or 16 of eight. The same to the bit as wti_noise_plain(), which also does the
 * vectors that have a subnormal number in them.
 */
#include <immintrin.h>

#include "kernel.h"

enum { BLOCKS = 8 };

/* The upper and lower halves of the products of eight words with a number. */
static inline void multiply(__m256i words, __m256i factor, __m256i *ret_high, __m256i *ret_low)
{
	const __m256i even = _mm256_mul_epu32(words, factor);
	const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(words, 32), factor);

	*ret_high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
	*ret_low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
}

/* Word w of the blocks first, first + 1, ..., first + 7. */
static inline void draw_blocks(const struct wti_noise_draw *draw, uint64_t first, __m256i word[4])
{
	const __m256i m0 = _mm256_set1_epi64x(WTI_PHILOX_M0);
	const __m256i m1 = _mm256_set1_epi64x(WTI_PHILOX_M1);
	uint32_t key0 = draw->key[0];
	uint32_t key1 = draw->key[1];

	/* `first` is a multiple of eight: no carry into the second word. */
	word[0] = _mm256_add_epi32(_mm256_set1_epi32((int)(uint32_t)first),
				   _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
	word[1] = _mm256_set1_epi32((int)(uint32_t)(first >> 32));
	word[2] = _mm256_set1_epi32((int)draw->stream[0]);
	word[3] = _mm256_set1_epi32((int)draw->stream[1]);
	for (int round = 0; round < WTI_PHILOX_ROUNDS; round++) {
		__m256i high0, low0, high1, low1;

		multiply(word[0], m0, &high0, &low0);
		multiply(word[2], m1, &high1, &low1);
		word[0] = _mm256_xor_si256(_mm256_xor_si256(high1, word[1]),
					   _mm256_set1_epi32((int)key0));
		word[1] = low1;
		word[2] = _mm256_xor_si256(_mm256_xor_si256(high0, word[3]),
					   _mm256_set1_epi32((int)key1));
		word[3] = low0;
		key0 += WTI_PHILOX_W0;
		key1 += WTI_PHILOX_W1;
	}
}

/* The eight blocks one after another: two in each vector. */
static inline void in_order(__m256i word[4])
{
	const __m256i low01 = _mm256_unpacklo_epi32(word[0], word[1]);
	const __m256i high01 = _mm256_unpackhi_epi32(word[0], word[1]);
	const __m256i low23 = _mm256_unpacklo_epi32(word[2], word[3]);
	const __m256i high23 = _mm256_unpackhi_epi32(word[2], word[3]);
	const __m256i blocks04 = _mm256_unpacklo_epi64(low01, low23);
	const __m256i blocks15 = _mm256_unpackhi_epi64(low01, low23);
	const __m256i blocks26 = _mm256_unpacklo_epi64(high01, high23);
	const __m256i blocks37 = _mm256_unpackhi_epi64(high01, high23);

	word[0] = _mm256_permute2x128_si256(blocks04, blocks15, 0x20);
	word[1] = _mm256_permute2x128_si256(blocks26, blocks37, 0x20);
	word[2] = _mm256_permute2x128_si256(blocks04, blocks15, 0x31);
	word[3] = _mm256_permute2x128_si256(blocks26, blocks37, 0x31);
}

/* ---- Numbers of up to four bytes, each in four ----------------------------------------------- */

struct lanes32 {
	__m256i sign;    /* the bit */
	__m256i one;     /* 2^(p - 1): the lowest bit of the exponent */
	__m256i largest; /* bits of the largest finite number */
	__m256i bias;    /* the exponent field of 1.0 */
	__m256i top;     /* 32 - (p - 1) */
	__m256i half;    /* 2^(shift - 1) */
	__m256i mask;    /* of what is rounded away */
	__m128i fraction_bits;
	__m128i drop; /* of the random number: its lower bits */
	uint32_t precision;
	bool is_rounded;
};

static struct lanes32 lanes32_of(const struct wti_noise_work *work)
{
	const struct wti_noise_format *format = work->format;
	const int shift = (int)work->shift;

	return (struct lanes32){
		.sign = _mm256_set1_epi32((int)(1u << (8 * format->bytes - 1))),
		.one = _mm256_set1_epi32(1 << format->fraction_bits),
		.largest = _mm256_set1_epi32((int)(uint32_t)format->largest),
		.bias = _mm256_set1_epi32(format->bias),
		.top = _mm256_set1_epi32(32 - format->fraction_bits),
		.half = _mm256_set1_epi32(1 << (shift - 1)),
		.mask = _mm256_set1_epi32((1 << shift) - 1),
		.fraction_bits = _mm_cvtsi32_si128(format->fraction_bits),
		.drop = _mm_cvtsi32_si128(work->is_rounded ? 32 - shift : 31 - shift),
		.precision = format->fraction_bits + 1u,
		.is_rounded = work->is_rounded,
	};
}

/* 0, Inf, NaN, and integers below 2^p. */
static inline __m256i exempt32(const struct lanes32 *l, __m256i magnitude, __m256i exponent)
{
	const __m256i power = _mm256_sub_epi32(exponent, l->bias); /* floor(log2) */
	const __m256i rest = _mm256_sllv_epi32(magnitude, _mm256_add_epi32(l->top, power));
	const __m256i whole = _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_setzero_si256(), power),
						  _mm256_cmpeq_epi32(rest, _mm256_setzero_si256()));
	const __m256i small = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)l->precision), power);

	return _mm256_or_si256(
		_mm256_or_si256(_mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256()),
				_mm256_cmpgt_epi32(magnitude, l->largest)),
		_mm256_and_si256(whole, small));
}

/* The number `steps` of the last place away: spacing halves below the binade, doubles above. */
static inline __m256i moved32(const struct lanes32 *l, __m256i magnitude, __m256i exponent,
			      __m256i steps)
{
	const __m256i zero = _mm256_setzero_si256();
	const __m256i ones = _mm256_set1_epi32(1);
	const __m256i below = _mm256_sub_epi32(l->one, ones);
	const __m256i fraction = _mm256_and_si256(magnitude, below);
	const __m256i sum = _mm256_add_epi32(fraction, steps);
	const __m256i moved = _mm256_add_epi32(magnitude, steps);
	const __m256i is_down =
		_mm256_and_si256(_mm256_cmpgt_epi32(zero, sum), _mm256_cmpgt_epi32(exponent, ones));
	const __m256i is_up = _mm256_cmpgt_epi32(sum, below);
	const __m256i excess = _mm256_sub_epi32(sum, l->one);
	const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(excess, 1), ones);
	const __m256i halved = _mm256_srli_epi32(_mm256_add_epi32(excess, odd), 1);
	const __m256i up = _mm256_add_epi32(
		_mm256_add_epi32(_mm256_sub_epi32(magnitude, fraction), l->one), halved);

	return _mm256_blendv_epi8(_mm256_add_epi32(moved, _mm256_and_si256(is_down, sum)), up,
				  is_up);
}

/* False: there is a subnormal number among them. */
static inline bool perturb32(const struct lanes32 *l, __m256i *bits, __m256i random)
{
	const __m256i sign = _mm256_and_si256(*bits, l->sign);
	const __m256i magnitude = _mm256_xor_si256(*bits, sign);
	const __m256i exponent = _mm256_srl_epi32(magnitude, l->fraction_bits);
	const __m256i exempt = exempt32(l, magnitude, exponent);
	const __m256i subnormal =
		_mm256_andnot_si256(exempt, _mm256_cmpeq_epi32(exponent, _mm256_setzero_si256()));
	const __m256i drawn = _mm256_srl_epi32(random, l->drop);
	__m256i moved;

	if (!_mm256_testz_si256(subnormal, subnormal))
		return false;
	if (l->is_rounded) {
		moved = _mm256_andnot_si256(l->mask, _mm256_add_epi32(magnitude, drawn));
	} else {
		const __m256i nearest =
			_mm256_srli_epi32(_mm256_add_epi32(drawn, _mm256_set1_epi32(1)), 1);

		moved = moved32(l, magnitude, exponent, _mm256_sub_epi32(nearest, l->half));
	}
	moved = _mm256_or_si256(sign, _mm256_min_epi32(moved, l->largest));
	*bits = _mm256_blendv_epi8(moved, *bits, exempt);
	return true;
}

static inline __m256i load32(const uint8_t *data, uint32_t bytes)
{
	if (bytes == 4)
		return _mm256_loadu_si256((const __m256i *)data);
	return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)data));
}

static inline void store32(uint8_t *data, uint32_t bytes, __m256i bits)
{
	if (bytes == 4)
		_mm256_storeu_si256((__m256i *)data, bits);
	else
		_mm_storeu_si128((__m128i *)data,
				 _mm_packus_epi32(_mm256_castsi256_si128(bits),
						  _mm256_extracti128_si256(bits, 1)));
}

/* `bytes` is known where this is inlined: 2 or 4. */
static inline __attribute__((always_inline)) uint64_t apply32(const struct wti_noise_work *work,
							      uint8_t *data, uint64_t first,
							      uint64_t count, uint32_t bytes)
{
	const struct lanes32 lanes = lanes32_of(work);
	uint64_t done = 0;

	for (; done + 4 * BLOCKS <= count; done += 4 * BLOCKS) {
		__m256i word[4];

		draw_blocks(&work->draw, (first + done) / 4, word);
		in_order(word);
		for (uint32_t i = 0; i < 4; i++) {
			uint8_t *at = data + (done + 8 * i) * bytes;
			__m256i bits = load32(at, bytes);

			if (perturb32(&lanes, &bits, word[i]))
				store32(at, bytes, bits);
			else
				wti_noise_plain(work, at, first + done + 8 * i, 8, bytes);
		}
	}
	return done;
}

/* ---- Numbers of eight bytes ------------------------------------------------------------------ */

struct lanes64 {
	__m256i half;
	__m256i mask;
	__m128i drop;
	bool is_rounded;
};

enum { FRACTION_BITS = 52, BIAS = 1023 };
#define SIGN INT64_MIN
#define ONE (INT64_C(1) << FRACTION_BITS)
#define LARGEST INT64_C(0x7fefffffffffffff)

static inline __m256i exempt64(__m256i magnitude, __m256i exponent)
{
	const __m256i zero = _mm256_setzero_si256();
	const __m256i power = _mm256_sub_epi64(exponent, _mm256_set1_epi64x(BIAS));
	const __m256i rest = _mm256_sllv_epi64(
		magnitude, _mm256_add_epi64(_mm256_set1_epi64x(64 - FRACTION_BITS), power));
	const __m256i whole = _mm256_andnot_si256(_mm256_cmpgt_epi64(zero, power),
						  _mm256_cmpeq_epi64(rest, zero));
	const __m256i small = _mm256_cmpgt_epi64(_mm256_set1_epi64x(FRACTION_BITS + 1), power);

	return _mm256_or_si256(
		_mm256_or_si256(_mm256_cmpeq_epi64(magnitude, zero),
				_mm256_cmpgt_epi64(magnitude, _mm256_set1_epi64x(LARGEST))),
		_mm256_and_si256(whole, small));
}

static inline __m256i moved64(__m256i magnitude, __m256i exponent, __m256i steps)
{
	const __m256i zero = _mm256_setzero_si256();
	const __m256i ones = _mm256_set1_epi64x(1);
	const __m256i one = _mm256_set1_epi64x(ONE);
	const __m256i below = _mm256_set1_epi64x(ONE - 1);
	const __m256i fraction = _mm256_and_si256(magnitude, below);
	const __m256i sum = _mm256_add_epi64(fraction, steps);
	const __m256i moved = _mm256_add_epi64(magnitude, steps);
	const __m256i is_down =
		_mm256_and_si256(_mm256_cmpgt_epi64(zero, sum), _mm256_cmpgt_epi64(exponent, ones));
	const __m256i is_up = _mm256_cmpgt_epi64(sum, below);
	const __m256i excess = _mm256_sub_epi64(sum, one);
	const __m256i odd = _mm256_and_si256(_mm256_srli_epi64(excess, 1), ones);
	const __m256i halved = _mm256_srli_epi64(_mm256_add_epi64(excess, odd), 1);
	const __m256i up = _mm256_add_epi64(
		_mm256_add_epi64(_mm256_sub_epi64(magnitude, fraction), one), halved);

	return _mm256_blendv_epi8(_mm256_add_epi64(moved, _mm256_and_si256(is_down, sum)), up,
				  is_up);
}

static inline bool perturb64(const struct lanes64 *l, __m256i *bits, __m256i random)
{
	const __m256i largest = _mm256_set1_epi64x(LARGEST);
	const __m256i sign = _mm256_and_si256(*bits, _mm256_set1_epi64x(SIGN));
	const __m256i magnitude = _mm256_xor_si256(*bits, sign);
	const __m256i exponent = _mm256_srli_epi64(magnitude, FRACTION_BITS);
	const __m256i exempt = exempt64(magnitude, exponent);
	const __m256i subnormal =
		_mm256_andnot_si256(exempt, _mm256_cmpeq_epi64(exponent, _mm256_setzero_si256()));
	const __m256i drawn = _mm256_srl_epi64(random, l->drop);
	__m256i moved;

	if (!_mm256_testz_si256(subnormal, subnormal))
		return false;
	if (l->is_rounded) {
		moved = _mm256_andnot_si256(l->mask, _mm256_add_epi64(magnitude, drawn));
	} else {
		const __m256i nearest =
			_mm256_srli_epi64(_mm256_add_epi64(drawn, _mm256_set1_epi64x(1)), 1);

		moved = moved64(magnitude, exponent, _mm256_sub_epi64(nearest, l->half));
	}
	moved = _mm256_blendv_epi8(moved, largest, _mm256_cmpgt_epi64(moved, largest));
	*bits = _mm256_blendv_epi8(_mm256_or_si256(sign, moved), *bits, exempt);
	return true;
}

static uint64_t apply64(const struct wti_noise_work *work, uint8_t *data, uint64_t first,
			uint64_t count)
{
	const int shift = (int)work->shift;
	const struct lanes64 lanes = {
		.half = _mm256_set1_epi64x(INT64_C(1) << (shift - 1)),
		.mask = _mm256_set1_epi64x((INT64_C(1) << shift) - 1),
		.drop = _mm_cvtsi32_si128(work->is_rounded ? 64 - shift : 63 - shift),
		.is_rounded = work->is_rounded,
	};
	uint64_t done = 0;

	for (; done + 2 * BLOCKS <= count; done += 2 * BLOCKS) {
		__m256i word[4];

		draw_blocks(&work->draw, (first + done) / 2, word);
		in_order(word);
		for (uint32_t i = 0; i < 4; i++) {
			uint8_t *at = data + (done + 4 * i) * 8;
			__m256i bits = _mm256_loadu_si256((const __m256i *)at);

			if (perturb64(&lanes, &bits, word[i]))
				_mm256_storeu_si256((__m256i *)at, bits);
			else
				wti_noise_plain(work, at, first + done + 4 * i, 4, 8);
		}
	}
	return done;
}

uint64_t wti_noise_avx2(const struct wti_noise_work *work, uint8_t *data, uint64_t first,
			uint64_t count)
{
	switch (work->format->bytes) {
	case 8:
		return apply64(work, data, first, count);
	case 4:
		return apply32(work, data, first, count, 4);
	case 2:
		return apply32(work, data, first, count, 2);
	default:
		return 0;
	}
}
