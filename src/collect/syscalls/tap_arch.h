/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * A part of tap.bpf.c: what differs between processors, which is where the kernel keeps the number,
 * the arguments and the result of a call, and how it says whose table the number belongs to.
 */
#ifndef WTI_SYSCALLS_TAP_ARCH_H
#define WTI_SYSCALLS_TAP_ARCH_H

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	unsigned long ip, sp;
} PLACED;

#define ARCH_NATIVE 1 /* WT_ARCH_X86_64 */
#define ARCH_COMPAT 3 /* WT_ARCH_I386 */
#define ARCH_X32 4    /* WT_ARCH_X32 */
#define TS_COMPAT 2u
#define X32_BIT 0x40000000u
#define NR_PRCTL 157
#define CHILD_LEAVES 1 /* a new thread is first seen at the end of its parent's call */
#define NR_EXECVE 59
#define NR_EXECVEAT 322

static __always_inline __u32 arch_of(struct task_struct *task, __u32 nr)
{
	if (task->thread_info.status & TS_COMPAT)
		return ARCH_COMPAT;
	return nr & X32_BIT ? ARCH_X32 : ARCH_NATIVE;
}

static __always_inline void take_args(struct wti_tap_task *state, struct pt_regs *regs)
{
	if (state->arch == ARCH_COMPAT) {
		state->args[0] = (__u32)regs->bx;
		state->args[1] = (__u32)regs->cx;
		state->args[2] = (__u32)regs->dx;
		state->args[3] = (__u32)regs->si;
		state->args[4] = (__u32)regs->di;
		state->args[5] = (__u32)regs->bp;
		return;
	}
	state->args[0] = regs->di;
	state->args[1] = regs->si;
	state->args[2] = regs->dx;
	state->args[3] = regs->r10;
	state->args[4] = regs->r8;
	state->args[5] = regs->r9;
}

static __always_inline void take_registers(__u64 *to, struct pt_regs *regs)
{
	to[0] = regs->ax;
	to[1] = regs->dx;
	to[2] = regs->cx;
	to[3] = regs->bx;
	to[4] = regs->si;
	to[5] = regs->di;
	to[6] = regs->bp;
	to[7] = regs->sp;
	to[8] = regs->r8;
	to[9] = regs->r9;
	to[10] = regs->r10;
	to[11] = regs->r11;
	to[12] = regs->r12;
	to[13] = regs->r13;
	to[14] = regs->r14;
	to[15] = regs->r15;
	to[16] = regs->ip;
}

static __always_inline __s64 result_of(struct pt_regs *regs, __u32 arch)
{
	return arch == ARCH_COMPAT ? (__s32)regs->ax : (__s64)regs->ax;
}

static __always_inline __u32 number_of(struct pt_regs *regs)
{
	return (__u32)regs->orig_ax;
}
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
} PLACED;

struct pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 orig_x0;
	__s32 syscallno;
} PLACED;

#define ARCH_NATIVE 2 /* WT_ARCH_AARCH64 */
#define ARCH_COMPAT 5 /* WT_ARCH_ARM */
#define TIF_32BIT (1ul << 22)
#define NR_PRCTL 167
#define CHILD_LEAVES 0
#define NR_EXECVE 221
#define NR_EXECVEAT 281

static __always_inline __u32 arch_of(struct task_struct *task, __u32 nr)
{
	return task->thread_info.flags & TIF_32BIT ? ARCH_COMPAT : ARCH_NATIVE;
}

static __always_inline void take_args(struct wti_tap_task *state, struct pt_regs *regs)
{
	state->args[0] = regs->orig_x0;
	for (int i = 1; i < 6; i++)
		state->args[i] = regs->regs[i];
}

static __always_inline void take_registers(__u64 *to, struct pt_regs *regs)
{
	for (int i = 0; i < 31; i++)
		to[i] = regs->regs[i];
	to[31] = regs->sp;
	to[32] = regs->pc;
}

static __always_inline __s64 result_of(struct pt_regs *regs, __u32 arch)
{
	return arch == ARCH_COMPAT ? (__s32)regs->regs[0] : (__s64)regs->regs[0];
}

static __always_inline __u32 number_of(struct pt_regs *regs)
{
	return (__u32)regs->syscallno;
}
#else
#error "no BPF capture for this processor"
#endif

#endif
