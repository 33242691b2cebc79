/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a block of small elements from their bits alone: extremes, zeros, sums of
 * integers, and whether any element is not finite. vectors of bytes and of 16 bits hold many
 * elements, so that this costs a part of what the same does on floats. Sums are integers: no order
 * can change them, and 4096 elements of 16 bits are far from 2^53, so that they are the sums that
 * docs/digest.md defines. Included by the kernel.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#define LEAST_OF_16(a, b) ((sixteen)_mm_min_epu8((__m128i)(a), (__m128i)(b)))
#define MOVED_OF_16(a, step) _mm_srli_si128((__m128i)(a), step)
#else
#define LEAST_OF_16(a, b) CHOOSE(sixteen, sixteen, (sixteen)((b) < (a)), b, a)
#define MOVED_OF_16(a, step) ((sixteen)((unsigned __int128)(a) >> 8 * (step)))
#endif

/* Elements are compared by keys, integers in the order of the elements. */
struct survey {
	int64_t sum; /* of the keys */
	uint64_t zeros;
	int min; /* key */
	int max;
};

enum key {
	AS_IT_IS,
	OTHER_SIGN, /* signed bytes as unsigned ones, unsigned shorts as signed ones */
};

INLINE uint8_t byte_key(uint8_t x, enum key key)
{
	return (uint8_t)(key == OTHER_SIGN ? x ^ 0x80 : x);
}

/* Of all bytes, and of `min`. */
INLINE int least(octets x, int min)
{
	typedef uint8_t sixteen __attribute__((vector_size(16)));
	sixteen part[sizeof(octets) / 16], few;

	memcpy(part, &x, sizeof(part));
	few = part[0];
	for (size_t j = 1; j < sizeof(octets) / 16; j++)
		few = LEAST_OF_16(few, part[j]);
	few = LEAST_OF_16(few, MOVED_OF_16(few, 8));
	few = LEAST_OF_16(few, MOVED_OF_16(few, 4));
	few = LEAST_OF_16(few, MOVED_OF_16(few, 2));
	few = LEAST_OF_16(few, MOVED_OF_16(few, 1));
	return few[0] < min ? few[0] : min;
}

/* At most 255 vectors: then a count may not fit its byte. */
INLINE void survey_vectors(struct survey *survey, const uint8_t *x, size_t count, enum key key)
{
	octets zeros = {0}, min = ~(octets){0}, max = {0};
	longs sum = {0};

	for (size_t i = 0; i < count; i += sizeof(octets)) {
		octets value, keys;

		memcpy(&value, x + i, sizeof(value));
		keys = key == OTHER_SIGN ? value ^ 0x80 : value;
		min = MIN_BYTES(keys, min);
		max = MAX_BYTES(keys, max);
		zeros -= (octets)(value == 0);
		sum += ADD_BYTES(keys);
	}
	survey->sum += (int64_t)sum_of(sum);
	survey->zeros += sum_of(ADD_BYTES(zeros));
	survey->min = least(min, survey->min);
	survey->max = 255 - least(~max, 255 - survey->max);
}

INLINE void survey_bytes(struct survey *survey, const uint8_t *x, size_t count, enum key key)
{
	const size_t most = 255 * sizeof(octets);
	size_t at = 0;

	*survey = (struct survey){.min = 255};
	while (count - at >= sizeof(octets)) {
		size_t n = (count - at) / sizeof(octets) * sizeof(octets);

		n = n < most ? n : most;
		survey_vectors(survey, x + at, n, key);
		at += n;
	}
	for (; at < count; at++) {
		int value = byte_key(x[at], key);

		survey->sum += value;
		survey->zeros += x[at] == 0;
		survey->min = value < survey->min ? value : survey->min;
		survey->max = value > survey->max ? value : survey->max;
	}
}

/* 8-bit floats with a sign, as if all were finite: 0x80 and 0x7f are the keys of the zeros. */
struct float8_survey {
	uint64_t zeros; /* of both signs */
	int min;        /* keys */
	int max;
};

INLINE uint8_t float8_key(uint8_t x)
{
	return x & 0x80 ? (uint8_t)~x : (uint8_t)(x | 0x80);
}

/* And back. */
INLINE uint8_t float8_of_key(int key)
{
	return (uint8_t)(key & 0x80 ? key & 0x7f : ~key);
}

/* At most 255 vectors: then a count may not fit its byte. */
INLINE void survey_float8_vectors(struct float8_survey *survey, const uint8_t *x, size_t count)
{
	octets zeros = {0}, max = {0}, min = ~(octets){0};

	for (size_t i = 0; i < count; i += sizeof(octets)) {
		octets value, keys;

		memcpy(&value, x + i, sizeof(value));
		keys = value ^ ((octets)((signed_octets)value < 0) | 0x80);
		min = MIN_BYTES(keys, min);
		max = MAX_BYTES(keys, max);
		zeros -= (octets)(value + value == 0);
	}
	survey->zeros += sum_of(ADD_BYTES(zeros));
	survey->min = least(min, survey->min);
	survey->max = 255 - least(~max, 255 - survey->max);
}

INLINE void survey_float8(struct float8_survey *survey, const uint8_t *x, size_t count)
{
	const size_t most = 255 * sizeof(octets);
	size_t at = 0;

	*survey = (struct float8_survey){.min = 255};
	while (count - at >= sizeof(octets)) {
		size_t n = (count - at) / sizeof(octets) * sizeof(octets);

		n = n < most ? n : most;
		survey_float8_vectors(survey, x + at, n);
		at += n;
	}
	for (; at < count; at++) {
		int key = float8_key(x[at]);

		survey->zeros += (x[at] & 0x7f) == 0;
		survey->min = key < survey->min ? key : survey->min;
		survey->max = key > survey->max ? key : survey->max;
	}
}

/* The sum of the squares of at most 4096 integers. */
INLINE int64_t squares_of_bytes(const char *x, size_t count, bool is_signed)
{
	int32_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		int16_t value = is_signed ? (int16_t)(int8_t)x[i] : (int16_t)(uint8_t)x[i];

		sum += value * value;
	}
	return sum;
}

INLINE void survey_shorts(struct survey *survey, const char *x, size_t count, enum key key)
{
	const int flip = key == OTHER_SIGN ? -0x8000 : 0;
	shorts zeros = {0}, min = ~(shorts){0} ^ -0x8000, max = (shorts){0} ^ -0x8000;
	ints sum = {0};
	size_t at = 0;

	*survey = (struct survey){.min = INT16_MAX, .max = INT16_MIN};
	for (; count - at >= sizeof(shorts) / 2; at += sizeof(shorts) / 2) {
		shorts value, keys;

		memcpy(&value, x + 2 * at, sizeof(value));
		keys = value ^ (int16_t)flip;
		min = MIN_SHORTS(keys, min);
		max = MAX_SHORTS(keys, max);
		zeros -= value == 0;
		sum += (((ints)keys << 16) >> 16) + ((ints)keys >> 16);
	}
	for (size_t j = 0; j < sizeof(shorts) / 2; j++) {
		survey->zeros += (uint16_t)zeros[j];
		survey->min = min[j] < survey->min ? min[j] : survey->min;
		survey->max = max[j] > survey->max ? max[j] : survey->max;
	}
	for (size_t j = 0; j < sizeof(ints) / 4; j++)
		survey->sum += sum[j];
	for (; at < count; at++) {
		int16_t value;

		memcpy(&value, x + 2 * at, sizeof(value));
		survey->zeros += value == 0;
		value = (int16_t)(value ^ flip);
		survey->sum += value;
		survey->min = value < survey->min ? value : survey->min;
		survey->max = value > survey->max ? value : survey->max;
	}
}
