/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An inspector turns the events of a run, in the defined order, into a result. It keeps bounded
 * state, and does not know whether the events come from files or from a run that goes on.
 *
 * Adding one: a file in a room of src/inspect/ and a row in src/inspect/inspectors.c
 * (docs/howto-add-inspector.md).
 */
#ifndef WHEELTAP_INSPECT_H
#define WHEELTAP_INSPECT_H

#include <wheeltap/result.h>
#include <wheeltap/trace.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct wt_inspector {
	const char *name;
	const char *summary; /* one line */
	size_t state_bytes;  /* zeroed memory that the functions get as `state` */
	/* Narrows what it wants to see: kinds, fields. May be NULL: everything. `options` is the
	 * inspector's own struct (src/inspect/NAME.h), or NULL for its defaults. */
	void (*ask)(struct wt_query *query, const void *options);
	/* `trace` is NULL of a run that goes on. */
	int (*begin)(void *state, const struct wt_trace *trace, const void *options,
		     struct wt_err *err);
	int (*event)(void *state, const struct wt_event *event, struct wt_err *err);
	/* Puts what it learned into the result. */
	int (*finish)(void *state, struct wt_result *result, struct wt_err *err);
	void (*release)(void *state);
	/* Of a run that goes on: the findings since the last time, and how many. May be NULL. */
	size_t (*news)(void *state, struct wt_result *result);
};

const struct wt_inspector *wt_inspector_by_name(const char *name);

/* Feeds an inspector from a trace. `query` narrows further (NULL: nothing); `progress` may be NULL
 * and is called now and then with the share done, 0 to 1. */
int wt_inspect(const struct wt_inspector *inspector, const struct wt_trace *trace,
	       const struct wt_query *query, const void *options, struct wt_result *result,
	       void (*progress)(void *cookie, double share), void *cookie, struct wt_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
