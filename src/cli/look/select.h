/* SPDX-License-Identifier: Apache-2.0 */
/* The events that `view` and `export` are asked for. */
#ifndef WTI_CLI_LOOK_SELECT_H
#define WTI_CLI_LOOK_SELECT_H

#include <wheeltap/trace.h>

#include "cli/verb.h"

#define WTI_SELECT_MAX 3
#define WTI_SELECT_KINDS_MAX 256u

struct wti_select {
	struct wt_query query;
	struct wt_condition conditions[WTI_SELECT_MAX];
	const char *kinds[WTI_SELECT_KINDS_MAX];
	char *kinds_memory;
};

void wti_select_init(struct wti_select *select);
void wti_select_release(struct wti_select *select);
/* --kind a,b --kind c: all must be known to the trace, or to this build. The query points into
 * `select`, which must not move from then on. */
int wti_select_kinds(struct wti_select *select, const struct wti_list *list,
		     const struct wt_trace *trace, struct wt_err *err);
/* --step N --stage TEXT --epoch N; NULL: not asked for. */
int wti_select_context(struct wti_select *select, const char *step, const char *stage,
		       const char *epoch, struct wt_err *err);

/* A moment from which on at least `count` rows of the asked kinds follow; INT64_MIN: all of them.
 */
int64_t wti_select_tail(const struct wti_select *select, const struct wt_trace *trace,
			uint64_t count);

#endif
