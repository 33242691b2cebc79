/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a Python program is measured: samples, budgets, and what a pack of invariants needs.
 */
#ifndef WTI_CLI_RECORD_PYTHON_NEEDS_H
#define WTI_CLI_RECORD_PYTHON_NEEDS_H

#include <wheeltap/err.h>

#include "base/buf.h"

/* The level. One of them is a selection like that of invariants, which cannot be combined. */
int wti_python_detail(struct wti_buf *out, const char *detail, const char *invariants,
		      struct wt_err *err);
/* Each from the word of the command line to a line for the agent. NULL: nothing. */
int wti_python_budget(struct wti_buf *out, const char *percent, struct wt_err *err);
int wti_python_sample(struct wti_buf *out, const char *sample, struct wt_err *err);
/* Lines for all that the invariants in the file need; docs/python.md has the form. */
int wti_python_needs(struct wti_buf *out, const char *path, struct wt_err *err);

#endif
