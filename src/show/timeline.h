/* SPDX-License-Identifier: Apache-2.0 */
/* The picture that `timeline` draws in a terminal, out of its result's series and tables. */
#ifndef WTI_SHOW_TIMELINE_H
#define WTI_SHOW_TIMELINE_H

#include "show.h"

#define WTI_TIMELINE_LABEL 22u                         /* columns of a label */
#define WTI_TIMELINE_MARGIN (WTI_TIMELINE_LABEL + 10u) /* and of the figure behind the bar */

void wti_show_timeline(struct wti_buf *out, const struct wt_result *result,
		       const struct wti_style *style);

#endif
