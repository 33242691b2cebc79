/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording from its first to its last moment: start a program, or take up one that runs, follow
 * it and its children, turn what their agents publish into a run folder, and say what became of it.
 *
 * Nothing here prints or reads the environment: the caller passes in what is needed and prints the
 * outcome. One recording a process at a time, as signals, the terminal and children are its own.
 */
#ifndef WTI_COLLECT_COLLECT_H
#define WTI_COLLECT_COLLECT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>
#include <wheeltap/kinds.h>

#include "trace/run_folder.h"

#define WTI_RECORD_BYTES_MAX (2ull << 30) /* default ceiling of a trace */
#define WTI_RECORD_FLIGHT_NS (30ll * 1000000000)
#define WTI_RECORD_RINGS_BYTES_MAX (1ull << 30) /* all rings of a run together */
#define WTI_RECORD_STRANGERS_SHOWN 8
#define WTI_RECORD_LEFT_SHOWN 8
#define WTI_RECORD_GRACE_NS (2ll * 1000000000) /* for processes that outlive the program */

enum wti_record_on_full {
	WTI_RECORD_BLOCK,
	WTI_RECORD_DROP,
	WTI_RECORD_FLIGHT, /* drop, and keep only the last flight_ns on disk */
	WTI_RECORD_WAIT,   /* as long as the recorder lives: nothing is lost */
};

struct wti_limits;           /* rlimits.h */
struct wti_sink;             /* sink.h */
struct wti_syscalls_options; /* syscalls/syscalls.h */

struct wti_record_options {
	char *const *argv;        /* ends with NULL; not looked at where we attach to a process */
	char *const *environment; /* of the program; ends with NULL */
	char *const *additions; /* "NAME=value" in its place or besides, for Python; ends with NULL,
				   or NULL */
	char *const *variables; /* likewise, whatever becomes of Python */
	const char *preload;    /* a library for LD_PRELOAD, whatever else is there; or NULL */
	const char *noise;      /* for run.json, "rr:24"; or NULL */
	uint64_t noise_seed;
	char *const *chosen;  /* options of the recording as words, for run.json; or NULL */
	const char *settings; /* lines of key=value that agents may read; or NULL */
	const char *entrance; /* folder in PYTHONPATH by which the Python agent comes in; or NULL */
	const char *folder;   /* of the run; NULL: made under `base` */
	const char *base;     /* where runs live */
	const char *name;     /* or NULL: the program's */
	const char *temporary; /* where the private folder of the session goes */
	uint64_t ring_bytes;   /* of each thread; 0: the default. Rounded up to a power of two */
	uint64_t rings_bytes_max;
	uint64_t bytes_max; /* of the trace; 0: no ceiling */
	enum wti_record_on_full on_full;
	int64_t flight_ns;
	int64_t duration_ns; /* detach after this long; 0: never */
	int64_t wait_ns;     /* for processes that outlive the program; INT64_MAX: to their end */
	bool strings_keep;
	bool ends_group;          /* what asks to end goes to the program's whole process group */
	uint64_t blobs_bytes_max; /* of tensors' bytes that are kept; 0: none are */
	struct wti_sink *watch;   /* looks on while the program runs; or NULL */
	const struct wti_syscalls_options *syscalls; /* record them; or NULL */
	const struct wti_limits *limits;             /* taken already, to be given to the program */
};

struct wti_stranger { /* a process of the run that is not in the trace */
	uint32_t pid;
	uint32_t reason; /* enum wt_not_followed */
	bool is_python;
	bool is_program; /* the one that was to be recorded */
	uint64_t cpu_ns; /* to within the clock of /proc, when it was last looked at */
	char command[64];
};

struct wti_left { /* a process that outlived the recording */
	uint32_t pid;
	char command[64];
};

/* Why no Python process joined although one was there. */
enum wti_python_cause {
	WTI_PYTHON_NONE,        /* one joined, or there was none */
	WTI_PYTHON_ISOLATED,    /* -I, -E or -S */
	WTI_PYTHON_ENVIRONMENT, /* cleared */
	WTI_PYTHON_PATH,        /* PYTHONPATH was replaced */
	WTI_PYTHON_NO_AGENT,    /* for this interpreter, or it could not be loaded */
	WTI_PYTHON_VERSION,     /* the agent speaks another protocol */
	WTI_PYTHON_UNKNOWN,
	WTI_PYTHON_LIMITED, /* a limit leaves no room for the agent; `limited` says which */
};

struct wti_record_outcome {
	char folder[PATH_MAX];
	enum wti_run_status status;
	int exit_code; /* what the program gave, 128 + signal, 126, 127, or 125 */
	int signal;    /* that killed the program, or 0 */
	uint64_t duration_ns;
	uint64_t recorder_cpu_ns;
	uint64_t refused_rings; /* rings refused because of the ceiling */
	uint64_t events;
	uint64_t bytes;
	uint64_t lost; /* all reasons together */
	uint64_t lost_by[WT_LOST_DEVICE + 1];
	uint32_t process_count; /* that joined */
	uint32_t silent_count;  /* have the agent, but emitted nothing */
	uint32_t still_running; /* alive when the recording ended, the program among them */
	struct wti_left left[WTI_RECORD_LEFT_SHOWN]; /* the first of these */
	uint32_t mismatch_count;                     /* agents of another protocol version */
	uint32_t mismatch_protocol;
	uint32_t stranger_count;
	struct wti_stranger strangers[WTI_RECORD_STRANGERS_SHOWN];
	bool program_itself_not_followed;
	uint64_t console_bytes;
	uint64_t console_dropped; /* bytes shown but not kept in console.log */
	bool may_run;      /* on failure: for want of room alone. See wti_record_unrecorded() */
	char limited[400]; /* what is not recorded because of a limit; empty if that is nothing */
	char trouble[256]; /* why the trace ends before the program did; empty if it does not */
	char device_note[256];   /* what of a device is not recorded; empty: nothing was said */
	char agent_trouble[256]; /* what an agent left that could not be loaded; empty if none did
				  */
	const char *syscalls_backend; /* bpf or ptrace; NULL: they were not recorded */
	char syscalls_why[300];       /* that one */
	bool syscalls_is_second;      /* and it was not the first choice */
	uint64_t syscalls_count;
	uint64_t syscalls_foreign_count; /* of them by the table of another architecture */
	bool syscalls_without_setuid;    /* the program has lost its privileges to our tracing */
	uint32_t syscalls_process_count; /* whose calls are in the trace */
	uint32_t python_count;           /* processes in which the Python agent is at work */
	enum wti_python_cause python_cause;
	char python_why[400]; /* cause and cure; empty if there is none */
};

void wti_record_options_init(struct wti_record_options *options);

/*
 * Runs the program to its end; or records one that runs, until it ends or a signal asks us to (INT,
 * TERM, HUP, QUIT), after which it goes on and the exit code is 0. 0 when it was started, whatever
 * became of it; otherwise a negative code, with `ret_outcome->exit_code` 125, 126 (cannot be
 * executed) or 127 (not found) all the same.
 */
int wti_record_run(const struct wti_record_options *options, struct wti_record_outcome *ret_outcome,
		   struct wt_err *err);

/*
 * Becomes the program, as if we had never been, where it cannot be recorded for want of room.
 * Returns only if that fails: the exit code, and why.
 */
int wti_record_unrecorded(const struct wti_record_options *options, struct wt_err *err);

const char *wti_python_cause_name(enum wti_python_cause cause);

#endif
