/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values by what they hold, and in which run they have been: a tensor by its hash, a number by its
 * bits. Which are asked for is known before, so that a run of any length takes no more memory than
 * the question.
 */
#ifndef WTI_DIVERGENCE_KNOWN_H
#define WTI_DIVERGENCE_KNOWN_H

#include "base/map.h"
#include "inspect/training/calls.h"

#define WTI_VALUE_UNREAD UINT64_MAX

/* 0: it is no value that an operation could take from another. */
uint64_t wti_known_key(const struct wti_value_row *value);

/*
 * Sets `flag` for those of `values` (by key) that occur in the run, and `flag_beside` for those
 * that occur on a track which is not in `tracks` (by stream << 32 | track).
 */
struct wti_known_flags {
	uint64_t flag, flag_beside;
	const struct wti_map *tracks; /* NULL: nothing is asked of them */
};
int wti_known_scan(const struct wt_trace *trace, struct wti_map *values,
		   const struct wti_known_flags *flags, struct wt_err *err);

#endif
