/* SPDX-License-Identifier: Apache-2.0 */
/* What readers of text have in common: where they stand, how they say it, characters and numbers.
 */
#ifndef WTI_BASE_SCAN_H
#define WTI_BASE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

#include "arena.h"
#include "buf.h"

#define WTI_SCAN_NUMBER_MAX 128 /* characters; no double needs more to differ from another */

struct wti_scan {
	const char *name; /* of the file, for errors */
	const char *text;
	const char *at;
	const char *end;
	const char *line_begin;
	const char *counted_to; /* up to here characters of the line were counted, */
	unsigned counted;       /* so many: a line can be as long as the file */
	unsigned line;
	unsigned lines_before; /* of the file, where the text is a part of it */
	struct wti_arena *arena;
	struct wti_buf scratch; /* a string while it is being put together */
	struct wt_err *err;
};

/* To the beginning of the text, which has to be UTF-8 and, unless `controls`, without controls but
 * tabs and ends of lines. A byte order mark is passed over. */
int wti_scan_begin(struct wti_scan *scan, bool controls);
/* "name:line:column: ..." for the place `at`; returns the code. */
int wti_scan_fail(struct wti_scan *scan, int code, const char *at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
int wti_scan_no_memory(struct wti_scan *scan);
/* From 1, in characters, of a place in the current line. */
unsigned wti_scan_column(struct wti_scan *scan, const char *at);
/* Moves over the newline at `at`, if there is one. */
bool wti_scan_newline(struct wti_scan *scan);
/* Over so many hexadecimal digits; false, somewhere among them, if they are not. */
bool wti_scan_hex(struct wti_scan *scan, size_t digits, uint32_t *ret_number);
/* A character into the string that is being put together. */
void wti_scan_put(struct wti_scan *scan, uint32_t point);
/* A text that is a number and nothing else, in the C locale whatever the program has set. */
bool wti_scan_double(const char *text, double *ret_number);

#endif
