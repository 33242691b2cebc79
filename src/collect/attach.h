/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that runs already: what it is, whether it can be recorded, and when it ends. What can
 * be recorded of it are its system calls, as no agent gets into a program that runs.
 */
#ifndef WTI_COLLECT_ATTACH_H
#define WTI_COLLECT_ATTACH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include <wheeltap/err.h>

struct wti_attach {
	pid_t pid;                /* 0: the program is started by us */
	int pidfd;                /* can be read from when it has ended; -1: it cannot be had */
	char **argv;              /* what it was started with; ends with NULL */
	char **environment;       /* likewise; empty where we may not know */
	char directory[PATH_MAX]; /* it is in; empty: not known */
	bool let_go;              /* a signal asks us to end; the program goes on */
};

/* Looks at the process. An error, in one line with what to do, if it cannot be recorded. */
int wti_attach_look(struct wti_attach *attach, pid_t pid, struct wt_err *err);
/* True once it has ended. */
bool wti_attach_ended(const struct wti_attach *attach);
void wti_attach_release(struct wti_attach *attach);

#endif
