/* SPDX-License-Identifier: Apache-2.0 */
/* All parts of one recorder, and the functions that the files of its main loop share. */
#ifndef WTI_COLLECT_RECORDER_H
#define WTI_COLLECT_RECORDER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach.h"
#include "blobs.h"
#include "clock.h"
#include "collect.h"
#include "drain.h"
#include "environment.h"
#include "join.h"
#include "launch.h"
#include "rlimits.h"
#include "loaded.h"
#include "name.h"
#include "runfile.h"
#include "seeds.h"
#include "session.h"
#include "streams.h"
#include "syscalls/syscalls.h"
#include "tree.h"
#include "watermark.h"

struct wti_recorder {
	const struct wti_record_options *options;
	struct wti_record_outcome *outcome;
	uint64_t ring_bytes;

	struct wti_recording_clock clock;
	struct wti_runfile runfile;
	struct wti_environment environment;
	struct wti_session session;
	struct wti_streams streams;
	struct wti_seeds seeds;
	struct wti_blobs blobs;
	struct wti_loaded loaded;
	struct wti_drain drain;
	struct wti_join_events join_events;
	struct wti_join join;
	struct wti_tree tree;
	struct wti_watermark watermark;
	struct wti_launch launch;
	struct wti_syscalls syscalls;       /* not open: not wanted */
	struct wti_attach attach;           /* a program that is not started by us */
	struct wti_record_options attached; /* then: the options, with what that was started with */
	char name[WTI_NAME_BYTES];
	char executable[PATH_MAX];
	char **variables; /* of the program */
	char *preload;    /* one of them */

	int epoll;
	int signals;
	sigset_t old_mask;
	struct sigaction old_sigpipe;

	uint64_t start_ns; /* MONOTONIC */
	uint64_t start_real_ns;
	uint64_t end_real_ns;
	uint64_t tree_looked_ns;
	uint64_t loaded_looked_ns;
	uint64_t loaded_pause_ns;
	uint64_t watermark_ns;
	uint64_t ended_ns; /* MONOTONIC moment of the program's end; 0: it runs */
	uint64_t heard_ns; /* when we heard of it: a recorder that was stopped hears late */
	int64_t wait_ns;   /* for processes that outlive it */
	int wait_status;
	int exec_errno;        /* the program could not be started */
	struct wt_err refusal; /* or was not, as its calls could not be recorded; code 0: it was */
	uint64_t cpu_ns;       /* of the program */
	uint64_t memory_bytes;
	uint64_t memory_floor_bytes;
	uint64_t fault_count;
	uint64_t major_fault_count;
	bool interrupted;          /* the recording ended before the program, as was asked for */
	int asked_to_end;          /* the signal to end that was passed on last; 0: none was */
	uint64_t signals_waiting;  /* came before we knew the program's pid: a bit each */
	bool detached;             /* nothing is recorded any more */
	bool refused;              /* what was asked for, not for want of room */
	char python_kept_out[120]; /* why the Python agent is not to enter; empty if it is */
};

/* signals.c */
int wti_signals_open(struct wti_recorder *recorder, struct wt_err *err);
void wti_signals_close(struct wti_recorder *recorder);
void wti_signals_take(struct wti_recorder *recorder);
/* The monitor has reported something about the program. */
void wti_signals_news(struct wti_recorder *recorder);
void wti_signals_heard(struct wti_recorder *recorder, const struct wti_monitor_news *news);

/* record.c */
/* Something is not recorded because of a limit: in the run, and said at the end. */
void wti_record_limited(struct wti_recorder *recorder, const char *why);

/* The program is about to begin: what it inherits besides its standard descriptors. */
void wti_record_inherited(struct wti_recorder *recorder);

/* variables.c; after a failure what was made is there to be released */
int wti_variables_make(struct wti_recorder *recorder, struct wt_err *err);
void wti_variables_release(struct wti_recorder *recorder);

/* loop.c */
void wti_loop_run(struct wti_recorder *recorder);

/* left.c */
/* When nothing is recorded any more: who of the run is still alive, into the outcome and the run.
 */
void wti_left_look(struct wti_recorder *recorder);

/* python.c */
/* When all have joined who will: says why no Python process has, where one was. */
void wti_python_look(struct wti_recorder *recorder);

/* describe.c */
/* The short one omits the environment, and the lists that grow with the run. */
void wti_describe(const struct wti_recorder *recorder, bool is_short, struct wti_buf *out);
void wti_describe_outcome(struct wti_recorder *recorder);

#endif
