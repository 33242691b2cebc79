/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of one run from which nothing was computed, so far: what is left at the end are its
 * results. Elements are copied, since those of a run are kept for a window only.
 */
#ifndef WTI_DIGITS_UNUSED_H
#define WTI_DIGITS_UNUSED_H

#include "base/map.h"
#include "lane.h"

struct wti_unused_value {
	char *key; /* as of wti_value_key(); NULL: it was used */
	uint64_t occurrence;
	int64_t step;
	struct wti_sampled value;
	bool is_taken; /* it has found its partner */
};

struct wti_unused {
	struct wti_unused_value *all;
	size_t count, capacity;
	size_t bytes;
	struct wti_map by_hash; /* number plus one */
	uint64_t left_out;      /* there was no room */
};

void wti_unused_init(struct wti_unused *unused);
void wti_unused_release(struct wti_unused *unused);
int wti_unused_add(struct wti_unused *unused, const char *key, uint64_t occurrence, int64_t step,
		   const struct wti_sampled *value);
/* Something is computed from the value of that hash. */
void wti_unused_use(struct wti_unused *unused, uint64_t hash);

#endif
