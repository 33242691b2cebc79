/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first step at which the values of two runs part: counters, settings, and the hashes of
 * parameters and gradients. A table of a result, `parting`: one row for each value of that step.
 */
#ifndef WTI_EFFECTS_PART_H
#define WTI_EFFECTS_PART_H

#include <wheeltap/inspect.h>
#include <wheeltap/trace.h>

#define WTI_PART_BEFORE (-1) /* the first step */

struct wti_parting {
	uint64_t compared; /* values of a step that both runs have */
	bool is_parted;
	int64_t step;
	uint64_t count; /* values that differ in that step */
};

int wti_part(const struct wt_trace *a, const struct wt_trace *b, struct wt_result *result,
	     struct wti_parting *ret_parting, struct wt_err *err);

#endif
