/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of several threads in the order of time, with calls cut in two where another thread's line
 * comes between their begin and their end:
 *
 *   4242  read(3,  <unfinished ...>
 *   4243  getppid()                         = 1
 *   4242  <... read resumed>"x", 1)         = 1
 *
 * Calls are known when they end, so lines are held back until none can come before them; at most
 * WTI_LINES_MAX of them, as a call may last for days, and no more than WTI_LINES_BYTES_MAX of text.
 * One that began before the oldest line that is still there stands whole where it ends.
 */
#ifndef WTI_SHOW_EXPORT_STRACE_LINES_H
#define WTI_SHOW_EXPORT_STRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define WTI_LINES_MAX 65536
#define WTI_LINES_BYTES_MAX (64u << 20)

struct wti_strace_line; /* strace_lines.c */

struct wti_lines {
	struct wti_buf *out;
	/* What stands before each line. */
	void (*lead)(void *context, struct wti_buf *out, uint32_t tid, int64_t time_ns);
	void *context;
	struct wti_strace_line *all; /* in order; from `first` on */
	size_t first, count;
	size_t bytes;       /* of their texts */
	int64_t written_ns; /* of the last line that is written */
	bool failed;        /* memory ran out */
};

/* A call as text: `name(arguments)`, of which `entry_bytes` are known at its begin, and its result.
 */
struct wti_line_call {
	uint32_t tid;
	int64_t start_ns, end_ns;
	bool goes_on; /* it had no end in this recording */
	const uint8_t *text;
	size_t text_bytes, entry_bytes;
	const uint8_t *result;
	size_t result_bytes;
};

int wti_lines_init(struct wti_lines *lines);
void wti_lines_call(struct wti_lines *lines, const struct wti_line_call *call);
/* Any other line, without its end. */
void wti_lines_put(struct wti_lines *lines, uint32_t tid, int64_t time_ns, const uint8_t *text,
		   size_t bytes);
/* Writes all that is left. */
int wti_lines_finish(struct wti_lines *lines);
void wti_lines_release(struct wti_lines *lines);

#endif
