/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A number as an integer and an exponent, and what it draws: the arithmetic of the plain kernels.
 * Hides the layouts of the formats.
 */
#ifndef WTI_AGENTS_NOISE_NUMBER_H
#define WTI_AGENTS_NOISE_NUMBER_H

#include <string.h>

#include "kernel.h"

/* significand * 2^scale */
struct wti_number {
	uint64_t significand; /* 0: nothing to perturb */
	int32_t scale;
	uint64_t sign; /* its bit, where it is in the number */
};

/* Little-endian, as all that we run on. Of a known size each, so that nothing is called. */
static inline uint64_t wti_number_load(const uint8_t *data, uint32_t bytes)
{
	uint64_t bits = 0;

	switch (bytes) {
	case 8:
		memcpy(&bits, data, 8);
		break;
	case 4:
		memcpy(&bits, data, 4);
		break;
	case 2:
		memcpy(&bits, data, 2);
		break;
	default:
		bits = *data;
	}
	return bits;
}

static inline void wti_number_store(uint8_t *data, uint32_t bytes, uint64_t bits)
{
	switch (bytes) {
	case 8:
		memcpy(data, &bits, 8);
		break;
	case 4:
		memcpy(data, &bits, 4);
		break;
	case 2:
		memcpy(data, &bits, 2);
		break;
	default:
		*data = (uint8_t)bits;
	}
}

static inline struct wti_number wti_number_of(const struct wti_noise_format *format, uint64_t bits)
{
	const uint64_t sign = UINT64_C(1) << (8 * format->bytes - 1);
	const uint64_t magnitude = bits & (sign - 1);
	const uint64_t one = UINT64_C(1) << format->fraction_bits;
	const uint64_t exponent = magnitude >> format->fraction_bits;
	struct wti_number number = {.sign = bits & sign};

	if (magnitude == 0 || magnitude > format->largest)
		return number;
	number.significand = (magnitude & (one - 1)) | (exponent ? one : 0);
	number.scale = (int32_t)(exponent ? exponent : 1) - format->bias - format->fraction_bits;
	return number;
}

static inline uint32_t wti_number_length(uint64_t integer)
{
	return integer ? 64 - (uint32_t)__builtin_clzll(integer) : 0;
}

/* An integer that the format holds exactly: below 2^p. */
static inline bool wti_number_is_integer(struct wti_number number)
{
	if (number.scale >= 0)
		return number.scale == 0;
	if (number.scale <= -64)
		return false;
	return (number.significand & ((UINT64_C(1) << -number.scale) - 1)) == 0;
}

/* To nearest, ties to even; the largest number instead of Inf. */
static inline uint64_t wti_number_bits(const struct wti_noise_format *format,
				       struct wti_number number)
{
	const uint32_t precision = format->fraction_bits + 1u;
	const int32_t scale_min = 1 - format->bias - format->fraction_bits;
	uint64_t integer = number.significand;
	uint64_t magnitude;

	while (wti_number_length(integer) > precision) {
		const uint32_t more = wti_number_length(integer) - precision;
		const uint64_t half = UINT64_C(1) << (more - 1);
		const uint64_t rest = integer & (2 * half - 1);

		integer >>= more;
		integer += rest > half || (rest == half && (integer & 1));
		number.scale += (int32_t)more;
	}
	while (wti_number_length(integer) < precision && number.scale > scale_min) {
		integer <<= 1;
		number.scale--;
	}
	if (wti_number_length(integer) < precision) /* subnormal */
		return number.sign | integer;
	magnitude = ((uint64_t)(number.scale - scale_min) << format->fraction_bits) + integer;
	return number.sign | (magnitude > format->largest ? format->largest : magnitude);
}

/* U(-1/2, 1/2) * 2^shift, rounded to nearest: each end has half the weight of what is between. */
static inline int64_t wti_noise_steps(uint64_t random, uint32_t shift)
{
	const uint64_t drawn = random >> (63 - shift);

	return (int64_t)((drawn + 1) >> 1) - (int64_t)((UINT64_C(1) << shift) >> 1);
}

/* What real i of the value draws, in the upper bits; the block it is in is kept. */
struct wti_drawer {
	const struct wti_noise_draw *draw;
	uint64_t block; /* UINT64_MAX: none yet */
	struct wti_philox words;
};

static inline uint64_t wti_noise_random(struct wti_drawer *drawer, uint32_t bytes, uint64_t index)
{
	const uint64_t block = bytes == 8 ? index / 2 : index / 4;
	const uint32_t *word = drawer->words.word;

	if (block != drawer->block) {
		drawer->words = wti_noise_block(drawer->draw, block);
		drawer->block = block;
	}
	if (bytes == 8)
		return (uint64_t)word[index % 2 * 2 + 1] << 32 | word[index % 2 * 2];
	return (uint64_t)word[index % 4] << 32 | 0x80000000u;
}

#endif
