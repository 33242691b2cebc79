/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which runs a golden can be held against. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "golden_runs.h"

#define DEVIATING_MAX (1u << 17)

int wti_golden_of_runs(struct wti_golden *golden, const char *name, struct wti_seen_run *runs,
		       size_t count, bool with_times, struct wt_err *err)
{
	struct wti_golden_options options = {
		.name = name, .recorded = runs[0].recorded, .with_times = with_times};
	struct wti_effects *effects = calloc(count, sizeof(*effects));
	int r;

	if (!effects)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		effects[i] = runs[i].effects;
	r = wti_golden_learn(golden, effects, count, &options, err);
	for (size_t i = 0; i < count; i++) /* things may have got other names */
		runs[i].effects = effects[i];
	free(effects);
	return r;
}

/* A golden that speaks of other calls or another machine cannot be compared with. */
static int fits(const struct wti_golden *golden, const char *path, const struct wti_seen_run *run,
		struct wt_err *err)
{
	if (golden->arch && *golden->arch && strcmp(golden->arch, run->effects.arch))
		return wti_err(err, WT_E_FORMAT,
			       "'%s' was made on %s and '%s' was recorded on %s: make a golden for "
			       "this machine",
			       path, golden->arch, run->opened.run.name, run->effects.arch);
	if (strcmp(golden->recorded, run->recorded))
		return wti_err(err, WT_E_FORMAT,
			       "'%s' was made from runs recorded with --syscalls=%s, and '%s' was "
			       "recorded with %s: record it in the same way",
			       path, golden->recorded, run->opened.run.name, run->recorded);
	return 0;
}

int wti_golden_compare(const struct wti_golden *golden, const char *path, struct wti_seen_run *run,
		       struct wti_map *ret_deviating, struct wt_result *result, struct wt_err *err)
{
	struct wti_locator locator = wti_seen_locator(run);
	int r = fits(golden, path, run, err);

	r = r ? r : wti_golden_adapt(golden, &run->effects, err);
	return r ? r
		 : wti_golden_check(golden, &run->effects, &locator, result, ret_deviating, err);
}

int wti_golden_accept_runs(struct wti_golden *golden, const char *path, struct wti_seen_run *runs,
			   size_t count, size_t *ret_deviating_count, struct wt_result *result,
			   struct wt_err *err)
{
	struct wti_map deviating;
	struct wti_golden fresh;
	int r = 0;

	wti_map_init(&deviating, DEVIATING_MAX);
	wti_golden_init(&fresh);
	for (size_t i = 0; i < count && !r; i++)
		r = wti_golden_compare(golden, path, &runs[i], &deviating, result, err);
	r = r ? r
	      : wti_golden_of_runs(&fresh, golden->name ? golden->name : "", runs, count,
				   golden->has_times, err);
	r = r ? r : wti_golden_accept(golden, &fresh, &deviating, err);
	if (!r)
		*ret_deviating_count = deviating.count;
	wti_golden_release(&fresh);
	wti_map_release(&deviating);
	return r;
}
