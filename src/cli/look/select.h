/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs that look at a run are asked for: a part of its time, some of its events. */
#ifndef WTI_CLI_LOOK_SELECT_H
#define WTI_CLI_LOOK_SELECT_H

#include <wheeltap/trace.h>

#include "cli/verb.h"

#define WTI_SELECT_MAX 3
#define WTI_SELECT_KINDS_MAX 256u

/* --from TIME, --to TIME */
struct wti_time_window {
	int64_t from_ns;
	int64_t to_ns;
};
#define WTI_WHOLE_RUN                                                                              \
	{                                                                                          \
		INT64_MIN, INT64_MAX                                                               \
	}
/* Their rows; `window` is the member of the verb's options. */
#define WTI_OPTIONS_WINDOW(type, from_help, to_help)                                               \
	{"from", 0, WTI_OPT_DURATION, "TIME", NULL, from_help, offsetof(type, window.from_ns)},    \
		{"to", 0, WTI_OPT_DURATION, "TIME", NULL, to_help, offsetof(type, window.to_ns)},  \
	{                                                                                          \
		"until", 0, WTI_OPT_DURATION, "TIME", NULL, "the same as --to",                    \
			offsetof(type, window.to_ns)                                               \
	}

/* Which events: those of `view` and `export`. */
struct wti_wanted_events {
	struct wti_list kinds;
	const char *name;
	const char *track;
	const char *step;
	const char *stage;
	const char *epoch;
};
/* Their rows; `events` is the member of the verb's options. */
#define WTI_OPTIONS_EVENTS(type)                                                                   \
	{"kind",                                                                                   \
	 'k',                                                                                      \
	 WTI_OPT_LIST,                                                                             \
	 "KIND",                                                                                   \
	 NULL,                                                                                     \
	 "only events of this kind; separate several with commas, or repeat the option",           \
	 offsetof(type, events.kinds)},                                                            \
		{"name",                                                                           \
		 0,                                                                                \
		 WTI_OPT_TEXT,                                                                     \
		 "GLOB",                                                                           \
		 NULL,                                                                             \
		 "only events whose name matches (* ? [a-z])",                                     \
		 offsetof(type, events.name)},                                                     \
	{                                                                                          \
		"track", 0, WTI_OPT_TEXT, "GLOB", NULL,                                            \
			"only tracks whose name matches, or STREAM:TRACK",                         \
			offsetof(type, events.track)                                               \
	}
#define WTI_OPTIONS_CONTEXT(type)                                                                  \
	{"step",                                                                                   \
	 0,                                                                                        \
	 WTI_OPT_TEXT,                                                                             \
	 "N",                                                                                      \
	 NULL,                                                                                     \
	 "only what happened in this step, counted from 0; 3-5 is a range",                        \
	 offsetof(type, events.step)},                                                             \
		{"stage",                                                                          \
		 0,                                                                                \
		 WTI_OPT_TEXT,                                                                     \
		 "STAGE",                                                                          \
		 NULL,                                                                             \
		 "only what happened in this stage",                                               \
		 offsetof(type, events.stage)},                                                    \
	{                                                                                          \
		"epoch", 0, WTI_OPT_TEXT, "N", NULL,                                               \
			"only what happened in this epoch, counted from 0; 3-5 is a range",        \
			offsetof(type, events.epoch)                                               \
	}

struct wti_select {
	struct wt_query query;
	struct wt_condition conditions[WTI_SELECT_MAX];
	const char *kinds[WTI_SELECT_KINDS_MAX];
	char *kinds_memory;
};

/* All kinds must be known to the trace, or to this build. The query points into `select`, which
 * must not move from then on, and is released after a failure, too. */
int wti_select(struct wti_select *select, const struct wti_time_window *window,
	       const struct wti_wanted_events *events, const struct wt_trace *trace,
	       struct wt_err *err);
/* Between which numbers the run has set a context variable such as "step"; false: it has not. */
bool wti_select_bounds(const struct wt_trace *trace, const char *key, int64_t *ret_first,
		       int64_t *ret_last);
void wti_select_release(struct wti_select *select);

/* A moment from which on at least `count` rows of the asked kinds follow; INT64_MIN: all of them.
 */
int64_t wti_select_tail(const struct wti_select *select, const struct wt_trace *trace,
			uint64_t count);

#endif
