/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people that fits a terminal. */
#ifndef WTI_SHOW_WRAP_H
#define WTI_SHOW_WRAP_H

#include "base/buf.h"

/*
 * Appends text for people, line by line: without spaces at the ends, and with lines that are wider
 * than `width` broken at spaces. What goes on stands under the text behind a label. A word is never
 * broken, so that names and paths can be copied. `width` 0: lines stay as wide as they are.
 */
void wti_wrap(struct wti_buf *out, const char *text, size_t bytes, unsigned width);

#endif
