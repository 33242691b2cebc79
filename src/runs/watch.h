/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking on while a program is recorded: a sink of the recording that feeds an inspector, on a
 * thread of its own, so that a slow look never makes the program wait.
 */
#ifndef WTI_RUNS_WATCH_H
#define WTI_RUNS_WATCH_H

#include <wheeltap/inspect.h>

#include "trace/sink.h"

struct wti_watch;

struct wti_watch_options {
	const struct wt_inspector *inspector;
	const void *inspector_options;
	/* Called on the watch's thread with what is new; may be NULL. */
	void (*news)(void *cookie, struct wt_result *result);
	void *cookie;
};

int wti_watch_start(const struct wti_watch_options *options, struct wti_watch **ret_watch,
		    struct wt_err *err);
/* What the recording is given. */
struct wti_sink *wti_watch_sink(struct wti_watch *watch);
/* The recording has ended: waits for the look to be complete and puts all of it into the result. */
int wti_watch_finish(struct wti_watch *watch, struct wt_result *result, struct wt_err *err);
void wti_watch_free(struct wti_watch *watch);

#endif
