/* SPDX-License-Identifier: Apache-2.0 */
/* A run judged while it is recorded: watched by the inspector `check`, with suppressions and
 * thresholds as an examination has them. */
#ifndef WTI_RUNS_LIVE_H
#define WTI_RUNS_LIVE_H

#include "front.h"
#include "inspect/learn/pack.h"
#include "watch.h"

struct wti_live_check;

struct wti_live_options {
	const struct wti_pack *pack; /* beside the rules; NULL: none. It has to stay. */
	bool is_builtin;             /* the pack */
	bool some_calls;             /* not all system calls are recorded */
	const char *directory;       /* files below it lose that part; it has to stay */
	/* Called on a thread of its own with the findings since the last time, one at least. */
	void (*news)(void *cookie, struct wt_result *result);
	void *cookie;
};

int wti_live_start(const struct wti_front *front, const struct wti_live_options *options,
		   struct wti_live_check **ret_live, struct wt_err *err);
/* What the recording is given. */
struct wti_sink *wti_live_sink(struct wti_live_check *live);
/* The recording has ended: waits for the look to be complete and puts all of it into the result. */
int wti_live_finish(struct wti_live_check *live, const char *run_status, struct wt_result *result,
		    struct wt_err *err);
void wti_live_free(struct wti_live_check *live);

#endif
