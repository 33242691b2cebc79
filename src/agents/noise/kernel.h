/* SPDX-License-Identifier: Apache-2.0 */
/* What the plain and the vector kernel of the noise share: formats of numbers, and the draw. */
#ifndef WTI_AGENTS_NOISE_KERNEL_H
#define WTI_AGENTS_NOISE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "philox.h"

/* A binary format: sign, exponent, fraction, from the top. */
struct wti_noise_format {
	uint8_t bytes; /* of a real; 0: not a floating-point number */
	uint8_t parts; /* reals of an element: 1, complex 2 */
	uint8_t fraction_bits;
	uint16_t bias;
	uint64_t largest; /* the bits of the largest finite number */
};

/* Random numbers of one value: real i has word i % 4 of block i / 4, or, if it has eight bytes,
 * half i % 2 of block i / 2. */
struct wti_noise_draw {
	uint32_t key[2];
	uint32_t stream[2];
};

static inline struct wti_philox wti_noise_block(const struct wti_noise_draw *draw, uint64_t block)
{
	const struct wti_philox counter = {
		{(uint32_t)block, (uint32_t)(block >> 32), draw->stream[0], draw->stream[1]}};

	return wti_philox(counter, draw->key[0], draw->key[1]);
}

/* One call of the kernel: normal numbers are perturbed by `shift` bits, counted from the last. */
struct wti_noise_work {
	const struct wti_noise_format *format;
	struct wti_noise_draw draw;
	uint32_t bits;   /* t */
	uint32_t shift;  /* p - t, at least 1 */
	bool is_rounded; /* stochastically to t bits */
};

struct wti_noise;
struct wti_noise_key;
struct wti_noise_draw wti_noise_draw_of(uint64_t seed, const struct wti_noise_key *key);
const struct wti_noise_format *wti_noise_format(uint32_t dtype); /* NULL: cannot be perturbed */
/* False: nothing to do, t is p. */
bool wti_noise_work_of(const struct wti_noise *noise, const struct wti_noise_key *key,
		       const struct wti_noise_format *format, struct wti_noise_work *ret);

/* Reals with the indices first to first + count. */
void wti_noise_plain(const struct wti_noise_work *work, uint8_t *data, uint64_t first,
		     uint64_t count, int64_t stride_bytes);
/*
 * The same for as many packed reals as it takes, which is returned: a multiple of the group, or 0.
 * `first` is a multiple of WTI_NOISE_GROUP.
 */
enum { WTI_NOISE_GROUP = 32 };
uint64_t wti_noise_avx2(const struct wti_noise_work *work, uint8_t *data, uint64_t first,
			uint64_t count);

#endif
