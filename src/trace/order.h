/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a block in time order. */
#ifndef WTI_TRACE_ORDER_H
#define WTI_TRACE_ORDER_H

#include <wheeltap/trace.h>

/* Row numbers by time, then track, then as they stand; to be freed. NULL without memory. */
uint32_t *wti_time_order(const struct wt_batch *batch);

#endif
