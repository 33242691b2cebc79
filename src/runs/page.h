/* SPDX-License-Identifier: Apache-2.0 */
/* A whole run as one result, for a page that a browser shows (show/page). */
#ifndef WTI_RUNS_PAGE_H
#define WTI_RUNS_PAGE_H

#include "open.h"

/* What `info`, `stat` and `timeline` report of the window, into a result that has been initialized.
 */
int wti_run_page(const struct wti_front *front, const struct wti_opened_run *opened,
		 int64_t from_ns, int64_t to_ns, struct wt_result *result, struct wt_err *err);

#endif
