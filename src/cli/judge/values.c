/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the file, compares, says what was not compared: see values.h. */
#include "values.h"

int wti_judge_values(const char *path, const struct wti_opened_run *const runs[2],
		     struct wt_result *result, struct wti_within *ret_within, struct wt_err *err)
{
	const struct wti_digits_run both[] = {{.trace = runs[0]->trace, .name = runs[0]->run.name},
					      {.trace = runs[1]->trace, .name = runs[1]->run.name}};
	struct wti_tolerances tolerances;
	int r = wti_tolerances_read(path, &tolerances, err);

	if (r)
		return r;
	r = wti_digits_within(both, &tolerances, result, ret_within, err);
	wti_tolerances_release(&tolerances);
	wt_result_fact_count(result, "values_compared", "", WT_CELL_COUNT, ret_within->compared);
	wt_result_fact_count(result, "values_outside", "", WT_CELL_COUNT, ret_within->outside);
	wt_result_fact_count(result, "values_not_compared", "", WT_CELL_COUNT,
			     ret_within->not_compared);
	if (ret_within->not_compared)
		wt_result_note(result,
			       "%llu results were not compared: only one of the runs has them",
			       (unsigned long long)ret_within->not_compared);
	if (ret_within->unknown)
		wt_result_note(result, "'%s' has no tolerance for %llu values that were recorded",
			       path, (unsigned long long)ret_within->unknown);
	if (ret_within->unsampled)
		wt_result_note(result,
			       "%llu values have other bits, and no elements of them were kept to "
			       "compare: record both runs with --elements 256",
			       (unsigned long long)ret_within->unsampled);
	if (!r && !ret_within->compared)
		wt_result_note(result, "no value of the runs has a tolerance in '%s'", path);
	return r;
}

/* Only if all was compared: what has no tolerance, or no elements, differs as its bits do. */
int wti_tolerate(const char *path, struct wti_compared_runs *runs, struct wt_result *result,
		 struct wt_err *err)
{
	const struct wti_opened_run *const both[] = {&runs->runs[0], &runs->runs[1]};
	struct wti_within within = {0};
	int r;

	if (!path || runs->report.verdict != WTI_REPEAT_DIFFERENT)
		return 0;
	r = wti_judge_values(path, both, result, &within, err);
	if (r)
		return r;
	if (within.compared && !within.outside && !within.unknown && !within.unsampled &&
	    !within.not_compared) {
		runs->report.verdict = WTI_REPEAT_WITHIN;
		wt_result_set_status(result, "within");
	}
	return 0;
}
