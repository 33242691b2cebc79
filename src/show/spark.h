/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as a line of blocks, for a terminal. */
#ifndef WTI_SHOW_SPARK_H
#define WTI_SHOW_SPARK_H

#include "show.h"

/*
 * As many columns as there are values, or that many at most: then each shows the value of its part
 * that is farthest from the middle of all, so that no spike is hidden. What is not a number is 'x'.
 */
void wti_show_spark(struct wti_buf *out, const double *values, size_t count, size_t columns,
		    bool ascii);

#endif
