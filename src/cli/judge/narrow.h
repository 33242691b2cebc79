/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was not seen at the recorded level: the program is recorded twice more, in every detail,
 * with the calls of numpy and scipy and with the contents of tensors, but only in the step in which
 * the first difference was seen, and in the one before where what made it was not.
 */
#ifndef WTI_CLI_JUDGE_NARROW_H
#define WTI_CLI_JUDGE_NARROW_H

#include "runs/divergence_runs.h"
#include "runs/rerun.h"

/* Whether there is more to be seen: what differs, or by how much, was not. */
bool wti_narrow_helps(const struct wti_compared_runs *runs);
/* Whether the origin itself was not seen: it lies below the recorded level, or inside a call. */
bool wti_narrow_needed(const struct wti_compared_runs *runs);
/* `base` as of wti_again_folder(). The result is that of the two new runs. */
int wti_narrow(const struct wti_front *front, const struct wti_rerun_plan *plan, const char *base,
	       const struct wti_first_difference *first, struct wti_compared_runs *ret_runs,
	       struct wt_result *result, struct wt_err *err);

#endif
