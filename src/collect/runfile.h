/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run's folder and its run.json.
 *
 * The folder is new or was empty, and belongs to whoever makes run.json in it first. While a
 * recorder works on it, it holds a lock (flock) on the folder itself, which ends with the recorder,
 * however that ends. The room for the last run.json is set aside before the program starts, so that
 * a full disk cannot keep it from being written.
 */
#ifndef WTI_COLLECT_RUNFILE_H
#define WTI_COLLECT_RUNFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <wheeltap/err.h>

#include "base/folder.h"
#include "base/json.h"

#define WTI_RUNFILE_NAMES_MAX 4

struct wti_runfile {
	char folder[PATH_MAX];  /* absolute */
	struct wti_folder made; /* what of it is to be taken back if nothing comes of it */
	int folder_fd;          /* holds the lock */
	int spare_fd;           /* room for the next run.json; -1: none */
	const char *names[WTI_RUNFILE_NAMES_MAX]; /* of the files that were made here */
	size_t name_count;
};

/* `folder` NULL: one is made under `base`, named after `stem` and the time. */
int wti_runfile_claim(struct wti_runfile *runfile, const char *folder, const char *base,
		      const char *stem, struct wt_err *err);
/* Replaces run.json as a whole. After a failure another text, a shorter one, can be tried. */
int wti_runfile_write(struct wti_runfile *runfile, const struct wti_buf *text, struct wt_err *err);
/* Sets room aside for the next one: at least `bytes`, or that is an error. */
int wti_runfile_reserve(struct wti_runfile *runfile, uint64_t bytes, struct wt_err *err);
/* Opens a new file of the folder, one that was not there; -1 with errno. The name stays. */
int wti_runfile_create(struct wti_runfile *runfile, const char *name);
/* Takes back a claim that came to nothing: removes what was made by the functions above. */
void wti_runfile_abandon(struct wti_runfile *runfile);
void wti_runfile_release(struct wti_runfile *runfile);

#endif
