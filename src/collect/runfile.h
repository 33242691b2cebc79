/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run's folder and its run.json.
 *
 * The folder belongs to whoever makes run.json in it first. While a recorder works on it, it holds
 * a lock (flock) on the folder itself, which ends with the recorder, however that ends. The room
 * for the last run.json is set aside at the start, so that a full disk cannot keep it from being
 * written.
 */
#ifndef WTI_COLLECT_RUNFILE_H
#define WTI_COLLECT_RUNFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <wheeltap/err.h>

#include "base/json.h"

struct wti_runfile {
	char folder[PATH_MAX]; /* absolute */
	int folder_fd;         /* holds the lock */
	int spare_fd;          /* room for the next run.json; -1: none */
};

/* `folder` NULL: one is made under `base`, named after `stem` and the time. */
int wti_runfile_claim(struct wti_runfile *runfile, const char *folder, const char *base,
		      const char *stem, struct wt_err *err);
/* Replaces run.json as a whole. */
int wti_runfile_write(struct wti_runfile *runfile, const struct wti_buf *text, bool last,
		      struct wt_err *err);
/* Opens a new file of the folder; -1 with errno. */
int wti_runfile_create(const struct wti_runfile *runfile, const char *name);
/* Takes back a claim that came to nothing: removes what was made. */
void wti_runfile_abandon(struct wti_runfile *runfile);
void wti_runfile_release(struct wti_runfile *runfile);

#endif
