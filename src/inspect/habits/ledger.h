/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger: what the processes of a run asked of the kernel, added up while its system calls go
 * by. A POSTING is what one process did of one kind to one thing (read small pieces of a file,
 * looked a name up, started a program): how often, how long, since when. Of each THREAD it is
 * known how long it waited and which calls it repeated without progress.
 *
 * Rules about habits of programs (in this room) are questions to it at the end of a run. Calls of
 * the recorder's own guests are not in it. One pass; everything has a ceiling, and what was beyond
 * is counted.
 */
#ifndef WTI_PATTERNS_LEDGER_H
#define WTI_PATTERNS_LEDGER_H

#include "base/buf.h"
#include "inspect/core/requests.h"
#include "loop.h"

struct wti_calls;
struct wti_handles;

enum wti_matter {
	WTI_MATTER_SMALL_READ, /* of a file: less than a page */
	WTI_MATTER_SMALL_WRITE,
	WTI_MATTER_OPENED,   /* a file, with success */
	WTI_MATTER_LOOKED,   /* a name was looked up: stat, access, an open that failed */
	WTI_MATTER_WAITED,   /* for a file or a peer: a single call took long */
	WTI_MATTER_STARTED,  /* a child that has ended; bytes: 0, time: of its life */
	WTI_MATTER_RANDOM,   /* random numbers were drawn */
	WTI_MATTER_CLOCK,    /* the time was asked for */
	WTI_MATTER_UNMAPPED, /* memory of its own was given back that had been asked for before */
};

struct wti_posting {
	uint32_t process; /* place in the ledger */
	uint32_t thing;   /* name plus one; 0: nothing that has a name */
	enum wti_matter matter;
	uint32_t arch, nr;    /* of its last call */
	uint32_t tid;         /* of its first call */
	struct wti_line line; /* of one of its calls, of many a late one */
	uint64_t count;
	uint64_t bytes;
	uint64_t time_ns;
	int64_t first_ns, last_ns;
	int64_t first_step; /* -1: not in a step */
};

struct wti_ledger_process {
	uint32_t pid;
	uint32_t parent; /* place plus one; 0: not known */
	uint32_t exec_count;
	bool has_ended;
	int64_t born_ns, ended_ns;
	uint64_t busy_ns;     /* of threads that have ended */
	uint64_t break_bytes; /* the program break, as it last was */
	char command[32];
	/* Steps, of a process that emits them. */
	uint32_t step_tid;
	int64_t step; /* -1: none yet */
	int64_t step_began_ns;
	uint64_t step_waited_ns;                 /* in this step, by the thread that emits them */
	uint64_t step_count, step_blocked_count; /* whole steps; those with a large share */
	uint64_t steps_ns, steps_waited_ns;
	int64_t first_blocked_step;
};

struct wti_ledger_thread {
	uint32_t process;
	uint32_t tid;
	bool has_ended;
	int64_t born_ns, last_ns;
	uint64_t waited_ns;
	struct wti_loop loop;
};

struct wti_ledger {
	uint64_t blocked_percent; /* of a step, from which on it counts as blocked */
	const struct wti_requests *requests;
	struct wti_handles *handles;
	const struct wti_calls *calls; /* of functions, as agents emit them */
	struct wti_map names;          /* of things */
	struct wti_map posting_of;     /* process, thing and matter: place plus one */
	struct wti_map process_of;     /* pid: place plus one */
	struct wti_map thread_of;      /* stream and track: place plus one */
	struct wti_map tid_of;         /* tid: place of its thread plus one */
	struct wti_map track_of;       /* tid: stream and track of its agent's, plus one */
	struct wti_map mapped;         /* process and address: it is mapped */
	struct wti_posting *postings;
	size_t posting_count, posting_capacity;
	struct wti_ledger_process *processes;
	size_t process_count, process_capacity;
	struct wti_ledger_thread *threads;
	size_t thread_count, thread_capacity;
	struct wti_buf text;
	uint64_t call_count;
	uint64_t lost_count; /* in the stream of system calls */
	uint64_t left_out_count;
	uint64_t alive_count; /* processes that outlived the program and the recording */
	uint32_t stream;      /* of system calls */
};

/* `calls` goes along: it has to have taken an event before the ledger does. */
int wti_ledger_init(struct wti_ledger *ledger, uint64_t blocked_percent,
		    const struct wti_calls *calls, struct wt_err *err);
void wti_ledger_release(struct wti_ledger *ledger);
/* Takes events of the kinds task, task_end, syscall, call_begin, context and lost; others are
 * passed over. */
int wti_ledger_event(struct wti_ledger *ledger, const struct wt_event *event, struct wt_err *err);
/* Threads that did not end are taken to have lived until their last call. */
void wti_ledger_finish(struct wti_ledger *ledger);

/* "/data/set"; "" for nothing. */
const char *wti_ledger_thing(const struct wti_ledger *ledger, uint32_t thing);
/* Per second, between its first and its last. */
double wti_posting_rate(const struct wti_posting *posting);

#endif
