/* SPDX-License-Identifier: Apache-2.0 */
/* What kind of request each system call is, as far as habits of programs are concerned. */
#ifndef WTI_PATTERNS_SORTS_H
#define WTI_PATTERNS_SORTS_H

#include "syscall/record.h"

enum wti_request {
	WTI_REQUEST_OTHER,   /* it may do something that we do not know */
	WTI_REQUEST_ASK,     /* changes nothing, and answers at once */
	WTI_REQUEST_LOOK,    /* changes nothing, asks about a name */
	WTI_REQUEST_OPEN,    /* a name */
	WTI_REQUEST_READ,    /* from where the last one ended */
	WTI_REQUEST_READ_AT, /* from a given place: again the same the next time */
	WTI_REQUEST_WRITE,
	WTI_REQUEST_SYNC,  /* to a disk */
	WTI_REQUEST_WAIT,  /* for others, or for time to pass */
	WTI_REQUEST_YIELD, /* lets others run */
	WTI_REQUEST_RANDOM,
	WTI_REQUEST_CLOCK,
	WTI_REQUEST_MAP,
	WTI_REQUEST_UNMAP,
	WTI_REQUEST_BREAK,
	WTI_REQUESTS,
};

struct wti_request_row {
	const char *call;
	uint8_t request; /* enum wti_request */
	int8_t fd;       /* which argument is a descriptor; -1: none */
	int8_t path;     /* which is a path; -1: none. Relative to the descriptor */
};

struct wti_requests {
	const struct wti_request_row *rows[2][WTI_CALLS_MAX]; /* by architecture and number */
};

/* A line of the program that an agent emitted; site 0: not known. */
struct wti_line {
	uint32_t stream;
	uint32_t site;
};

/* NULL: out of memory. To be freed. */
struct wti_requests *wti_requests_new(void);
/* NULL: of no kind that we know. */
const struct wti_request_row *wti_request_of(const struct wti_requests *requests,
					     const struct wti_syscall *call);

/* "later" or "again": says nothing about what the program does. */
bool wti_result_is_momentary(int64_t result);

#endif
