/* SPDX-License-Identifier: Apache-2.0 */
/* Which commit the program was run from, and whether the tree was changed since. */
#ifndef WTI_COLLECT_GIT_H
#define WTI_COLLECT_GIT_H

#include <stdbool.h>
#include <stdint.h>

struct wti_git {
	bool found;      /* a repository, and git answered in time */
	bool dirty;      /* files under control differ from the commit */
	bool diff_known; /* false: git did not finish in time */
	char commit[65];
	char diff_hash[33]; /* XXH3-128 of the output of `git diff HEAD`, if dirty */
};

/* Runs git in the current folder, if a repository is around it; at most about two seconds. */
void wti_git_look(struct wti_git *git, char *const *environment);

#endif
