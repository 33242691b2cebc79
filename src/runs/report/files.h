/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that a run read and wrote, as its system calls show them, with their size and SHA-256 as
 * they are now. A file that has changed since the run is marked: its hash is not that of the run.
 */
#ifndef WTI_RUNS_REPORT_FILES_H
#define WTI_RUNS_REPORT_FILES_H

#include "section.h"

enum wti_files_which { WTI_FILES_READ, WTI_FILES_WRITTEN };

/* A table `read_files` or `written_files`; without system calls it is not recorded. */
int wti_files_add(struct wti_report_source *source, enum wti_files_which which,
		  struct wt_result *result, struct wt_err *err);
/* Cells size, SHA-256 and how it stands with the file, for a row of any table. */
void wti_files_columns(struct wt_table *table);
void wti_files_cells(const struct wti_report_source *source, struct wt_table *table,
		     const char *path);

#endif
