/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system call as tracers write it: a name, and arguments as text. Numbers become arguments,
 * quoted texts the memory that they point to; flags by name and structures are not turned back.
 * Numbers of calls are those of this machine's architecture.
 */
#ifndef WTI_CONVERT_CALLS_CALL_H
#define WTI_CONVERT_CALLS_CALL_H

#include "convert/intake/intake.h"
#include "syscall/table.h"

#define WTI_WRITTEN_BYTES ((size_t)4096) /* of all texts of a call */
#define WTI_UNKNOWN_CALLS "calls whose name is not known here"

/* Text that is read from its beginning on. */
struct wti_call_line {
	const char *at, *end;
};

struct wti_written_call {
	uint64_t values[WT_SYSCALL_FIELD_SYSTEM + 1];
	uint8_t text[WTI_WRITTEN_BYTES];
	size_t text_bytes;
};

void wti_line_spaces(struct wti_call_line *line);
/* These three move on only if they are true. */
bool wti_line_passes(struct wti_call_line *line, const char *text);
bool wti_line_digits(struct wti_call_line *line, uint64_t *ret_number);
/* With a sign, also hexadecimal. */
bool wti_line_number(struct wti_call_line *line, uint64_t *ret_number);

/* False: there is no call of that name here. */
bool wti_written_name(struct wti_written_call *call, const char *name, size_t bytes);
/* Takes what can be taken of an argument; the rest of it is left standing. */
void wti_written_argument(struct wti_written_call *call, unsigned argument,
			  struct wti_call_line *line);
/* `time_ns`: when it ended. */
void wti_written_emit(const struct wti_written_call *call, struct wti_intake *intake,
		      uint32_t process, uint64_t tid, uint64_t time_ns);

#endif
