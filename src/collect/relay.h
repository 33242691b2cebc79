/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console relay: a process of its own between the program's output and the caller's, so that
 * the output goes on when the recorder is killed, stopped or waits for a disk.
 *
 * What it reads it first shows, byte for byte, and then gives to console.c to keep. Each direction
 * has a thread, so that a reader of standard output who has fallen asleep does not hold up standard
 * error. When the caller's side is gone the program's side is closed as well: the program meets the
 * same SIGPIPE, or hangup of its terminal, as it would have without us.
 */
#ifndef WTI_COLLECT_RELAY_H
#define WTI_COLLECT_RELAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "session.h"

enum wti_relay_terminal {
	WTI_RELAY_RAW,    /* keys go to the program */
	WTI_RELAY_COOKED, /* the program is stopped: the terminal is as it was */
};

/* Shared by recorder and relay; the recorder wakes the relay by a byte in `life`. */
struct wti_relay_page {
	_Atomic uint32_t terminal;      /* enum wti_relay_terminal; written by the recorder */
	_Atomic uint32_t program_ended; /* written by the recorder: drain, then say so */
	_Atomic uint32_t drained;       /* all that was written before the end was passed on */
	_Atomic uint64_t console_bytes; /* shown */
	_Atomic uint64_t dropped_bytes; /* shown, but not kept */
};

struct wti_relay {
	int out_from; /* the program's standard output: a pipe or the pty; -1: none */
	int out_to;
	int err_from;  /* its standard error, where that is another pipe; -1: none */
	int err_to;    /* with neither the relay only watches whether the recorder lives */
	int keys_from; /* the terminal that keys come from; -1: none */
	int keys_to;   /* the pty */
	int window;    /* a terminal whose size the pty follows; -1: none */
	int console;   /* console.log; -1: not kept */
	int life;      /* ends when the recorder dies */
	int held;      /* kept open as long as the relay lives */
	int ready;     /* gets a byte when all is at work; ends without if it fails */
	struct wti_session *session; /* to be ended for a recorder that cannot any more */
	struct wti_relay_page *page;
};

/* Runs until the program's output ends. Does not return. */
_Noreturn void wti_relay_run(const struct wti_relay *relay);

/* Closes all descriptors but these; for processes that are forked and do not exec. */
void wti_close_all_but(const int *keep, int count);

#endif
