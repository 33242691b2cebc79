/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noise on numbers of the x87: 64 bits of significand, the first of which is written out, so that
 * they do not fit the formats of noise.c. Only functions of libm return them.
 */
#include "noise.h"

#include <float.h>

#include "number.h"

#if LDBL_MANT_DIG == 64

enum { PRECISION = 64, SHIFT_MAX = 62, BIAS = 16383, EXPONENT_MASK = 0x7fff };

static bool is_exempt(uint64_t significand, int32_t exponent)
{
	const int32_t power = exponent - BIAS; /* floor(log2) */

	if (exponent == 0 || exponent == EXPONENT_MASK || significand == 0)
		return true; /* subnormal numbers as well */
	if (power < 0 || power >= PRECISION)
		return false;
	return power == PRECISION - 1 || significand << (power + 1) == 0;
}

/* The sum within 64 bits; what it has more or less goes into the exponent. */
static uint64_t moved(uint64_t significand, int64_t steps, int32_t *exponent)
{
	const uint64_t top = UINT64_C(1) << (PRECISION - 1);
	const uint64_t sum = significand + (uint64_t)steps;

	if (steps > 0 && sum < significand) {
		++*exponent;
		return sum >> 1 | top;
	}
	if (sum & top)
		return sum;
	--*exponent;
	return sum << 1;
}

static void perturb(const struct wti_noise *noise, const struct wti_noise_draw *draw, uint8_t *data,
		    uint32_t index)
{
	const uint32_t bits_max = noise->mode == WTI_NOISE_SR ? PRECISION : PRECISION - 1;
	const uint32_t wanted =
		PRECISION - (noise->bits && noise->bits < bits_max ? noise->bits : bits_max);
	const uint32_t shift = wanted < SHIFT_MAX ? wanted : SHIFT_MAX;
	struct wti_drawer drawer = {.draw = draw, .block = UINT64_MAX};
	uint64_t significand = wti_number_load(data, 8);
	const uint64_t tail = wti_number_load(data + 8, 2);
	int32_t exponent = (int32_t)(tail & EXPONENT_MASK);
	uint64_t random = wti_noise_random(&drawer, 8, index), new;
	uint16_t new_tail;

	if (shift == 0 || is_exempt(significand, exponent))
		return;
	if (noise->mode == WTI_NOISE_SR) {
		const uint64_t mask = (UINT64_C(1) << shift) - 1;
		const uint64_t up = (significand & mask) + (random >> (64 - shift)) > mask;

		new = moved(significand & ~mask, up ? (int64_t)(mask + 1) : 0, &exponent);
	} else {
		new = moved(significand, wti_noise_steps(random, shift), &exponent);
	}
	if (exponent <= 0 || exponent >= EXPONENT_MASK) /* the ends of the range stay */
		return;
	new_tail = (uint16_t)((tail & ~(uint64_t)EXPONENT_MASK) | (uint64_t)exponent);
	memcpy(data, &new, sizeof(new));
	memcpy(data + 8, &new_tail, sizeof(new_tail));
}

void wti_noise_long_double(const struct wti_noise *noise, const struct wti_noise_key *key,
			   long double *data, uint32_t parts)
{
	const struct wti_noise_draw draw = wti_noise_draw_of(noise->seed, key);

	if (!wti_noise_of_inputs(noise) && !wti_noise_of_outputs(noise))
		return;
	for (uint32_t i = 0; i < parts; i++)
		perturb(noise, &draw, (uint8_t *)&data[i], i);
}

#else

void wti_noise_long_double(const struct wti_noise *noise, const struct wti_noise_key *key,
			   long double *data, uint32_t parts)
{
	(void)noise, (void)key, (void)data, (void)parts;
}

#endif
