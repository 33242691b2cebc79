/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renderers of the result model: each turns any wt_result into bytes, and knows nothing of where
 * the bytes go. docs/results.md documents the JSON.
 */
#ifndef WTI_SHOW_SHOW_H
#define WTI_SHOW_SHOW_H

#include <stdbool.h>

#include <wheeltap/result.h>

#include "base/buf.h"
#include "base/json.h"

struct wti_style {
	bool colour;    /* ANSI sequences */
	unsigned width; /* columns; 0: as wide as it needs to be */
	bool ascii;     /* the locale has no UTF-8: no blocks, no ellipsis */
};

/* Facts, findings, tables; what has no title is for machines. Notes are left to the caller: they
 * belong on standard error. */
/* When a finding was made: "steps 13-59, to the end; 188 of 236 checks failed". */
void wti_show_when(struct wti_buf *out, const struct wt_finding *finding);
/* The findings alone, a block each. */
void wti_show_findings(struct wti_buf *out, const struct wt_result *result,
		       const struct wti_style *style);
void wti_show_text(struct wti_buf *out, const struct wt_result *result,
		   const struct wti_style *style);
void wti_show_table(struct wti_buf *out, const struct wt_table *table,
		    const struct wti_style *style);
void wti_show_json(struct wti_buf *out, const struct wt_result *result);
/* The same as a part of something larger. */
void wti_show_json_value(struct wti_json *json, const struct wt_result *result);
/* RFC 4180, a header line first. One table, since a CSV file has one. */
void wti_show_csv(struct wti_buf *out, const struct wt_table *table);
void wti_show_markdown(struct wti_buf *out, const struct wt_result *result);
/* The table `edges` of a result, for Graphviz. */
void wti_show_dot(struct wti_buf *out, const struct wt_result *result);
/* One HTML file with pictures of its series, that needs no network: page/. */
void wti_show_page(struct wti_buf *out, const struct wt_result *result);
/* Of the inspector `syscalls`: the table of strace -c. */
void wti_show_syscalls(struct wti_buf *out, const struct wt_result *result,
		       const struct wti_style *style);

/* A text as a field of CSV: quoted where it has to be, controls escaped, bad UTF-8 replaced, and
 * with an apostrophe in front where a spreadsheet would take it for a formula. */
void wti_csv_field(struct wti_buf *out, const char *text, size_t bytes);

/* Bold, dim and so on when `style` has colour; `what` is one of the below, 0 ends it. */
enum wti_ink { WTI_INK_END, WTI_INK_BOLD, WTI_INK_DIM, WTI_INK_RED, WTI_INK_YELLOW, WTI_INK_GREEN };
void wti_ink(struct wti_buf *out, const struct wti_style *style, enum wti_ink ink);

/* Terminal columns of valid UTF-8. */
size_t wti_text_width(const char *text, size_t bytes);
/* Bytes of `text` that fit into `columns`. */
size_t wti_text_fit(const char *text, size_t bytes, size_t columns);

#endif
