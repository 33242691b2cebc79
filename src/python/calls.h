/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls, or spans, as one row each: the columns of their begin, and how long they took, how long
 * without what they called, who called them, how they ended. Begins and ends are matched as
 * everywhere (src/inspect/core/spans.h). What has no end has no duration.
 */
#ifndef WTI_PYTHON_CALLS_H
#define WTI_PYTHON_CALLS_H

#include "gather.h"

struct wti_call_table {
	struct wti_gather gather; /* of the begins */
	struct wti_column *duration;
	struct wti_column *self;
	struct wti_column *parent; /* row of the innermost call around it that is in the table */
	struct wti_column *depth;
	struct wti_column *exception; /* of calls; NULL: spans have none */
};

/*
 * `query` says which begins are wanted; its kinds are set here. `calls->gather` has been made for
 * "call_begin" or "span_begin"; on failure the columns are released, the gather is not.
 */
int wti_calls_read(struct wti_call_table *calls, const struct wt_query *query, struct wt_err *err);
void wti_calls_release(struct wti_call_table *calls);

#endif
