/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modes, formats and the plain kernel of the noise. A number is taken apart into an integer of at
 * most p bits and an exponent, a random integer is added, and it is put together again: what the
 * vector kernel must give to the bit.
 */
#include "noise.h"

#include <stddef.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "number.h"

static const struct wti_noise_format formats[] = {
	[WT_DTYPE_F16] = {2, 1, 10, 15, 0x7bff},
	[WT_DTYPE_BF16] = {2, 1, 7, 127, 0x7f7f},
	[WT_DTYPE_F32] = {4, 1, 23, 127, 0x7f7fffff},
	[WT_DTYPE_F64] = {8, 1, 52, 1023, 0x7fefffffffffffff},
	[WT_DTYPE_C32] = {2, 2, 10, 15, 0x7bff},
	[WT_DTYPE_C64] = {4, 2, 23, 127, 0x7f7fffff},
	[WT_DTYPE_C128] = {8, 2, 52, 1023, 0x7fefffffffffffff},
	[WT_DTYPE_F8E4M3] = {1, 1, 3, 7, 0x7e},
	[WT_DTYPE_F8E5M2] = {1, 1, 2, 15, 0x7b},
	[WT_DTYPE_F8E4M3FNUZ] = {1, 1, 3, 8, 0x7f},
	[WT_DTYPE_F8E5M2FNUZ] = {1, 1, 2, 16, 0x7f},
};

const struct wti_noise_format *wti_noise_format(uint32_t dtype)
{
	if (dtype >= sizeof(formats) / sizeof(formats[0]) || formats[dtype].bytes == 0)
		return NULL;
	return &formats[dtype];
}

bool wti_noise_takes(uint32_t dtype)
{
	return wti_noise_format(dtype);
}

/* ---- Modes ----------------------------------------------------------------------------------- */

static bool parse_bits(const char *text, uint32_t *ret)
{
	uint32_t bits = 0;

	for (; *text >= '0' && *text <= '9' && bits <= WTI_NOISE_BITS_MAX; text++)
		bits = bits * 10 + (uint32_t)(*text - '0');
	if (*text || bits == 0 || bits > WTI_NOISE_BITS_MAX)
		return false;
	*ret = bits;
	return true;
}

bool wti_noise_parse(const char *text, struct wti_noise *ret)
{
	static const char *const names[] = {"off", "rr", "pb", "mca", "cancellation", "sr"};
	const char *colon = strchr(text, ':');
	const size_t bytes = colon ? (size_t)(colon - text) : strlen(text);
	uint32_t bits = 0;

	for (uint32_t mode = 0; mode < sizeof(names) / sizeof(names[0]); mode++) {
		if (strlen(names[mode]) != bytes || memcmp(names[mode], text, bytes) != 0)
			continue;
		if (colon && (mode == WTI_NOISE_OFF || !parse_bits(colon + 1, &bits)))
			return false;
		if (mode == WTI_NOISE_SR && bits == 0) /* numbers have been rounded to p already */
			return false;
		*ret = (struct wti_noise){.mode = mode, .bits = bits};
		return true;
	}
	return false;
}

/* ---- Draws ----------------------------------------------------------------------------------- */

struct wti_noise_draw wti_noise_draw_of(uint64_t seed, const struct wti_noise_key *key)
{
	const struct wti_philox counter = {{(uint32_t)key->site, (uint32_t)(key->site >> 32),
					    (uint32_t)key->call, (uint32_t)(key->call >> 32)}};
	const uint64_t mixed = seed + key->value * UINT64_C(0x9e3779b97f4a7c15);
	const struct wti_philox drawn =
		wti_philox(counter, (uint32_t)mixed, (uint32_t)(mixed >> 32));

	return (struct wti_noise_draw){{drawn.word[0], drawn.word[1]},
				       {drawn.word[2], drawn.word[3]}};
}

uint64_t wti_noise_seed(uint64_t seed, uint32_t run)
{
	const struct wti_noise_key key = {.site = run, .call = UINT64_C(0x7365742e6a736f6e)};
	const struct wti_noise_draw draw = wti_noise_draw_of(seed, &key);

	return (uint64_t)draw.key[1] << 32 | draw.key[0];
}

/* ---- Noise ----------------------------------------------------------------------------------- */

/* p - t for a number that may have fewer bits than p. */
static uint32_t shift_of(const struct wti_noise_work *work, uint64_t significand)
{
	const uint32_t length = wti_number_length(significand);
	uint32_t shift;

	if (length > work->format->fraction_bits)
		return work->shift;
	shift = length > work->bits ? length - work->bits : 0;
	if (work->is_rounded)
		return shift;
	if (shift == 0)
		shift = 1;
	return shift < length ? shift : length - 1;
}

static uint64_t perturbed(const struct wti_noise_work *work, uint64_t bits, uint64_t random)
{
	struct wti_number number = wti_number_of(work->format, bits);
	uint32_t shift;

	if (number.significand == 0 || wti_number_is_integer(number))
		return bits;
	shift = shift_of(work, number.significand);
	if (shift == 0)
		return bits;
	if (work->is_rounded)
		number.significand = (number.significand + (random >> (64 - shift))) &
				     ~((UINT64_C(1) << shift) - 1);
	else
		number.significand += (uint64_t)wti_noise_steps(random, shift);
	return wti_number_bits(work->format, number);
}

void wti_noise_plain(const struct wti_noise_work *work, uint8_t *data, uint64_t first,
		     uint64_t count, int64_t stride_bytes)
{
	const uint32_t bytes = work->format->bytes;
	struct wti_drawer drawer = {.draw = &work->draw, .block = UINT64_MAX};

	for (uint64_t i = 0; i < count; i++, data += stride_bytes) {
		const uint64_t old = wti_number_load(data, bytes);
		const uint64_t new =
			perturbed(work, old, wti_noise_random(&drawer, bytes, first + i));

		if (new != old)
			wti_number_store(data, bytes, new);
	}
}

/* ---- Apply ----------------------------------------------------------------------------------- */

bool wti_noise_work_of(const struct wti_noise *noise, const struct wti_noise_key *key,
		       const struct wti_noise_format *format, struct wti_noise_work *ret)
{
	const uint32_t precision = format->fraction_bits + 1u;
	const bool is_rounded = noise->mode == WTI_NOISE_SR;
	const uint32_t bits_max = is_rounded ? precision : precision - 1;
	const uint32_t bits = noise->bits && noise->bits < bits_max ? noise->bits : bits_max;

	*ret = (struct wti_noise_work){
		.format = format,
		.draw = wti_noise_draw_of(noise->seed, key),
		.bits = bits,
		.shift = precision - bits,
		.is_rounded = is_rounded,
	};
	return ret->shift > 0;
}

static bool has_avx2(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("avx2");
#else
	return false;
#endif
}

static void apply_packed(const struct wti_noise_work *work, uint8_t *data, uint64_t first,
			 uint64_t count, bool is_vector)
{
	const uint32_t bytes = work->format->bytes;
	uint64_t done = 0;

#if defined(__x86_64__)
	if (is_vector && count >= WTI_NOISE_GROUP) {
		done = -first % WTI_NOISE_GROUP;
		done = done < count ? done : count;
		wti_noise_plain(work, data, first, done, bytes);
		done += wti_noise_avx2(work, data + done * bytes, first + done, count - done);
	}
#else
	(void)is_vector;
#endif
	wti_noise_plain(work, data + done * bytes, first + done, count - done, bytes);
}

void wti_noise_apply_on(bool is_vector, const struct wti_noise *noise,
			const struct wti_noise_key *key, uint32_t dtype, void *data, uint64_t first,
			uint64_t count, int64_t stride_bytes)
{
	const struct wti_noise_format *format = wti_noise_format(dtype);
	struct wti_noise_work work;
	uint8_t *at = data;

	if (!format || !(wti_noise_of_inputs(noise) || wti_noise_of_outputs(noise)) ||
	    !wti_noise_work_of(noise, key, format, &work))
		return;
	if (stride_bytes == format->bytes * format->parts) {
		apply_packed(&work, at, first * format->parts, count * format->parts, is_vector);
		return;
	}
	if (format->parts == 1) {
		wti_noise_plain(&work, at, first, count, stride_bytes);
		return;
	}
	for (uint64_t i = 0; i < count; i++, at += stride_bytes)
		wti_noise_plain(&work, at, (first + i) * 2, 2, format->bytes);
}

void wti_noise_apply(const struct wti_noise *noise, const struct wti_noise_key *key, uint32_t dtype,
		     void *data, uint64_t first, uint64_t count, int64_t stride_bytes)
{
	wti_noise_apply_on(count >= WTI_NOISE_GROUP && has_avx2(), noise, key, dtype, data, first,
			   count, stride_bytes);
}
