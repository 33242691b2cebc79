/* SPDX-License-Identifier: Apache-2.0 */
/* Events as tuples: (time_ns, kind, stream, track, seq, {field: value}). */
#ifndef WTI_PYTHON_ROWS_H
#define WTI_PYTHON_ROWS_H

#include "gather.h"
#include "question.h"

#define WTI_ROW_KINDS 64u

/* Names of kinds and fields as Python objects, made once. */
struct wti_row_kind {
	const struct wt_kind *kind;
	PyObject *name;
	PyObject *fields[WT_FIELDS_MAX]; /* NULL: not wanted */
};

struct wti_row_keys {
	struct wti_row_kind
		kinds[WTI_ROW_KINDS]; /* by number; another one of that place is made anew */
};

void wti_row_keys_release(struct wti_row_keys *keys);
/* `wanted`: names of fields; NULL: all. */
PyObject *wti_rows_list(struct wti_row_keys *keys, const struct wti_rows *rows,
			const struct wti_question_words *wanted);

#endif
