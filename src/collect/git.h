/* SPDX-License-Identifier: Apache-2.0 */
/* Which commit the program was run from, and whether the tree was changed since. */
#ifndef WTI_COLLECT_GIT_H
#define WTI_COLLECT_GIT_H

#include <stdbool.h>
#include <stdint.h>

struct wti_git {
	bool found;       /* a repository, and git answered in time */
	bool dirty;       /* files under control differ from the commit */
	bool dirty_known; /* false: none that was looked at does, but it was not all of them */
	char commit[65];
	char branch[256];   /* empty: none is checked out, or not known */
	char diff_hash[33]; /* of what differs (git_diff.h); empty: nothing does, or not known */
};

/*
 * In the current folder, if a repository is around it; for at most about two seconds. Nothing that
 * the repository is configured with is run.
 */
void wti_git_look(struct wti_git *git, char *const *environment);

#endif
