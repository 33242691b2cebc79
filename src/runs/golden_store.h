/* SPDX-License-Identifier: Apache-2.0 */
/* Goldens as files: a folder of texts, meant for a repository. */
#ifndef WTI_RUNS_GOLDEN_STORE_H
#define WTI_RUNS_GOLDEN_STORE_H

#include <sys/types.h>

#include "inspect/golden/golden.h"

#define WTI_GOLDEN_FOLDER "goldens"

/* FOLDER/NAME.toml, or the name itself if it is a path or ends in .toml. To be freed; NULL: no
 * memory. */
char *wti_golden_path(const char *folder, const char *name);
/* WT_E_MISSING: there is none. */
int wti_golden_load(const char *path, struct wti_golden *ret_golden, struct wt_err *err);
/* Replaces the file and makes its folder. `mask`: the rights that others are not to have, as umask
 * says. */
int wti_golden_save(const char *path, const struct wti_golden *golden, mode_t mask,
		    struct wt_err *err);

#endif
