/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The part of tap.bpf.c that knows types of the kernel: declared with the few members that are
 * used, and placed by CO-RE.
 */
#ifndef WTI_SYSCALLS_TAP_KERNEL_H
#define WTI_SYSCALLS_TAP_KERNEL_H

#define PLACED __attribute__((preserve_access_index))

struct thread_info {
	unsigned long flags;
	__u32 status;
} PLACED;

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
} PLACED;

struct mm_struct {
	unsigned long start_stack;
	unsigned long arg_start, arg_end, env_end;
} PLACED;

struct sigaction {
	void *sa_handler;
} PLACED;

struct k_sigaction {
	struct sigaction sa;
} PLACED;

typedef struct {
	unsigned long sig[1];
} sigset_t;

struct sigpending {
	sigset_t signal;
} PLACED;

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state; /* 0: it runs, or is about to */
	int pid;
	int tgid;
	int exit_code;
	char comm[16];
	struct task_struct *group_leader;
	struct signal_struct *signal;
	struct mm_struct *mm;
	struct sigpending pending; /* of this thread alone */
} PLACED;

#endif
