/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may reach a terminal: text, newlines, tabs, and the colours of wti_ink(). Whatever else is
 * in a trace, a file or an argument is shown escaped. The cli prints through this alone (terminal.c
 * there), and so do exports that are text, so that none of them can forget it.
 */
#ifndef WTI_SHOW_TERMINAL_H
#define WTI_SHOW_TERMINAL_H

#include "show.h"

/*
 * How many bytes from the beginning on may go out as they are. `has_ink`: the colours of wti_ink()
 * are among those. CR may stand in front of LF, as CSV has it.
 */
size_t wti_terminal_safe(const char *text, size_t bytes, bool has_ink);
/* Appends all of it, what is not safe as \x1b. */
void wti_terminal_escape(struct wti_buf *out, const char *text, size_t bytes, bool has_ink);

#endif
