/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the tracer share: its threads, and how they go on. */
#ifndef WTI_SYSCALLS_TRACER_ATTACH_H
#define WTI_SYSCALLS_TRACER_ATTACH_H

#include <sys/resource.h>

#include "tracer.h"

struct wti_tracee {
	pid_t tid;
	pid_t pid;
	uint32_t track;
	uint64_t seq;
	bool known;    /* belongs to the recording: has a track */
	bool awaited;  /* its birth was not reported yet: */
	bool waits;    /* and so it stays stopped */
	bool entered;  /* the begin of a call was seen, its end was not */
	bool in_call;  /* one that is wanted */
	bool behind;   /* has a seccomp filter of its own, which answers before ours */
	uint8_t hides; /* enum wti_hiding: what the call that it is in does */
	uint8_t own;   /* a guest works for itself: how many layers deep */
	bool execed;   /* has become another program; its call has not ended yet */
	bool remaps;   /* is in a call that maps code */
	uint32_t nr;
	uint32_t arch;
	uint32_t flags;
	uint64_t args[WTI_CALL_ARGS];
	uint64_t start_ns;
	bool by_thread;            /* the times of processors that follow are the thread's own */
	uint64_t start_cpu_ns;     /* that its process had used then */
	uint64_t cpu_ns;           /* and at its last stop */
	struct wti_memory *memory; /* made with the first call that has any */
};

struct wti_tracee *wti_tracee_of(const struct wti_tracer *tracer, pid_t tid); /* or NULL */
struct wti_tracee *wti_tracee_new(struct wti_tracer *tracer, pid_t tid);      /* likewise */
void wti_tracee_adopt(struct wti_tracer *tracer, struct wti_tracee *tracee, pid_t parent,
		      uint32_t how);
/* Goes on, with a signal or 0. */
void wti_tracee_go(const struct wti_tracer *tracer, const struct wti_tracee *tracee, int number);
/* What wait4() has said, and how much time the process had had by then; NULL: it was not asked. */
void wti_tracer_take(struct wti_tracer *tracer, pid_t tid, int status, const struct rusage *usage);

#endif
