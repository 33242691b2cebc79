/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the program, with the relay between it and the caller's terminal or pipes.
 *
 * Where standard output or error is a terminal the program gets a terminal of its own (a pty) in a
 * session of its own; otherwise it is in a process group of its own, which is put in the foreground
 * of the terminal if we were. A pipe is replaced by a pipe; what is neither is the caller's own
 * (redirect.h). Either way a signal reaches it once: from the terminal, or
 * from us.
 */
#ifndef WTI_COLLECT_LAUNCH_H
#define WTI_COLLECT_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <wheeltap/err.h>

#include "monitor.h"
#include "redirect.h"
#include "relay.h"

struct wti_launch {
	/* In. */
	char *const *argv;
	char *const *environment; /* with the agents' variable */
	const char *executable;   /* path, found already */
	struct wti_session *session;
	int console;                     /* console.log, or -1; closed by wti_launch() */
	sigset_t mask;                   /* to give to the program */
	struct sigaction sigpipe;        /* likewise */
	const struct wti_limits *limits; /* likewise */
	bool gated;                      /* the program is to wait for wti_launch_go() */
	const struct sock_fprog *filter; /* and to install this, then; or NULL */
	/* Out. */
	pid_t pid; /* of the program; 0 until the monitor has sent it */
	pid_t monitor_pid;
	pid_t relay_pid;    /* 0: there is none */
	bool relay_is_idle; /* it passes nothing on, and ends with us */
	bool pty;
	int terminal; /* the controlling terminal whose foreground we share; -1: none */
	int news;     /* struct wti_monitor_news */
	int life;     /* the relay knows by its end that we are dead */
	int gate;     /* where the program waits; -1: nowhere, or not any more */
	struct wti_relay_page *page;
	struct wti_redirect redirects[2]; /* standard output and error */
	struct wti_monitor_news first; /* that the program was started: to be heard like others */
	char unrelayed[160]; /* why the program has the caller's own output; empty if it has not */
};

/* The file that a word names. WT_E_MISSING: there is none; WT_E_ARG: it cannot be executed. */
int wti_launch_find(const char *program, char *const *environment, char *out, size_t bytes,
		    struct wt_err *err);
/*
 * Starts the program. Where there is no terminal, pipe or thread to be had for the relay the
 * program is started without one. On failure nothing was started, and everything is as before.
 */
int wti_launch(struct wti_launch *launch, struct wt_err *err);
/* Lets a program begin that waits at the gate. */
void wti_launch_go(struct wti_launch *launch, bool with_filter);
/* The program was stopped, or goes on: who has the terminal. */
void wti_launch_terminal(struct wti_launch *launch, bool to_program);
void wti_launch_signal(const struct wti_launch *launch, int number, bool group);
/* Waits until the relay has passed on all that the program had written, at most this long. */
bool wti_launch_drain(struct wti_launch *launch, uint64_t timeout_ns);
void wti_launch_release(struct wti_launch *launch);

#endif
