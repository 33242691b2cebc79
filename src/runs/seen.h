/* SPDX-License-Identifier: Apache-2.0 */
/* What a run did, for whoever compares runs: opens it, and knows which folders have names. */
#ifndef WTI_RUNS_SEEN_H
#define WTI_RUNS_SEEN_H

#include "finder.h"
#include "inspect/golden/golden.h"
#include "open.h"

struct wti_seen_run {
	struct wti_opened_run opened;
	struct wti_effects effects;
	char *recorded;            /* the expression by which system calls were chosen, or "all" */
	bool is_whole;             /* nothing damaged, nothing lost */
	struct wti_finder *finder; /* of stacks */
};

/* `word` as wti_run_find() takes it. Damage is noted in `result`. */
int wti_seen_open(const struct wti_front *front, const char *word, struct wti_seen_run *ret_seen,
		  struct wt_result *result, struct wt_err *err);
void wti_seen_close(struct wti_seen_run *seen);
/* Several at once, that can be made a golden of: fit, and recorded in the same way. To be closed
 * and freed by wti_seen_close_all(). */
int wti_seen_open_all(const struct wti_front *front, const char *const *words, size_t count,
		      struct wti_seen_run **ret_runs, struct wt_result *result, struct wt_err *err);
void wti_seen_close_all(struct wti_seen_run *runs, size_t count);
/* Finds the place of a stack in the source of the run; valid as long as `seen`. */
struct wti_locator wti_seen_locator(const struct wti_seen_run *seen);
/* True, with a note that says why, if the run may have done more than was seen. */
bool wti_seen_doubt(const struct wti_seen_run *seen, struct wt_result *result);
/* An error that says what to do if goldens cannot be made of or held against this run. */
int wti_seen_fit(const struct wti_seen_run *seen, struct wt_err *err);

#endif
