/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of this build, generated from schema/events.toml, in order of their numbers. */
#ifndef WTI_TRACE_TABLE_H
#define WTI_TRACE_TABLE_H

#include <wheeltap/trace.h>

extern const struct wt_kind wti_kind_table[];
extern const unsigned wti_kind_table_count;

#endif
