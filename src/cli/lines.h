/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of stacks, for the verbs that name places: which stacks lead to the same one. */
#ifndef WTI_CLI_LINES_H
#define WTI_CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/result.h>
#include <wheeltap/trace.h>

#include "symbols/native.h"

struct wti_lines;

struct wti_lines *wti_lines_new(void); /* NULL: out of memory */
void wti_lines_free(struct wti_lines *lines);
struct wti_native *wti_lines_native(const struct wti_lines *lines);
/* The first stack of the reader with the same line; 0: it has none. `lines`: struct wti_lines. */
uint32_t wti_lines_place(void *lines, const struct wt_reader *reader, uint32_t stack);
bool wti_lines_locate(struct wti_lines *lines, const struct wt_reader *reader, uint32_t stack,
		      char *ret_file, size_t file_bytes, uint32_t *ret_line);
/* Says which files have changed since the run, so that nothing is named in them. */
void wti_lines_note(const struct wti_lines *lines, struct wt_result *result);

#endif
