/* SPDX-License-Identifier: Apache-2.0 */
/* A run that is made of tests alone, as another program reported them. */
#ifndef WTI_CONVERT_TEST_RUN_H
#define WTI_CONVERT_TEST_RUN_H

#include "inspect/summary/tests.h"

/*
 * Makes the folder, with a stream of events `check` and a run.json: failed if a test did, else
 * finished. `source` is where the tests came from, `start_ns` since 1970 when they ran. What was
 * begun is taken back if it cannot be completed.
 */
int wti_test_run_write(const char *folder, const char *source, int64_t start_ns,
		       const struct wti_tests *tests, struct wt_err *err);

#endif
