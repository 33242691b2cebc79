/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What a capture of system calls hands over, whether it runs in the kernel or traces by ptrace.
 * Compiled for BPF as well: nothing here but layouts.
 *
 * Tracks are numbered from 1 in the order of births. Each record of a track has the next sequence
 * number, also one that finds no room: a hole proves a loss and says how much.
 */
#ifndef WTI_SYSCALLS_RAW_H
#define WTI_SYSCALLS_RAW_H

#include <linux/types.h>

enum wti_raw_type {
	WTI_RAW_CALL = 1,
	WTI_RAW_TASK,
	WTI_RAW_END,
	WTI_RAW_ENTRY, /* pieces of memory as it was when the call began that comes next on the
			  track */
	WTI_RAW_STACK, /* registers and stack of a thread when the call began that comes next */
	WTI_RAW_MAP,   /* of no track: what a process has in its memory changes */
	WTI_RAW_SIGNAL,
};

/* In the flags of a piece, on the way to program.c: what a program was executed with. */
#define WTI_RAW_PIECE_PROGRAM 16

struct wti_raw {
	__u32 type; /* enum wti_raw_type */
	__u32 track;
	__u64 seq; /* of an ENTRY: of the call to come, which has the same */
	__u64 time_ns;
};

struct wti_raw_call {
	struct wti_raw raw; /* time_ns: of its end */
	__u32 nr;
	__u32 arch; /* enum wt_arch */
	__u64 args[6];
	__s64 result;
	__u64 duration_ns;
	__u64 system_ns; /* of it the thread had a processor */
	__u32 flags;     /* enum wt_syscall_flags */
	__u32 memory_bytes;
	/* Then pieces as in the trace. */
};

struct wti_raw_task {
	struct wti_raw raw;
	__u32 tid;
	__u32 pid;
	__u32 parent;
	__u32 how; /* enum wt_task */
	char command[16];
};

struct wti_raw_end {
	struct wti_raw raw;
	__u32 tid;
	__u32 pid;
	__s32 status; /* as waitpid() gives it */
	__u32 flags;
};

struct wti_raw_entry {
	struct wti_raw raw;
	__u32 memory_bytes;
	__u32 reserved;
};

/* Registers by their numbers in DWARF; the last is the address of the next instruction. */
#if defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#define WTI_RAW_REGS 33
#define WTI_RAW_FP 29
#define WTI_RAW_SP 31
#else
#define WTI_RAW_REGS 17
#define WTI_RAW_FP 6
#define WTI_RAW_SP 7
#endif
#define WTI_RAW_PC (WTI_RAW_REGS - 1)
#define WTI_RAW_STACK_MAX (32u << 10) /* bytes of a stack; a power of two */

struct wti_raw_stack {
	struct wti_raw raw; /* seq: of the call to come; time_ns: of its begin */
	__u32 pid;
	__u32 stack_bytes; /* that follow, from the stack pointer up */
	__u64 regs[WTI_RAW_REGS];
};

enum wti_map_change {
	WTI_MAP_BEGIN = 1, /* a process of the run: all that it has follows from here on */
	WTI_MAP_ADD,       /* code of a file at an address */
	WTI_MAP_CLEAR,     /* nothing is left: the process is another program */
	WTI_MAP_COPY,      /* it has what its parent has */
	WTI_MAP_END,       /* the process is gone */
};

struct wti_raw_map {
	struct wti_raw raw;
	__u32 pid;
	__u32 change; /* enum wti_map_change */
	__u32 parent; /* COPY */
	__u32 path_bytes;
	__u64 address;
	__u64 bytes;
	__u64 offset; /* in the file, whose path follows */
};
#define WTI_RAW_SIGNAL_STOPPED 1u /* the thread has stopped for it: no info */

struct wti_raw_signal {
	struct wti_raw raw;
	__u32 number;
	__u32 flags;
	__u8 info[48]; /* the kernel's siginfo: the same everywhere as far as this */
};

/* How the first process of a recording is taken up. */
enum wti_root_mode {
	WTI_ROOT_PROGRAM = 1, /* with its next execve: what comes before is ours */
	WTI_ROOT_ATTACH = 2,  /* with whatever each of its threads does next */
};

/* As in trace/protocol.h, which BPF cannot include; where both are, the compiler compares. */
#define WTI_OWN_PRCTL 0x57544150u

#endif
