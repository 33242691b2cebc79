/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers that are the same for a seed on every machine (xoshiro256**). */
#ifndef EXAMPLES_RNG_H
#define EXAMPLES_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t state[4];
};

void rng_seed(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);
double rng_uniform(struct rng *rng); /* in [0, 1) */
double rng_normal(struct rng *rng);  /* mean 0, deviation 1 */
/* 0 .. count - 1 in random order. */
void rng_permutation(struct rng *rng, size_t *order, size_t count);

#endif
