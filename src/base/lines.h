/* SPDX-License-Identifier: Apache-2.0 */
/* Files of any size, line by line: what is in memory is one line, and that has a ceiling. */
#ifndef WTI_BASE_LINES_H
#define WTI_BASE_LINES_H

#include <stddef.h>

#include <wheeltap/err.h>

/* `line` counts from 1; the text is without its end, and without a NUL. */
typedef int wti_take_line(void *self, unsigned line, const char *text, size_t bytes,
			  struct wt_err *err);

/* Up to the end of the file, or to the first that `take` returns other than 0. */
int wti_file_lines(const char *path, size_t line_max, wti_take_line *take, void *self,
		   struct wt_err *err);

#endif
