/* SPDX-License-Identifier: Apache-2.0 */
/* A series as a picture that is part of a page: inline SVG of bounded size, without a script. */
#ifndef WTI_SHOW_REPORT_SVG_H
#define WTI_SHOW_REPORT_SVG_H

#include <wheeltap/result.h>

#include "base/buf.h"

/*
 * In each column of the picture the lowest, the highest and the last value are drawn, so that a
 * spike of one value among a million is seen. Values that are no finite numbers are marked, and
 * interrupt the line. `x_word`: what x counts. False: nothing in it can be drawn.
 */
bool wti_svg_series(struct wti_buf *out, const struct wt_series *series, const char *x_word);

#endif
