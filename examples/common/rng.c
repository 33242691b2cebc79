/* SPDX-License-Identifier: Apache-2.0 */
/* Integers first, then floats made from them. */
#include "rng.h"

#include <math.h>

/* Spreads the seed over the whole state: a state of zeros would never leave zero. */
static uint64_t splitmix(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

void rng_seed(struct rng *rng, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		rng->state[i] = splitmix(&seed);
}

static uint64_t rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

uint64_t rng_next(struct rng *rng)
{
	uint64_t *s = rng->state;
	uint64_t result = rotate(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

double rng_uniform(struct rng *rng)
{
	return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

double rng_normal(struct rng *rng)
{
	double radius = sqrt(-2 * log(1 - rng_uniform(rng)));

	return radius * cos(2 * M_PI * rng_uniform(rng));
}

void rng_permutation(struct rng *rng, size_t *order, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t j = rng_next(rng) % (i + 1);

		order[i] = order[j];
		order[j] = i;
	}
}
