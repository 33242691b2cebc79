/* SPDX-License-Identifier: Apache-2.0 */
/* What sort of request each system call is, as far as habits of programs are concerned. */
#ifndef WTI_PATTERNS_SORTS_H
#define WTI_PATTERNS_SORTS_H

#include "syscall/record.h"

enum wti_sort {
	WTI_SORT_OTHER,   /* it may do something that we do not know */
	WTI_SORT_ASK,     /* changes nothing, and answers at once */
	WTI_SORT_LOOK,    /* changes nothing, asks about a name */
	WTI_SORT_OPEN,    /* a name */
	WTI_SORT_READ,    /* from where the last one ended */
	WTI_SORT_READ_AT, /* from a given place: again the same the next time */
	WTI_SORT_WRITE,
	WTI_SORT_SYNC,  /* to a disk */
	WTI_SORT_WAIT,  /* for others, or for time to pass */
	WTI_SORT_YIELD, /* lets others run */
	WTI_SORT_RANDOM,
	WTI_SORT_CLOCK,
	WTI_SORT_MAP,
	WTI_SORT_UNMAP,
	WTI_SORT_BREAK,
	WTI_SORTS,
};

struct wti_sort_row {
	const char *call;
	uint8_t sort; /* enum wti_sort */
	int8_t fd;    /* which argument is a descriptor; -1: none */
	int8_t path;  /* which is a path; -1: none. Relative to the descriptor */
};

struct wti_sorts {
	const struct wti_sort_row *rows[2][WTI_CALLS_MAX]; /* by architecture and number */
};

/* A line of the program that an agent emitted; site 0: not known. */
struct wti_line {
	uint32_t stream;
	uint32_t site;
};

/* NULL: out of memory. To be freed. */
struct wti_sorts *wti_sorts_new(void);
/* NULL: of no sort that we know. */
const struct wti_sort_row *wti_sort_of(const struct wti_sorts *sorts,
				       const struct wti_syscall *call);

/* "later" or "again": says nothing about what the program does. */
bool wti_result_is_momentary(int64_t result);

#endif
