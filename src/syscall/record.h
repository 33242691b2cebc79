/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One system call as it stands in a trace, and the thread that made it.
 *
 * Knows the fields of the kinds `syscall`, `task` and `task_end` (docs/events.md) and how pieces of
 * memory are packed into one text. Says nothing of what a call means: that is table.h.
 *
 * All system calls of a run stand in one stream, a track a thread. An event is emitted when its
 * call is over, so events come in order of their ends; start_ns says when it began.
 */
#ifndef WTI_SYSCALL_RECORD_H
#define WTI_SYSCALL_RECORD_H

#include <wheeltap/trace.h>

#include "base/map.h"
#include "table.h"

enum wti_piece_flags {
	WTI_PIECE_EXIT = 1,
	WTI_PIECE_CUT = 2,
	WTI_PIECE_PRIVATE = 4, /* the bytes are not the program's: a stand-in of another length */
	/* Not memory: the path at which the file really is that the argument names or, if the
	 * address is no argument, the descriptor of that number that the call has brought. */
	WTI_PIECE_PLACE = 8,
};

#define WTI_SYSCALL_PIECES_MAX 128
#define WTI_SYSCALL_PLACES_MAX 16
#define WTI_SYSCALL_MEMORY_MAX (16u << 10) /* of all pieces of a call with their heads */
#define WTI_PIECE_OTHER 0xff               /* its address is no argument, but follows */
#define WTI_PIECE_HEAD_BYTES 4

/* Where a file really is, as the recorder found it. */
struct wti_real {
	int32_t arg; /* whose path it is; -1: of the descriptor */
	int32_t fd;
	struct wt_text path;
};

struct wti_syscall {
	uint32_t arch; /* enum wti_arch, or another of enum wt_arch that has no table. What i386 has
			  in common with x86_64 is the latter's (compat.h) */
	uint32_t nr;
	uint64_t args[WTI_CALL_ARGS];
	int64_t result;
	uint32_t flags; /* enum wt_syscall_flags */
	uint32_t stack; /* interned, of the stream; 0: none */
	size_t stream;
	uint32_t track;
	uint64_t seq;
	int64_t start_ns; /* since the start of the run */
	uint64_t duration_ns;
	size_t piece_count;
	struct wti_piece pieces[WTI_SYSCALL_PIECES_MAX]; /* point into the event's batch */
	size_t place_count;
	struct wti_real places[WTI_SYSCALL_PLACES_MAX]; /* likewise */
};

/* Finds pieces and places in memory as the trace has it; arguments are known. */
void wti_syscall_split(struct wti_syscall *call, struct wt_text memory);
/* Where the file really is that the path of argument `arg` names, or the descriptor `fd` if `arg`
 * is -1. False: nothing else is known of it than the call says. */
bool wti_syscall_place(const struct wti_syscall *call, int32_t arg, int32_t fd,
		       struct wt_text *ret_path);

/*
 * Takes an event of kind syscall apart. Pieces that are not what the format allows end the list:
 * what came before them is kept.
 */
void wti_syscall_read(const struct wt_event *event, struct wti_syscall *ret_call);

/* ---- Who made it ----------------------------------------------------------------------------- */

struct wti_task {
	size_t stream;
	uint32_t track;
	uint32_t tid;
	uint32_t pid;
	uint32_t parent;  /* tid of the thread that made it; 0: not known */
	uint32_t how;     /* enum wt_task: of its birth, never exec */
	uint32_t exec;    /* how often it has called exec since */
	bool ended;       /* task_end was seen */
	int32_t status;   /* then */
	char command[64]; /* the last that is known */
};

/* The threads of a run, as their events go by. */
struct wti_tasks {
	struct wti_map index; /* stream and track: entry plus one */
	struct wti_task *all; /* in the order of their births */
	size_t count;
	size_t capacity;
};

void wti_tasks_init(struct wti_tasks *tasks);
void wti_tasks_release(struct wti_tasks *tasks);
/* Takes events of the kinds task and task_end; others are passed over. */
int wti_tasks_event(struct wti_tasks *tasks, const struct wt_event *event, struct wt_err *err);
/* NULL if the beginning of that track was lost. Valid until the next event is taken. */
const struct wti_task *wti_tasks_of(const struct wti_tasks *tasks, const struct wt_event *event);

#endif
