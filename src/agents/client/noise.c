/* SPDX-License-Identifier: Apache-2.0 */
/* Noise on arrays that the program names, as the recorder's settings say. */
#include "common/agent.h"

#include <string.h>

#include "digest/digest.h"
#include "noise/settings.h"

enum { SAMPLES = 64 };

static struct {
	_Atomic uint32_t stage; /* 0: nobody has looked, then enum */
	struct wti_noise_settings settings;
} state;

enum { LOOKING = 1, OFF, ON };

/* Once; meanwhile other threads do without. */
static bool is_on(void)
{
	uint32_t stage = atomic_load_explicit(&state.stage, memory_order_acquire);
	struct wti_guard guard;

	if (stage || !atomic_compare_exchange_strong(&state.stage, &stage, LOOKING))
		return stage == ON;
	wti_guard_begin(&guard);
	stage = wti_noise_settings_read(&wti_agent.meeting, &state.settings) ? ON : OFF;
	wti_guard_end(&guard);
	atomic_store_explicit(&state.stage, stage, memory_order_release);
	return stage == ON;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ (hash >> 29);
}

static uint64_t text_number(const char *text)
{
	uint64_t hash = 1;

	for (; *text; text++)
		hash = mix(hash, (uint8_t)*text);
	return hash;
}

/* A few elements and how many there are: no counter, so that threads do not matter. */
static uint64_t data_number(const uint8_t *data, uint64_t count, size_t bytes)
{
	const uint64_t step = count / SAMPLES + 1;
	uint64_t hash = mix(1, count);

	for (uint64_t i = 0; i < count; i += step) {
		uint64_t word[2] = {0};

		memcpy(word, data + i * bytes, bytes);
		hash = mix(mix(hash, word[0]), word[1]);
	}
	return hash;
}

bool wt_noise(struct wt_name *name, void *data, uint32_t dtype, uint32_t rank,
	      const size_t *extents)
{
	const size_t bytes = wti_dtype_bytes(dtype);
	struct wti_noise_key key = {0};
	uint64_t count = 1;

	if (!wti_recording() || !is_on() || !wti_noise_takes(dtype) ||
	    !wti_noise_settings_want(&state.settings, "client", name->text))
		return false;
	for (uint32_t i = 0; i < rank; i++)
		if (__builtin_mul_overflow(count, extents[i], &count))
			return false;
	key.site = text_number(name->text);
	key.call = data_number(data, count, bytes);
	wti_noise_apply(&state.settings.noise, &key, dtype, data, 0, count, (int64_t)bytes);
	return state.settings.noise.mode != WTI_NOISE_CANCELLATION;
}
