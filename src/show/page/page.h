/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of HTML that all pages share; everything in them is escaped. */
#ifndef WTI_SHOW_PAGE_H
#define WTI_SHOW_PAGE_H

#include <wheeltap/result.h>

#include "base/buf.h"

void wti_page_cell(struct wti_buf *out, const struct wt_cell *cell);
void wti_page_finding(struct wti_buf *out, const struct wt_finding *finding);
/* Without a heading; of a table with very many rows the first ones. */
void wti_page_table(struct wti_buf *out, const struct wt_table *table);
/* JSON for the page's script, as the element `data`. */
void wti_page_data(struct wti_buf *out, const struct wti_buf *json);

#endif
