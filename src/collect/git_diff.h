/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the files under git's control differ from the commit, by their bytes: no filter is run and no
 * line end converted, as both would be programs and settings of the repository's.
 */
#ifndef WTI_COLLECT_GIT_DIFF_H
#define WTI_COLLECT_GIT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "git_ask.h"

struct wti_git_diff {
	uint64_t count;   /* of files that differ */
	uint64_t hash[2]; /* of all their paths, modes and contents, in whatever order */
	bool is_whole;    /* all were looked at in time */
};

/* `top` is the folder of the work tree, `index` the path of the index, both from where we are. */
void wti_git_diff_look(struct wti_git_diff *diff, const struct wti_git_asker *asker,
		       const char *top, const char *index, size_t id_bytes);

#endif
