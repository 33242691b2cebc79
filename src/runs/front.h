/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a front end (the command line, the dashboard, the Python package) provides: where things
 * are, as nothing here reads the environment, and who wants to see how far the work is.
 */
#ifndef WTI_RUNS_FRONT_H
#define WTI_RUNS_FRONT_H

#include <limits.h>

struct wti_front {
	const char *home;       /* the folder of runs */
	const char *user_home;  /* the person's, $HOME in goldens; NULL: not known */
	const char *config;     /* wheeltap.toml: suppressions and thresholds; NULL: none is read */
	char program[PATH_MAX]; /* beside which packs are installed; empty: not known */
	/* How far a run is read: 0 first, then up to 1, and WTI_PROGRESS_OVER last. NULL: unseen.
	 */
	void (*progress)(void *cookie, double share);
	void *cookie;
};

#define WTI_PROGRESS_OVER (-1.0)

/* The same, where nobody may look on. */
static inline void wti_front_progress(const struct wti_front *front, double share)
{
	if (front->progress)
		front->progress(front->cookie, share);
}

#endif
