/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random generators that are used, and whether their states differ. That is no difference by
 * itself: it may explain one.
 */
#ifndef WTI_DIVERGENCE_GENERATORS_H
#define WTI_DIVERGENCE_GENERATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WTI_GENERATORS 8u

struct wti_generator_state {
	char name[48];
	uint64_t times; /* that it was read, each time with another state */
	bool differs;
};

struct wti_generators {
	struct wti_generator_state all[WTI_GENERATORS];
	size_t count;
};

void wti_generators_take(struct wti_generators *generators, const char *name, bool differs);
/* "torch, numpy": those that are used and differ. */
void wti_generators_differing(const struct wti_generators *generators, char *out, size_t bytes);

#endif
