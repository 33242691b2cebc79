/* SPDX-License-Identifier: Apache-2.0 */
/* Two more recordings of one step: see narrow.h. */
#include "narrow.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "again.h"

#define MODULES "--modules="

bool wti_narrow_helps(const struct wti_compared_runs *runs)
{
	const struct wti_first_difference *first = wti_divergence_first(&runs->report);

	return first && first->how != WTI_BEGINS_ORDER;
}

bool wti_narrow_needed(const struct wti_compared_runs *runs)
{
	const struct wti_first_difference *first = wti_divergence_first(&runs->report);

	if (!first || !*first->file) /* of a program in C there is no more to be recorded */
		return false;
	switch (first->how) {
	case WTI_BEGINS_INPUT:
	case WTI_BEGINS_STATE:
	case WTI_BEGINS_UNSEEN:
		return true;
	case WTI_BEGINS_OUTPUT: /* a module, a step, a loader: something inside it */
		return first->action != WT_ACTION_NONE && first->kind == WTI_COMPUTED_CALL;
	default:
		return false;
	}
}

/* The last such option counts: what the run was recorded with stays in. */
static void add_modules(const struct wti_rerun_plan *plan, char *out, size_t bytes)
{
	const char *modules = "torch";

	for (size_t i = 0; plan->options && plan->options[i]; i++)
		if (!strncmp(plan->options[i], MODULES, strlen(MODULES)))
			modules = plan->options[i] + strlen(MODULES);
	snprintf(out, bytes, MODULES "%s,numpy,scipy", modules);
}

static void set_window(const struct wti_first_difference *first, char *out, size_t bytes)
{
	int64_t last = first->step < 0 ? 0 : first->step;
	int64_t from = first->how != WTI_BEGINS_OUTPUT && last ? last - 1 : last;

	if (first->after_step >= 0 && first->after_step < from) /* steps between were omitted */
		from = first->after_step;
	snprintf(out, bytes, "--sample=steps=%" PRId64 "-%" PRId64, from, last);
}

int wti_narrow(const struct wti_front *front, const struct wti_rerun_plan *plan, const char *base,
	       const struct wti_first_difference *first, struct wti_compared_runs *ret_runs,
	       struct wt_result *result, struct wt_err *err)
{
	struct wti_again again[2] = {{.plan = plan}, {.plan = plan}};
	const char *const words[] = {again[0].folder, again[1].folder};
	char window[64], modules[512];
	const char *const more[] = {
		"--detail=full", "--operators=outputs", "--tensors=full", modules, window, NULL};

	add_modules(plan, modules, sizeof(modules));
	set_window(first, window, sizeof(window));
	for (size_t i = 0; i < 2; i++) {
		int r = wti_again_folder(base, again[i].folder, err);

		again[i].more = more;
		r = r ? r : wti_again_record(&again[i], err);
		if (r == 128 + SIGINT)
			r = wti_err(err, WT_E_MISSING, "the program was interrupted");
		if (r < 0)
			return r;
	}
	/* What differs elsewhere was seen to be overwritten: else it would have been the first. */
	return wti_compare_tensors(
		front, words,
		&(struct wti_within_line){.file = first->how == WTI_BEGINS_OUTPUT && *first->file
							  ? first->file
							  : NULL,
					  .line = first->line,
					  .is_yours = true},
		ret_runs, result, err);
}
