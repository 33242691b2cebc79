/* SPDX-License-Identifier: Apache-2.0 */
/* A cell as text, for people and for machines. */
#ifndef WTI_SHOW_CELL_H
#define WTI_SHOW_CELL_H

#include <wheeltap/result.h>

#include "base/buf.h"

/* Rounded, with its unit, on one line; empty cells as "-". */
void wti_cell_people(struct wti_buf *out, const struct wt_cell *cell);
/* Exact and without a unit; empty cells as nothing. Texts are not quoted. */
void wti_cell_exact(struct wti_buf *out, const struct wt_cell *cell);
/* The shortest decimal that reads back as the same number. */
void wti_cell_number(struct wti_buf *out, double number);

#endif
