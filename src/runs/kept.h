/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of runs that `clean` removed: the file .kept.jsonl beside the runs, a line a run
 * with its status, its tags, what run.json said of how it was started, its summary, and the hash of
 * every file that it had. It is only ever appended to.
 */
#ifndef WTI_RUNS_KEPT_H
#define WTI_RUNS_KEPT_H

#include "catalogue.h"

#define WTI_KEPT_FILE ".kept.jsonl" /* below the home */
#define WTI_KEPT_LINE_MAX ((size_t)64 << 20)

/* Appends a run of the catalogue, with its summary; to be removed only if this succeeded. */
int wti_kept_add(const char *home, const struct wti_catalogue_run *run,
		 const struct wti_run_summary *summary, struct wt_err *err);

/* A line of the file. Texts live as long as the call. */
struct wti_kept_run {
	struct wti_catalogue_run run;
	struct wti_run_summary summary;
	const struct wti_doc *setup; /* of run.json, as far as it is kept; or NULL */
};
/*
 * Lines from `*offset` on, which is left behind the last whole one. A line that cannot be read is
 * passed over. `take` returns other than 0 to end. No file: there are none.
 */
int wti_kept_read(const char *home, int64_t *offset,
		  int (*take)(void *self, const struct wti_kept_run *kept), void *self,
		  struct wt_err *err);
/* How long the file is; 0: there is none. */
int64_t wti_kept_bytes(const char *home);

#endif
