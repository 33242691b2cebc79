/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of a trace as tables: one for each number, as wide as its widest description. */
#ifndef WTI_SHOW_EXPORT_KINDS_H
#define WTI_SHOW_EXPORT_KINDS_H

#include <wheeltap/trace.h>

#define WTI_TABLE_NAME_BYTES 80

/* The description of a kind with the most fields: streams may come from different versions. */
const struct wt_kind *wti_widest_kind(const struct wt_trace *trace, uint16_t number);
/* A name for its table or file that is fit for both: letters, digits and underscores. A kind that
 * this build does not know has its number in it, so that no two are the same, and none is one of
 * the database's own. */
void wti_table_name(char out[WTI_TABLE_NAME_BYTES], const struct wt_kind *kind);
/* Whether the name is not that of the kind, with its number where it is not known. */
bool wti_table_is_other(const char *name, const struct wt_kind *kind);

#endif
