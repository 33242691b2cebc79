/* SPDX-License-Identifier: Apache-2.0 */
/* What whoever reads a run does first and last: open it, and note what is damaged. */
#ifndef WTI_RUNS_OPEN_H
#define WTI_RUNS_OPEN_H

#include <wheeltap/inspect.h>

#include "run.h"

struct wti_opened_run {
	struct wti_run run;
	struct wt_trace *trace;
};

/* `word` as wti_run_find() takes it. */
int wti_open(const struct wti_front *front, const char *word, struct wti_opened_run *ret_opened,
	     struct wt_err *err);
void wti_close(struct wti_opened_run *opened);

/* A note for each stream that is damaged, missing or could not be opened; how many that were. */
size_t wti_note_damage(const struct wti_opened_run *opened, struct wt_result *result);

/* A note that says what went wrong, with the path unless the message has it. */
void wti_note_error(struct wt_result *result, const char *path, const struct wt_err *err);

#endif
