/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded program, recorded again in a process of its own. */
#ifndef WTI_CLI_JUDGE_AGAIN_H
#define WTI_CLI_JUDGE_AGAIN_H

#include <limits.h>
#include <stdbool.h>

#include "runs/rerun.h"

struct wti_again {
	const struct wti_rerun_plan *plan;
	const char *const *more; /* options of `record` after those of the plan; ends with NULL */
	char folder[PATH_MAX];   /* of the new run */
	/* Called from time to time while the program runs; true: the program is to end. NULL: not.
	 */
	bool (*look)(void *cookie);
	void *cookie;
};

/* A folder that is not there yet: BASE.rerun-N beside the run. */
int wti_again_folder(const char *base, char ret_folder[PATH_MAX], struct wt_err *err);
/* Waits for its end. The status of `record`, or an error: it could not be started. */
int wti_again_record(const struct wti_again *again, struct wt_err *err);

#endif
