/* SPDX-License-Identifier: Apache-2.0 */
/* What run.json says about a run (docs/recording.md). */
#ifndef WTI_RUNS_RUNJSON_H
#define WTI_RUNS_RUNJSON_H

#include "base/doc.h"
#include "run.h"

/* The whole of it; NULL if there is none. */
int wti_runjson_read(const char *folder, struct wti_doc **ret_root, struct wt_err *err);
/* Fills in what is there. One that is damaged or none of ours leaves `run` as it is: its events may
 * still be read. */
int wti_runjson_load(const char *folder, struct wti_run *run, struct wt_err *err);
/* The host that recorded it, or still does, if a lock here does not say which; NULL: it does. */
const char *wti_runjson_elsewhere(const struct wti_doc *root);

/* A word as a shell would take it. */
void wti_runjson_word(struct wti_buf *out, const char *word);
/* The words of a command as a shell would take them; NULL: out of memory. */
char *wti_runjson_command(const struct wti_doc *words);

#endif
