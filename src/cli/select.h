/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events that `view` and `export` are asked for. A query has room for one context variable;
 * where step, stage and epoch are asked for together, one cursor for each runs side by side and
 * only what all of them give counts: they all keep the same order.
 */
#ifndef WTI_CLI_SELECT_H
#define WTI_CLI_SELECT_H

#include <wheeltap/trace.h>

#include "verb.h"

#define WTI_SELECT_MAX 3
#define WTI_SELECT_KINDS_MAX 256u

struct wti_select {
	struct wt_query query;
	struct {
		const char *key;
		const char *value;
	} contexts[WTI_SELECT_MAX];
	size_t context_count;
	const char *kinds[WTI_SELECT_KINDS_MAX];
	char *kinds_memory;
};

struct wti_selected {
	struct wt_cursor *cursors[WTI_SELECT_MAX];
	struct wt_event heads[WTI_SELECT_MAX]; /* of all but the first */
	bool has_head[WTI_SELECT_MAX];
	size_t count;
};

void wti_select_init(struct wti_select *select);
void wti_select_release(struct wti_select *select);
/* --kind a,b --kind c: all must be known to the trace, or to this build. The query points into
 * `select`, which must not move from then on. */
int wti_select_kinds(struct wti_select *select, const struct wti_list *list,
		     const struct wt_trace *trace, struct wt_err *err);
void wti_select_context(struct wti_select *select, const char *key, const char *value);

int wti_selected_open(struct wti_selected *selected, const struct wti_select *select,
		      const struct wt_trace *trace, struct wt_err *err);
void wti_selected_close(struct wti_selected *selected);
/* As wt_cursor_next(). */
int wti_selected_next(struct wti_selected *selected, struct wt_event *ret_event,
		      struct wt_err *err);

/* A moment from which on at least `count` rows of the asked kinds follow; INT64_MIN: all of them.
 */
int64_t wti_select_tail(const struct wti_select *select, const struct wt_trace *trace,
			uint64_t count);

#endif
