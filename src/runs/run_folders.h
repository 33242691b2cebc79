/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folders of runs below the home, by the time at which each was last written: with thousands of
 * runs, whoever looks for one of them cannot read them all.
 */
#ifndef WTI_RUNS_RUN_FOLDERS_H
#define WTI_RUNS_RUN_FOLDERS_H

#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

struct wti_run_folder {
	char *path;
	int64_t written_ns; /* of its run.json, or set.json */
};

struct wti_run_folders {
	struct wti_run_folder *items;
	size_t count, capacity;
};

/* The last written first. No home is no error. */
int wti_run_folders(const char *home, struct wti_run_folders *ret_folders, struct wt_err *err);
void wti_run_folders_release(struct wti_run_folders *folders);

#endif
