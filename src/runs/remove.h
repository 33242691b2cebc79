/* SPDX-License-Identifier: Apache-2.0 */
/* Removing a run: only what is one of ours, is not being recorded, and holds nothing else. */
#ifndef WTI_RUNS_REMOVE_H
#define WTI_RUNS_REMOVE_H

#include "run.h"

/* Looked at again right before: a link or a run that has started since is left alone, and one of
 * another host unless `elsewhere` says that it has ended there. */
int wti_run_remove(const struct wti_run *run, bool elsewhere, struct wt_err *err);
/* The folder of a run as a user names it. Nothing is there: that is well. */
int wti_run_replace(const char *folder, struct wt_err *err);
/* WT_E_ARG if there is anything in the folder that no recorder makes. */
int wti_run_holds_only_ours(const char *folder, struct wt_err *err);

#endif
