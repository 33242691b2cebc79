/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run may have done without being seen. That something was not done can only be said of a
 * run in which it would have been seen: whoever says so asks here first.
 */
#ifndef WTI_EFFECTS_UNSEEN_H
#define WTI_EFFECTS_UNSEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a claim is about. */
enum wti_about {
	WTI_ABOUT_FILES = 1,
	WTI_ABOUT_NETWORK = 2,
	WTI_ABOUT_PROGRAMS = 4, /* that are executed, and processes */
	WTI_ABOUT_CALLS = 8,    /* how often system calls were made */
	WTI_ABOUT_PLACES = 16,  /* where files really are */
	WTI_ABOUT_ALL = 31,
};

struct wti_unseen {
	uint64_t alive_count;    /* processes that outlived the recording */
	uint32_t alive_pid;      /* the first of them */
	char alive_command[32];  /* its short name */
	uint64_t uring_count;    /* queues of io_uring that were made */
	uint64_t untraced_count; /* children that a tracer could not follow */
	uint32_t untraced_tid;   /* the first of them */
	uint64_t foreign_count;  /* calls of an architecture without a table here */
	uint64_t message_count;  /* calls that sent several messages, of which only the first is
				    known */
	uint64_t unplaced_count; /* changes of files whose place is not known */
	char unplaced[64];       /* the first of these: what is known of it */
};

struct wti_effects;
struct wti_map;
struct wti_syscall;

/* A call that succeeded and lets other things happen unseen; `threads` has those that are followed.
 */
void wti_unseen_call(struct wti_unseen *unseen, const struct wti_syscall *call,
		     const struct wti_map *threads);
/* At the end: who is still alive. */
void wti_unseen_finish(struct wti_effects *effects);
/* True: something that the claim is about may have happened unseen, and `why` says what, and what
 * to do. */
bool wti_unseen(const struct wti_unseen *unseen, unsigned about, char *why, size_t bytes);

#endif
