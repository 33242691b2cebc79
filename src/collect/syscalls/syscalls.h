/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording the system calls of a program and of all that it starts. Chooses the way to capture
 * them, feeds what comes into a stream of the run, and says how it was done and why so.
 */
#ifndef WTI_SYSCALLS_SYSCALLS_H
#define WTI_SYSCALLS_SYSCALLS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <wheeltap/err.h>

#include "syscall/expr.h"

#include "capture.h"
#include "feed.h"
#include "freezer.h"
#include "stacks.h"

enum wti_syscalls_backend {
	WTI_SYSCALLS_AUTO,
	WTI_SYSCALLS_BPF,
	WTI_SYSCALLS_PTRACE,
	WTI_SYSCALLS_FASTEST, /* for the calls that are wanted, whatever it does to the program */
};

struct wti_syscalls_options {
	enum wti_syscalls_backend backend;
	struct wti_call_set wanted;
	const char *expression; /* as it was given; NULL: all calls */
	bool contents;          /* keep what is read and written, too */
	bool stacks;            /* and where calls come from */
	pid_t attach;           /* to this process instead of starting one; 0: no */
};

struct wti_syscalls {
	struct wti_capture capture;
	struct wti_syscall_feed feed;
	struct wti_stacks stacks;          /* if they are wanted */
	uint64_t lost_stacks;              /* that found no room, when all is over */
	struct wti_freezer freezer;        /* for when the ring fills faster than we read */
	enum wti_syscalls_backend backend; /* the one in use */
	bool is_open;
	bool is_over;
	char why[300]; /* this backend */

	pthread_t opener; /* gets the capture ready while others make the rest ready */
	bool is_opening;
	const struct wti_syscalls_options *options;
	int opened; /* what opening it has come to, and then */
	struct wt_err refusal;
};

/* Begins with what takes longest; wti_syscalls_open() waits for it. The options stay where they
 * are. */
void wti_syscalls_begin(struct wti_syscalls *syscalls, const struct wti_syscalls_options *options);

int wti_syscalls_open(struct wti_syscalls *syscalls, struct wti_sink *sink, const char *program,
		      const uint8_t boot[16], struct wt_err *err);
/* The program, which waits for us before it calls exec. */
int wti_syscalls_program(struct wti_syscalls *syscalls, pid_t pid, struct wt_err *err);
/* A process that runs already, with all that descend from it. */
int wti_syscalls_attach(struct wti_syscalls *syscalls, pid_t pid, struct wt_err *err);
/* What the program is to install before its exec; or NULL. */
const struct sock_fprog *wti_syscalls_filter(const struct wti_syscalls *syscalls);
/* Takes what has come; how much that was. ret_more: come back at once. */
uint64_t wti_syscalls_drain(struct wti_syscalls *syscalls, bool *ret_more);
/* Threads that are known and have not ended. */
uint32_t wti_syscalls_alive(const struct wti_syscalls *syscalls);
/* Lets go of the program, takes the rest, records what was lost. */
void wti_syscalls_stop(struct wti_syscalls *syscalls);
void wti_syscalls_close(struct wti_syscalls *syscalls);

const char *wti_syscalls_backend_name(enum wti_syscalls_backend backend);

#endif
