/* SPDX-License-Identifier: Apache-2.0 */
/* The formula, in single precision and in the published order of operations. */
#include "dataset/synthetic.h"

#include <math.h>
#include <string.h>

const struct wti_synthetic wti_synthetics[] = {
	{"iris-like", "iris_like", 150, 4, 3, 2.0f, 0.5f, 42},
	{"small", "small_test", 60, 3, 2, 1.5f, 0.3f, 123},
	{"tiny", "tiny_debug", 30, 2, 3, 1.0f, 0.2f, 789},
	{"multi-class", "large_multi", 300, 8, 5, 3.0f, 0.8f, 456},
	{.name = 0},
};

const struct wti_synthetic *wti_synthetic_by_name(const char *name)
{
	for (const struct wti_synthetic *set = wti_synthetics; set->name; set++) {
		if (!strcmp(set->name, name) || !strcmp(set->files, name))
			return set;
	}
	return NULL;
}

/* SplitMix64: every bit of the result depends on every bit of the number. */
static uint64_t mix(uint64_t number)
{
	uint64_t z = number + 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* From 0 to 1, in steps of 1/10000. */
static float noise_at(const struct wti_synthetic *set, const uint64_t *seed, unsigned row,
		      unsigned column)
{
	uint64_t cell =
		(uint64_t)row * 1000 + column * 100u + wti_synthetic_class(set, row) * UINT64_C(10);
	uint64_t random =
		seed ? mix(mix(*seed) ^ ((uint64_t)row << 32 | column)) : cell * 1103515245 + 12345;

	return (float)(random % 10000) / 10000.0f;
}

float wti_synthetic_value(const struct wti_synthetic *set, const uint64_t *seed, unsigned row,
			  unsigned column)
{
	float class = (float)wti_synthetic_class(set, row);
	float i = (float)row, j = (float)column;
	float noise = (noise_at(set, seed, row, column) - 0.5f) * set->noise;
	float waves = (sinf(i * 0.1f + j * 0.05f) + cosf(i * 0.07f + class)) * 0.2f;

	return class * set->separation + j * 0.3f + noise + waves;
}
