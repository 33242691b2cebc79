/* SPDX-License-Identifier: Apache-2.0 */
/* Some rows of a block, copied out of it: what is kept of a block that cannot be held as a whole.
 */
#ifndef WTI_TRACE_SLICE_H
#define WTI_TRACE_SLICE_H

#include <wheeltap/trace.h>

/* How many bytes a row takes in a slice. */
size_t wti_slice_row_bytes(const struct wt_batch *whole, uint32_t row);
/*
 * These rows, in this order, with all columns that `whole` has. The batch has no memory of its own:
 * everything lies in *ret_memory, which the caller frees. WT_E_NOMEM changes nothing.
 */
int wti_slice_copy(const struct wt_batch *whole, const uint32_t *rows, uint32_t count,
		   struct wt_batch *ret_slice, void **ret_memory);

#endif
