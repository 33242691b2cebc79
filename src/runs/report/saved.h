/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a checkpoint is what the run saved: the digest of each tensor that the trace has of the
 * save, against the digest of the tensor of that name in the file as it is now.
 */
#ifndef WTI_RUNS_REPORT_SAVED_H
#define WTI_RUNS_REPORT_SAVED_H

#include "base/buf.h"
#include "section.h"

/*
 * `row`: of the table `files` of the inspector `contents`. Writes what came of it, in words: "16 of
 * 16 tensors have the digest that was saved".
 */
int wti_saved_compare(const struct wti_report_source *source, size_t row, const char *path,
		      struct wti_buf *out, struct wt_err *err);

#endif
