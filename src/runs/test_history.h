/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of runs: the rows of one, and what became of each test over many. A test is flaky if it
 * both passed and failed at the same commit, with the same changes to it and the same
 * configuration: then nothing that a person changed explains it. Without a commit nobody knows
 * that.
 */
#ifndef WTI_RUNS_TEST_HISTORY_H
#define WTI_RUNS_TEST_HISTORY_H

#include "run_filter.h"

struct wti_test_options {
	bool failed_only; /* and errors */
	bool flaky_only;  /* of histories */
};

/*
 * Of one run: a table `tests`, and facts of how many passed. `word` as wti_run_find() takes it.
 * *ret_failed: how many failed or could not be completed. The status of the result is clean,
 * findings, or not_measured if the run has none.
 */
int wti_tests_of_run(const struct wti_front *front, const char *word,
		     const struct wti_test_options *options, struct wt_result *result,
		     struct wt_err *err);
/* Of all runs that the filters leave: a table `history`, a row a test. */
int wti_test_history(const struct wti_front *front, char **filters, size_t count,
		     const struct wti_test_options *options, struct wt_result *result,
		     struct wt_err *err);

#endif
