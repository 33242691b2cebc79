/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of the preloaded library, the places of calls and the real functions. Works before any
 * constructor has run: whoever is called first reads the settings. errno is kept.
 */
#include "preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/meeting.h"
#include "trace/protocol.h"

enum { PLACES = 16 };

struct wti_preload wti_preload;
__thread uint32_t wti_preload_depth;

/* ---- Settings -------------------------------------------------------------------------------- */

static bool read_settings(void)
{
	struct wti_meeting meeting;
	const struct wti_noise *noise = &wti_preload.settings.noise;

	return wti_meeting_find(&meeting, secure_getenv(WTI_ENV)) && !meeting.is_other_protocol &&
	       wti_noise_settings_read(&meeting, &wti_preload.settings) &&
	       (wti_noise_of_inputs(noise) || wti_noise_of_outputs(noise));
}

bool wti_preload_begin(void)
{
	uint32_t expected = WTI_PRELOAD_NEW;
	const int saved_errno = errno;
	bool is_on;

	if (!environ) /* so early that libc has not found it: asked again at the next call */
		return false;
	if (!atomic_compare_exchange_strong(&wti_preload.stage, &expected, WTI_PRELOAD_READING))
		return expected == WTI_PRELOAD_ON;
	is_on = read_settings();
	atomic_store(&wti_preload.stage, is_on ? WTI_PRELOAD_ON : WTI_PRELOAD_OFF);
	errno = saved_errno;
	return is_on;
}

static __attribute__((constructor)) void begin(void)
{
	wti_preload_begin();
}

bool wti_taken_ask(struct wti_taken *taken)
{
	const bool is_perturbed =
		wti_noise_settings_want(&wti_preload.settings, taken->group, taken->name);

	atomic_store_explicit(&taken->use, is_perturbed ? WTI_TAKEN_PERTURBED : WTI_TAKEN_LEFT,
			      memory_order_relaxed);
	return is_perturbed;
}

/* ---- Real functions -------------------------------------------------------------------------- */

static const struct link_map *module_of(const void *place)
{
	struct link_map *module;
	Dl_info about;

	return dladdr1(place, &about, (void **)&module, RTLD_DL_LINKMAP) ? module : NULL;
}

/* As the module would have found it without us. */
static uintptr_t find_in(const char *path, const struct wti_taken *taken)
{
	void *handle = path && *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	uintptr_t real;

	if (!handle)
		return 0;
	real = (uintptr_t)dlsym(handle, taken->name);
	dlclose(handle);
	return real;
}

/* Also what was loaded for itself alone (RTLD_LOCAL), as BLAS by an extension of Python. */
static uintptr_t find_anywhere(const struct wti_taken *taken, const void *place)
{
	const struct link_map *module = module_of(place);
	const struct link_map *own = module_of(&wti_preload);
	uintptr_t real = find_in(module ? module->l_name : NULL, taken);

	for (const struct link_map *at = own; !real && at; at = at->l_next)
		if (at != own)
			real = find_in(at->l_name, taken);
	return real;
}

uintptr_t wti_taken_find(struct wti_taken *taken, const void *place)
{
	const int saved_errno = errno;
	uintptr_t real = (uintptr_t)dlsym(RTLD_NEXT, taken->name);

	if (!real)
		real = find_anywhere(taken, place);
	if (!real) /* whoever called it has seen our name only: there is no such function */
		__builtin_trap();
	atomic_store_explicit(&taken->real, real, memory_order_release);
	errno = saved_errno;
	return real;
}

/* ---- Places ---------------------------------------------------------------------------------- */

uint64_t wti_preload_mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
	a = (a ^ (a >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return a ^ (a >> 32);
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = wti_preload_mix(hash, (uint8_t)*text);
	return hash;
}

/* Module and offset; code that is in no module is all one place. */
static uint64_t place_number(const void *place)
{
	const struct link_map *module = module_of(place);
	const char *slash;

	if (!module)
		return 0;
	slash = strrchr(module->l_name, '/');
	return wti_preload_mix(mix_text(1, slash ? slash + 1 : module->l_name),
			       (uint64_t)place - module->l_addr);
}

static uint64_t name_number(struct wti_taken *taken)
{
	uint64_t number = atomic_load_explicit(&taken->number, memory_order_relaxed);

	if (number == 0) {
		number = mix_text(1, taken->name);
		atomic_store_explicit(&taken->number, number, memory_order_relaxed);
	}
	return number;
}

uint64_t wti_preload_site(const void *place, struct wti_taken *taken)
{
	static __thread struct {
		const void *place;
		uint64_t number;
	} recent[PLACES] __attribute__((tls_model("initial-exec")));
	const size_t i = ((uintptr_t)place >> 2) % PLACES;

	if (recent[i].place != place) {
		recent[i].place = NULL; /* a signal handler may call us, too */
		recent[i].number = place_number(place);
		recent[i].place = place;
	}
	return wti_preload_mix(recent[i].number, name_number(taken));
}
