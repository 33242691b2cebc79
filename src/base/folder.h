/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders that are filled by us alone: a run's. One that has anything in it is refused before
 * anything is written, and what could not be filled is taken back, but never what was there before.
 */
#ifndef WTI_BASE_FOLDER_H
#define WTI_BASE_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include <wheeltap/err.h>

struct wti_folder {
	char path[PATH_MAX]; /* as it was given */
	size_t kept_bytes;   /* of the path: the part that was there before; all of it, or less */
	mode_t mode;         /* of a folder that was there, if it was changed; 0: it was not */
};

/*
 * Makes the folder and its parents (0700), or takes one that is there and empty, which becomes
 * 0700, too. WT_E_EXISTS if there is anything in it.
 */
int wti_folder_make(struct wti_folder *folder, const char *path, struct wt_err *err);
/* Removes the folders that were made, as far as they are empty, and gives back the old mode. */
void wti_folder_unmake(const struct wti_folder *folder);

#endif
