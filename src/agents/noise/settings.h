/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorder has left for agents about noise: mode, seed, and where. */
#ifndef WTI_AGENTS_NOISE_SETTINGS_H
#define WTI_AGENTS_NOISE_SETTINGS_H

#include <stdbool.h>

#include "noise.h"

struct wti_meeting;

enum { WTI_NOISE_PATTERNS_BYTES = 8192 };

struct wti_noise_settings {
	struct wti_noise noise;
	char only[WTI_NOISE_PATTERNS_BYTES]; /* patterns separated by commas; empty: all */
	char skip[WTI_NOISE_PATTERNS_BYTES];
};

#pragma GCC visibility push(hidden)

/* False: there is no noise. errno may change. */
bool wti_noise_settings_read(const struct wti_meeting *meeting, struct wti_noise_settings *ret);
/* Do the patterns want it? "libm" and "sin" against "libm.sin", "libm.s*", "*". */
bool wti_noise_settings_want(const struct wti_noise_settings *settings, const char *group,
			     const char *name);

#pragma GCC visibility pop

#endif
