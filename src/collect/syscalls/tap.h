/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What the two halves of the BPF capture agree on besides the records. Compiled for BPF as well. */
#ifndef WTI_SYSCALLS_TAP_H
#define WTI_SYSCALLS_TAP_H

#include <linux/types.h>

#include "syscall/table.h"

#include "raw.h"

#define WTI_TAP_RING_BYTES_MAX (64u << 20) /* a power of two, as all that bpf.c may choose */
#define WTI_TAP_CALLS_MAX 1024
#define WTI_TAP_COMPAT_MAX 512
#define WTI_TAP_ROOTS_MAX 4096

/* Numbers of the generated enum wt_task and of enum wt_syscall_flags; bpf.c proves it. */
#define WTI_TAP_TASK_PROGRAM 0
#define WTI_TAP_TASK_ATTACHED 1
#define WTI_TAP_TASK_THREAD 2
#define WTI_TAP_TASK_PROCESS 3
#define WTI_TAP_TASK_EXEC 4
#define WTI_TAP_UNFINISHED 1
#define WTI_TAP_JOINED 2
#define WTI_TAP_OWN 4
#define WTI_TAP_UNREAD 8
#define WTI_TAP_RESTARTS 16
#define WTI_TAP_GOES_ON 32

#define WTI_TAP_MEMORY_MAX (16u << 10) /* of all pieces of a call; a power of two */
#define WTI_TAP_PIECE_MAX 4096u        /* of one */

/* Why all threads of the machine are walked through. */
enum wti_tap_walk {
	WTI_TAP_WALK_ADOPT = 1, /* those of processes that run already */
	WTI_TAP_WALK_END,       /* for calls that are not over */
};

/* What there is to read for a number. */
struct wti_tap_plan {
	__u32 count;
	_Bool at_entry; /* something that may be different at the end */
	_Bool at_exit;
	struct wti_read reads[16]; /* WTI_READS_MAX of them; the verifier likes powers of two */
};

/* Of a processor: where a record with memory is put together. */
struct wti_tap_scratch {
	struct wti_raw_call call; /* of an entry: its record is the end of this */
	__u8 memory[WTI_TAP_MEMORY_MAX + WTI_TAP_PIECE_MAX];
	__u32 bytes; /* of memory that are used */
	__u32 nr;
	__u32 left;    /* of contents */
	__u8 mark;     /* of the pieces that come: 0, or WTI_PIECE_EXIT */
	__u8 argument; /* that points to the piece */
	_Bool is_exit;
	_Bool all; /* at exit also what is otherwise read before */
	_Bool unread;
	__u64 args[6];
	__s64 result;
};

/* Of a processor: where the copy of a stack is put together. */
struct wti_tap_stack {
	struct wti_raw_stack head;
	__u8 data[WTI_RAW_STACK_MAX + 4096];
};

/* Of a thread of the tree. */
struct wti_tap_task {
	__u64 seq; /* of the next record */
	__u64 start_ns;
	__u64 away_ns;       /* without a processor since then */
	__u64 away_since_ns; /* 0: it has one, or is in no call */
	__u64 args[6];
	__u32 nr;
	__u32 arch;
	__u32 track;   /* 0: it is about to be adopted */
	__u32 claims;  /* who was the first to adopt it */
	__u32 flags;   /* of the call that it is in */
	_Bool entered; /* the begin of a call was seen, its end was not */
	_Bool in_call; /* one that is wanted */
	_Bool joined;  /* it was found in the middle of a call */
	__u8 signal;   /* the last that was delivered */
	__u8 own;      /* a guest works for itself: how many layers deep */
	_Bool execed;  /* it has become another program and not yet said so */
};

#endif
