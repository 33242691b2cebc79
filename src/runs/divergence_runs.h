/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two runs, opened and compared operation by operation. Knows where the contents of tensors are
 * kept (blobs/HASH), so that the values that differ can be compared element by element.
 */
#ifndef WTI_RUNS_DIVERGENCE_RUNS_H
#define WTI_RUNS_DIVERGENCE_RUNS_H

#include "inspect/divergence/divergence.h"
#include "inspect/divergence/elements.h"
#include "base/buf.h"
#include "open.h"

struct wti_compared_runs {
	struct wti_opened_run runs[2];
	struct wti_divergence_report report;
	bool is_damaged;
	/* Of the first difference: for each of its values, where both contents were kept. */
	bool has_elements[WTI_FIRST_VALUES];
	struct wti_elements elements[WTI_FIRST_VALUES];
};

/* Words as wti_run_find() takes them. The result gets tables, facts, notes and the status. */
int wti_compare_tensors(const struct wti_front *front, const char *const words[2],
			const struct wti_within_line *where, struct wti_compared_runs *ret_runs,
			struct wt_result *result, struct wt_err *err);
/* The contents of a tensor. False: they were not kept, or are not what the event says. */
bool wti_blob_read(const struct wti_run *run, const struct wti_digest_row *digest,
		   struct wti_buf *ret_bytes);
void wti_compared_runs_close(struct wti_compared_runs *runs);

#endif
