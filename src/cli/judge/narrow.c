/* SPDX-License-Identifier: Apache-2.0 */
/* Two more recordings of one step: see narrow.h. */
#include "narrow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "again.h"

bool wti_narrow_helps(const struct wti_compared_runs *runs)
{
	const struct wti_first_difference *first = wti_divergence_first(&runs->report);

	return first && first->how != WTI_BEGINS_ORDER;
}

int wti_narrow(const struct wti_front *front, const struct wti_rerun_plan *plan, const char *base,
	       const struct wti_first_difference *first, struct wti_compared_runs *ret_runs,
	       struct wt_result *result, struct wt_err *err)
{
	int64_t step = first->step < 0 ? 0 : first->step;
	struct wti_again again[2] = {{.plan = plan}, {.plan = plan}};
	const char *const words[] = {again[0].folder, again[1].folder};
	char window[64];
	const char *const more[] = {"--detail=full", "--operators=outputs", "--tensors=full",
				    window, NULL};

	snprintf(window, sizeof(window), "--sample=steps=%" PRId64 "-%" PRId64, step, step);
	for (size_t i = 0; i < 2; i++) {
		int r = wti_again_folder(base, again[i].folder, err);

		again[i].more = more;
		r = r ? r : wti_again_record(&again[i], err);
		if (r < 0)
			return r;
	}
	/* What differs elsewhere was seen to be overwritten: else it would have been the first. */
	return wti_compare_tensors(
		front, words,
		&(struct wti_within_line){
			first->how == WTI_BEGINS_OUTPUT && *first->file ? first->file : NULL,
			first->line},
		ret_runs, result, err);
}
