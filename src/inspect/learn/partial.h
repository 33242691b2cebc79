/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as a file, to be merged later and elsewhere: lines of JSON, first what it is, then the
 * circumstances, then the hypotheses, each in the order of names.
 */
#ifndef WTI_LEARN_PARTIAL_H
#define WTI_LEARN_PARTIAL_H

#include "base/buf.h"
#include "tables.h"

int wti_partial_write(struct wti_buf *out, struct wti_tables *tables, struct wt_err *err);
/* Adds what the file has. `name` is for errors. */
int wti_partial_read(const char *name, const char *text, size_t bytes, struct wti_tables *tables,
		     struct wt_err *err);

#endif
