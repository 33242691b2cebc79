/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two runs side by side, as three tables of a result: what they did to the world (`effects`), how
 * often (`counts`), and in which order (`order`, rows as in a patch). What depends on the moment
 * (memory, waiting, channels) is in `noise`, and is no difference.
 */
#ifndef WTI_EFFECTS_DIFF_H
#define WTI_EFFECTS_DIFF_H

#include "inspect/world/act_order.h"
#include "inspect/world/effects.h"
#include "inspect/world/exactness.h"

struct wti_diff_options {
	bool raw;                        /* names as they were, not as they are in every run */
	uint64_t context;                /* acts shown around those that differ */
	const struct wti_locator *a, *b; /* or NULL */
};

/* How many differences there are. */
struct wti_difference {
	uint64_t effects, counts, order, values;
};

int wti_diff(const struct wti_effects *a, const struct wti_effects *b,
	     const struct wti_diff_options *options, struct wt_result *result,
	     struct wti_difference *ret_difference, struct wt_err *err);

/* Between diff.c and diff_order.c. */
int wti_diff_order(const struct wti_effects *a, const struct wti_effects *b,
		   const struct wti_diff_options *options, struct wt_result *result,
		   uint64_t *ret_count, struct wt_err *err);

#endif
