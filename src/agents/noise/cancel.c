/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noise on sums that have lost digits. The result of a cancellation is exact for operands that are;
 * but operands are rounded, and what the result has below their last place is not known. So that is
 * where the noise goes: the more places were lost, the larger it is beside the result.
 */
#include "noise.h"

#include <stddef.h>

#include "number.h"

enum { SHIFT_MAX = 62 };

static int32_t exponent_of(struct wti_number number)
{
	return (int32_t)wti_number_length(number.significand) + number.scale;
}

static int32_t larger(int32_t exponent, const struct wti_noise_format *format, const uint8_t *data)
{
	const struct wti_number number =
		wti_number_of(format, wti_number_load(data, format->bytes));
	const int32_t own = exponent_of(number);

	return number.significand && own > exponent ? own : exponent;
}

static uint64_t perturbed(const struct wti_noise_work *work, uint64_t bits, int32_t exponent,
			  uint64_t random)
{
	struct wti_number number = wti_number_of(work->format, bits);
	int64_t shift = (int64_t)exponent - (int64_t)work->bits - number.scale;
	int64_t sum;

	if (number.significand == 0 || exponent <= exponent_of(number) ||
	    wti_number_is_integer(number) || shift <= 0)
		return bits;
	shift = shift < SHIFT_MAX ? shift : SHIFT_MAX;
	sum = (int64_t)number.significand + wti_noise_steps(random, (uint32_t)shift);
	if (sum == 0) /* it would be exact from then on */
		return bits;
	number.significand = (uint64_t)(sum < 0 ? -sum : sum);
	if (sum < 0)
		number.sign ^= UINT64_C(1) << (8 * work->format->bytes - 1);
	return wti_number_bits(work->format, number);
}

static void cancel_one(const struct wti_noise_work *work, struct wti_drawer *drawer, uint8_t *data,
		       uint64_t real, const uint8_t *const operands[2], int32_t exponent)
{
	const uint32_t bytes = work->format->bytes;
	const uint64_t old = wti_number_load(data, bytes);
	uint64_t new;

	for (int i = 0; i < 2; i++)
		if (operands[i])
			exponent = larger(exponent, work->format, operands[i]);
	if (exponent == WTI_NOISE_NO_EXPONENT)
		return;
	new = perturbed(work, old, exponent, wti_noise_random(drawer, bytes, real));
	if (new != old)
		wti_number_store(data, bytes, new);
}

void wti_noise_cancel(const struct wti_noise *noise, const struct wti_noise_key *key,
		      uint32_t dtype, void *data, uint64_t first, uint64_t count,
		      int64_t stride_bytes, const struct wti_noise_operands *operands)
{
	const struct wti_noise_format *format = wti_noise_format(dtype);
	struct wti_noise_work work;
	struct wti_drawer drawer = {.draw = &work.draw, .block = UINT64_MAX};

	if (!format || noise->mode != WTI_NOISE_CANCELLATION ||
	    !wti_noise_work_of(noise, key, format, &work))
		return;
	for (uint64_t i = 0; i < count * format->parts; i++) {
		const uint64_t element = i / format->parts;
		const int64_t part = (int64_t)(i % format->parts * format->bytes);
		const uint8_t *at[2];

		for (int k = 0; k < 2; k++)
			at[k] = operands->data[k]
					? (const uint8_t *)operands->data[k] + part +
						  (int64_t)element * operands->stride_bytes[k]
					: NULL;
		cancel_one(&work, &drawer, (uint8_t *)data + part + (int64_t)element * stride_bytes,
			   first * format->parts + i, at, operands->exponent);
	}
}

int32_t wti_noise_exponent(uint32_t dtype, const void *data, uint64_t count, int64_t stride_bytes)
{
	const struct wti_noise_format *format = wti_noise_format(dtype);
	const uint8_t *at = data;
	int32_t exponent = WTI_NOISE_NO_EXPONENT;

	if (!format)
		return exponent;
	for (uint64_t i = 0; i < count; i++, at += stride_bytes)
		for (uint32_t part = 0; part < format->parts; part++)
			exponent = larger(exponent, format, at + part * format->bytes);
	return exponent;
}
