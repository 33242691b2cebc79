/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the library is set in both runs (threads, precision, deterministic algorithms, autocast), as
 * it is now. That a setting differs is no difference of results: it may explain one.
 */
#ifndef WTI_DIVERGENCE_SETTINGS_H
#define WTI_DIVERGENCE_SETTINGS_H

#include "course.h"

#define WTI_SETTINGS 32u /* of which values are kept */

struct wti_library_setting {
	char name[48];
	char values[2][32]; /* of A and of B; "" where it was not read yet */
};

struct wti_library_settings {
	struct wti_library_setting all[WTI_SETTINGS];
	size_t count;
};

void wti_settings_take(struct wti_library_settings *settings, unsigned run,
		       const struct wti_course *course, const struct wti_computed *item);
/* "torch.num_threads 1 and 2, ...": those that differ now. */
void wti_settings_differing(const struct wti_library_settings *settings, char *out, size_t bytes);

#endif
