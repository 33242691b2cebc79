/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tracer by ptrace: knows the threads that it traces, what each stop means and how it has to be
 * gone on from, so that the program notices nothing. Runs on one thread, the one that attached.
 */
#ifndef WTI_SYSCALLS_TRACER_H
#define WTI_SYSCALLS_TRACER_H

#include <linux/filter.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <wheeltap/err.h>

#include "base/map.h"
#include "syscall/expr.h"

#include "memory.h"
#include "queue.h"

struct wti_tracee; /* tracer.c */

struct wti_tracer {
	struct wti_queue *queue;
	const struct wti_plans *plans;
	struct wti_call_set wanted;
	bool contents;
	bool stacks;   /* are wanted */
	bool filtered; /* the program has a seccomp filter: only wanted calls stop */
	/* All of these are the tracer's thread's own. */
	struct wti_tracee **by_tid;
	size_t by_tid_count;
	uint32_t count; /* of tracees */
	uint32_t last_track;
	_Atomic uint64_t hidden; /* threads that may have made calls unseen */
	struct wti_map mapped;   /* by process: whether what it has mapped was recorded */
	_Atomic bool stop;       /* lets go of all and ends */
};

int wti_tracer_init(struct wti_tracer *tracer, struct wt_err *err);
void wti_tracer_release(struct wti_tracer *tracer);
/* The program, which waits before its exec. */
int wti_tracer_seize_program(struct wti_tracer *tracer, pid_t pid, struct wt_err *err);
/* All threads of a process that runs. */
int wti_tracer_seize_running(struct wti_tracer *tracer, pid_t pid, struct wt_err *err);
/* Until nobody is left or `stop` is set and a signal has come. */
void wti_tracer_run(struct wti_tracer *tracer);

#endif
