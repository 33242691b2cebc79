/* SPDX-License-Identifier: Apache-2.0 */
/* How often something was done, from run to run or from step to step. */
#ifndef WTI_WORLD_RANGE_H
#define WTI_WORLD_RANGE_H

#include <stdbool.h>

#include "base/buf.h"

struct wti_range {
	uint64_t low;
	uint64_t high;
};

/* "3", or "3..5" */
void wti_range_text(struct wti_buf *out, struct wti_range range);
bool wti_range_parse(const char *text, struct wti_range *ret_range);

#endif
