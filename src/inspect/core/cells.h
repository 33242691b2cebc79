/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of tables from what most of them are made of: text that ends with a zero. */
#ifndef WTI_CORE_CELLS_H
#define WTI_CORE_CELLS_H

#include <string.h>

#include <wheeltap/result.h>

static inline void wti_table_word(struct wt_table *table, const char *text)
{
	wt_table_text(table, text, strlen(text));
}

#endif
