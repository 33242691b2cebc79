/* SPDX-License-Identifier: Apache-2.0 */
/* How a run ended, in one sentence: what verbs that judge it begin with. */
#ifndef WTI_RUNS_ENDING_H
#define WTI_RUNS_ENDING_H

#include "base/buf.h"
#include "run.h"

/* `step`: the last one that the trace knows of, from 0; negative: none. `steps`: how many there
 * were. Nothing but a line, and one more of a trace that is damaged. */
void wti_ending_text(struct wti_buf *out, const struct wti_run *run, int64_t step, uint64_t steps,
		     bool is_damaged);
/* What ended a run that ended early: "exit status 1, ValueError at train.py:12", "signal 9
 * (Killed)". False: that is not known, or it did not end early. */
bool wti_ending_cause(struct wti_buf *out, const struct wti_run *run);
/* Whether it did less than it would have: what was not found until then is no clean run. One that
 * still goes on has not ended. */
bool wti_ended_early(const char *status);

/* "failed with exit status 127", "was killed by signal 9 (Killed)": of a run that ended early. */
void wti_ending_words(struct wti_buf *out, const struct wti_run *run);

#endif
