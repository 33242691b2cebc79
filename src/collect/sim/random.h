/* SPDX-License-Identifier: Apache-2.0 */
/* Random integers for the simulator (xoshiro256**), the same on every machine. */
#ifndef WTI_COLLECT_SIM_RANDOM_H
#define WTI_COLLECT_SIM_RANDOM_H

#include <stdint.h>

#include "sim.h"

struct wti_sim_random {
	uint64_t s[4];
};

static inline void wti_sim_random_init(struct wti_sim_random *random, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15u;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
		z = (z ^ z >> 27) * 0x94d049bb133111ebu;
		random->s[i] = z ^ z >> 31;
	}
}

static inline uint64_t wti_sim_random_next(struct wti_sim_random *random)
{
	uint64_t *s = random->s;
	uint64_t x = s[1] * 5;
	uint64_t result = (x << 7 | x >> 57) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = s[3] << 45 | s[3] >> 19;
	return result;
}

/* Below `count`, which is not 0. */
static inline uint64_t wti_sim_random_below(struct wti_sim_random *random, uint64_t count)
{
	return (uint64_t)(((unsigned __int128)wti_sim_random_next(random) * count) >> 64);
}

/*
 * Close to normal: the sum of four uniform numbers of 16 bits, whose standard deviation is 37,837.
 * In units of 1/1024 standard deviation, -3547 to 3547.
 */
static inline int64_t wti_sim_random_normal(struct wti_sim_random *random)
{
	uint64_t x = wti_sim_random_next(random);
	int64_t sum = (int64_t)((x & 0xffff) + (x >> 16 & 0xffff) + (x >> 32 & 0xffff) + (x >> 48));

	return (sum - 131070) * 1024 / 37837;
}

/*
 * `mean` with a deviation of `share` (of WTI_SIM_SHARE_ONE), at least 1. The square term leans
 * it to the right as a log-normal does: exp(x) is 1 + x + x^2/2 for the small x at hand.
 */
static inline uint64_t wti_sim_random_around(struct wti_sim_random *random, uint64_t mean,
					     uint32_t share)
{
	int64_t x = wti_sim_random_normal(random) * (int64_t)share / 1024; /* of 2^20 */
	int64_t lean = x * x / (2 * (int64_t)WTI_SIM_SHARE_ONE);
	int64_t value = (int64_t)mean + (int64_t)mean * (x + lean) / (int64_t)WTI_SIM_SHARE_ONE;

	return value < 1 ? 1 : (uint64_t)value;
}

#endif
