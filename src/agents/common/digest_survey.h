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

INLINE int least(octets x, int min)
{
	typedef uint8_t sixteen __attribute__((vector_size(16)));
	sixteen part[sizeof(octets) / 16];
	uint8_t half[8];

	memcpy(part, &x, sizeof(part));
	for (size_t j = 1; j < sizeof(octets) / 16; j++)
		part[0] = CHOOSE(sixteen, sixteen, (sixteen)(part[j] < part[0]), part[j], part[0]);
	for (size_t j = 0; j < 8; j++)
		half[j] = part[0][j] < part[0][j + 8] ? part[0][j] : part[0][j + 8];
	for (size_t j = 0; j < 8; j++)
		min = half[j] < min ? half[j] : min;
	return min;
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

/*
 * 8-bit floats with a sign, by their bytes. As bytes without sign, negative ones are the greater
 * the farther they are from 0, and greater than all others; with the sign bit inverted, it is the
 * other way round: four extremes say which elements are the least and the greatest, and need no
 * keys.
 */
struct float8_survey {
	uint64_t zeros; /* of both signs, or with `is_zero_unsigned` of the byte 0 alone */
	uint8_t least;  /* of the bytes */
	uint8_t most;
	uint8_t flipped_least; /* of the bytes with their sign bit inverted */
	uint8_t flipped_most;
};

/* At most 255 vectors: then a count may not fit its byte. */
INLINE void survey_float8_vectors(struct float8_survey *survey, const uint8_t *x, size_t count,
				  bool is_zero_unsigned)
{
	octets zeros = {0}, max = {0}, flipped_max = {0};
	octets min = ~(octets){0}, flipped_min = ~(octets){0};

	for (size_t i = 0; i < count; i += sizeof(octets)) {
		octets value, flipped;

		memcpy(&value, x + i, sizeof(value));
		flipped = value ^ 0x80;
		min = MIN_BYTES(value, min);
		max = MAX_BYTES(value, max);
		flipped_max = MAX_BYTES(flipped, flipped_max);
		if (is_zero_unsigned)
			flipped_min = MIN_BYTES(flipped, flipped_min);
		zeros -= (octets)((is_zero_unsigned ? value : value + value) == 0);
	}
	survey->zeros += sum_of(ADD_BYTES(zeros));
	survey->least = (uint8_t)least(min, survey->least);
	survey->most = (uint8_t)(255 - least(~max, 255 - survey->most));
	survey->flipped_least = (uint8_t)least(flipped_min, survey->flipped_least);
	survey->flipped_most = (uint8_t)(255 - least(~flipped_max, 255 - survey->flipped_most));
}

INLINE void survey_float8(struct float8_survey *survey, const uint8_t *x, size_t count,
			  bool is_zero_unsigned)
{
	const size_t most = 255 * sizeof(octets);
	size_t at = 0;

	*survey = (struct float8_survey){.least = 255, .flipped_least = 255};
	while (count - at >= sizeof(octets)) {
		size_t n = (count - at) / sizeof(octets) * sizeof(octets);

		n = n < most ? n : most;
		survey_float8_vectors(survey, x + at, n, is_zero_unsigned);
		at += n;
	}
	for (; at < count; at++) {
		uint8_t value = x[at], flipped = value ^ 0x80;

		survey->zeros += value == 0 || (!is_zero_unsigned && value == 0x80);
		survey->least = value < survey->least ? value : survey->least;
		survey->most = value > survey->most ? value : survey->most;
		survey->flipped_least =
			flipped < survey->flipped_least ? flipped : survey->flipped_least;
		survey->flipped_most =
			flipped > survey->flipped_most ? flipped : survey->flipped_most;
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
