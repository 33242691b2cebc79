/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3" (2011): 128 random bits are a function of a counter and a key, in
 * any order, without a state.
 */
#ifndef WTI_AGENTS_NOISE_PHILOX_H
#define WTI_AGENTS_NOISE_PHILOX_H

#include <stdint.h>

enum { WTI_PHILOX_ROUNDS = 10 };
#define WTI_PHILOX_M0 0xd2511f53u
#define WTI_PHILOX_M1 0xcd9e8d57u
#define WTI_PHILOX_W0 0x9e3779b9u
#define WTI_PHILOX_W1 0xbb67ae85u

struct wti_philox {
	uint32_t word[4];
};

static inline struct wti_philox wti_philox(struct wti_philox counter, uint32_t key0, uint32_t key1)
{
	uint32_t *c = counter.word;

	for (int round = 0; round < WTI_PHILOX_ROUNDS; round++) {
		const uint64_t product0 = (uint64_t)WTI_PHILOX_M0 * c[0];
		const uint64_t product1 = (uint64_t)WTI_PHILOX_M1 * c[2];

		c[0] = (uint32_t)(product1 >> 32) ^ c[1] ^ key0;
		c[1] = (uint32_t)product1;
		c[2] = (uint32_t)(product0 >> 32) ^ c[3] ^ key1;
		c[3] = (uint32_t)product0;
		key0 += WTI_PHILOX_W0;
		key1 += WTI_PHILOX_W1;
	}
	return counter;
}

#endif
