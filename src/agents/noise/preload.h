/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The preloaded library: what its parts share.
 *
 *	preload.c  settings, the place of a call, finding the functions that were taken over
 *	libm.c     the elementary functions
 *	blas.c     BLAS and LAPACK
 *
 * The random numbers of a call are keyed by the place in the program (module and offset, so that it
 * is the same in every process) and by what the function computed with. So the same call gives the
 * same result again within a run, as a library does, and no counter is needed: nothing depends on
 * the number or the order of threads.
 */
#ifndef WTI_AGENTS_NOISE_PRELOAD_H
#define WTI_AGENTS_NOISE_PRELOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "settings.h"

#pragma GCC visibility push(hidden)

/* The one state of the library. */
struct wti_preload {
	_Atomic uint32_t stage; /* enum wti_preload_stage */
	struct wti_noise_settings settings;
};

enum wti_preload_stage {
	WTI_PRELOAD_NEW,
	WTI_PRELOAD_READING, /* a thread reads the settings; others compute as if there were none */
	WTI_PRELOAD_OFF,
	WTI_PRELOAD_ON,
};

extern struct wti_preload wti_preload;
/* Within a function that we took over: what it calls itself is not perturbed again. */
extern __thread uint32_t wti_preload_depth __attribute__((tls_model("initial-exec")));

/* A function that was taken over; all zero but for its name at first. */
struct wti_taken {
	const char *name;
	const char *group;       /* "libm", "blas": what its patterns begin with */
	_Atomic uintptr_t real;  /* 0: not looked for yet */
	_Atomic uint32_t use;    /* enum wti_taken_use */
	_Atomic uint64_t number; /* of the name; 0: not computed yet */
};

enum wti_taken_use {
	WTI_TAKEN_NEW,
	WTI_TAKEN_PERTURBED,
	WTI_TAKEN_LEFT, /* by the patterns */
};

/* The real function. `place`: where it was called from. */
uintptr_t wti_taken_find(struct wti_taken *taken, const void *place);
bool wti_taken_ask(struct wti_taken *taken);
/* Reads the settings, if that was not done; is there noise? */
bool wti_preload_begin(void);
/* The place of a call as a number that is the same in every process. */
uint64_t wti_preload_site(const void *place, struct wti_taken *taken);
uint64_t wti_preload_mix(uint64_t a, uint64_t b);

#pragma GCC visibility pop

static inline uintptr_t wti_taken_real(struct wti_taken *taken, const void *place)
{
	const uintptr_t real = atomic_load_explicit(&taken->real, memory_order_acquire);

	return __builtin_expect(real != 0, 1) ? real : wti_taken_find(taken, place);
}

static inline bool wti_taken_is_perturbed(struct wti_taken *taken)
{
	const uint32_t stage = atomic_load_explicit(&wti_preload.stage, memory_order_acquire);
	uint32_t use;

	if (__builtin_expect(stage != WTI_PRELOAD_ON, 1) &&
	    (stage != WTI_PRELOAD_NEW || !wti_preload_begin()))
		return false;
	if (wti_preload_depth)
		return false;
	use = atomic_load_explicit(&taken->use, memory_order_relaxed);
	return use == WTI_TAKEN_NEW ? wti_taken_ask(taken) : use == WTI_TAKEN_PERTURBED;
}

#endif
