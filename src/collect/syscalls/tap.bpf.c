/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The kernel's half of the BPF capture: watches the system calls of one process tree.
 *
 * Knows where the kernel keeps arguments and results, and who belongs to the tree: threads have a
 * state in task storage; one whose parent has a state gets one when it is born, and those of a
 * process that runs already get theirs when all threads are walked through. Everybody else costs
 * one look. A call is one record, made at its end (tap_records.h); nothing here waits or wakes
 * anybody up.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "raw.h"
#include "tap.h"

#define SIGKILL 9
#define SIGSYS 31

char LICENSE[] SEC("license") = "GPL";

#include "tap_kernel.h"

#include "tap_arch.h"

/* ---- Maps ------------------------------------------------------------------------------------ */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, WTI_TAP_RING_BYTES_MAX); /* is set by bpf.c */
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wti_tap_task);
} tasks SEC(".maps");

/* Process number: enum wti_root_mode. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WTI_TAP_ROOTS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} roots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WTI_TAP_CALLS_MAX);
	__type(key, __u32);
	__type(value, struct wti_tap_plan);
} plans SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wti_tap_scratch);
} scratches SEC(".maps");

const volatile bool wanted[WTI_TAP_CALLS_MAX];   /* by number of the native table */
const volatile __u16 compat[WTI_TAP_COMPAT_MAX]; /* of the 32-bit table: whose plan, plus one */
const volatile bool narrow;                      /* few are, and nobody is joined in a call */
const volatile bool contents;                    /* what is read and written is wanted, too */
/* Bits of enum wti_read_kind: those that the plans have, at all and before calls. The verifier
 * knows these numbers and passes over what cannot happen. */
const volatile __u32 kinds;
const volatile __u32 kinds_at_entry;

__u32 root_count;   /* entries of `roots`: usually nobody has to look */
__u32 last_track;   /* given out so far */
__u64 lost_records; /* found no room */
__u32 stopped;      /* nobody listens any more */
__u32 walk;         /* enum wti_tap_walk */

#include "tap_memory.h"
#include "tap_records.h"
#include "tap_stack.h"

/* ---- Who belongs to the tree ----------------------------------------------------------------- */

/*
 * Two may come at once, the thread itself and a walk: the first one makes the state, and nobody
 * takes note of it before it has a track.
 */
static __always_inline struct wti_tap_task *adopt(struct task_struct *task, __u32 parent, __u32 how)
{
	struct wti_tap_task *state =
		bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u32 track;

	if (!state) {
		lose();
		return NULL;
	}
	if (__sync_fetch_and_add(&state->claims, 1))
		return NULL;
	track = __sync_fetch_and_add(&last_track, 1) + 1;
	state->joined = how == WTI_TAP_TASK_ATTACHED; /* if it is in a call, until its next one */
	emit_task(task, state, track, parent, how);
	__sync_fetch_and_add(&state->track, track);
	return state;
}

/* The program itself, when it begins; a process that we attach to, thread by thread. */
static __always_inline struct wti_tap_task *adopt_root(struct task_struct *task, __u32 nr,
						       bool is_entry)
{
	__u32 pid = task->tgid;
	__u32 *mode = bpf_map_lookup_elem(&roots, &pid);

	if (!mode)
		return NULL;
	if (*mode == WTI_ROOT_ATTACH)
		return adopt(task, 0, WTI_TAP_TASK_ATTACHED);
	if (!is_entry || (nr != NR_EXECVE && nr != NR_EXECVEAT))
		return NULL;
	bpf_map_delete_elem(&roots, &pid);
	__sync_fetch_and_sub(&root_count, 1);
	return adopt(task, 0, WTI_TAP_TASK_PROGRAM);
}

static __always_inline struct wti_tap_task *state_of(struct task_struct *task, __u32 nr,
						     bool is_entry)
{
	struct wti_tap_task *state = bpf_task_storage_get(&tasks, task, 0, 0);

	if (!state && root_count)
		state = adopt_root(task, nr, is_entry);
	return stopped || !state || !state->track ? NULL : state;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static __always_inline bool is_wanted(__u32 arch, __u32 nr)
{
	if (arch != ARCH_NATIVE)
		return true; /* there is no name by which it could be left out */
	if (nr >= WTI_TAP_CALLS_MAX)
		nr = WTI_TAP_CALLS_MAX - 1; /* stands for all beyond */
	barrier_var(nr);                    /* the verifier is to see the bound where it is used */
	return wanted[nr & (WTI_TAP_CALLS_MAX - 1)];
}

/* A guest says where its own work begins and ends. True if this is such a word. */
static __always_inline bool take_own(struct wti_tap_task *state)
{
	if (state->nr != NR_PRCTL || state->arch != ARCH_NATIVE || state->args[0] != WTI_OWN_PRCTL)
		return false;
	if (state->args[1])
		state->own++;
	else if (state->own)
		state->own--;
	return true;
}

/* What is known of a call before anything is read for it. False: nobody wants it. */
static __always_inline bool begin_call(struct task_struct *task, struct wti_tap_task *state,
				       struct pt_regs *regs, __u32 nr)
{
	state->arch = arch_of(task, nr);
	state->nr = nr;
	state->joined = false;
	state->in_call = is_wanted(state->arch, nr);
	if (!state->in_call && nr != NR_PRCTL)
		return false;
	take_args(state, regs);
	state->flags = state->own ? WTI_TAP_OWN : 0;
	if (take_own(state))
		state->flags = WTI_TAP_OWN;
	state->away_ns = 0;
	state->start_ns = bpf_ktime_get_ns();
	return state->in_call;
}

/*
 * With an EXPR most calls are of no interest, whoever makes them: they cost two looks into a table.
 * An exec is, as it makes another program of its thread; so is what a guest says about itself.
 */
static __always_inline bool is_passed_over(struct task_struct *task, __u32 nr)
{
	return narrow && nr != NR_EXECVE && nr != NR_EXECVEAT && nr != NR_PRCTL &&
	       !is_wanted(arch_of(task, nr), nr);
}

SEC("tp_btf/sys_enter")
int enter(__u64 *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)ctx[0];
	__u32 nr = (__u32)ctx[1];
	struct wti_tap_task *state;

	if (is_passed_over(task, nr))
		return 0;
	state = state_of(task, nr, true);
	if (!state)
		return 0;
	state->entered = true;
	if (!begin_call(task, state, regs, nr))
		return 0;
	if (stacks && !state->flags)
		emit_stack(task, state, regs);
	if (kinds_at_entry)
		emit_entry(state);
	state->start_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * A seccomp filter of the program comes before sys_enter, and what it answers itself gets no
 * further: such a call has an end only, or none if its thread is killed. Its registers are still
 * those that it got.
 */
static __always_inline bool was_answered(struct wti_tap_task *state, struct pt_regs *regs)
{
	return !state->entered && !state->joined && (__s32)number_of(regs) >= 0;
}

/* The kernel has put the registers back as they were and sends a signal: there is no result. */
static __always_inline bool is_trapped(struct task_struct *task)
{
	return task->pending.signal.sig[0] >> (SIGSYS - 1) & 1;
}

/* A call that began before the recording: its registers are still those that it got. */
static __always_inline void take_joined(struct wti_tap_task *state, struct task_struct *task,
					struct pt_regs *regs)
{
	state->joined = false;
	state->nr = number_of(regs);
	state->arch = arch_of(task, state->nr);
	state->away_ns = 0;
	state->start_ns = bpf_ktime_get_ns();
	take_args(state, regs);
}

static __always_inline void emit_joined(struct wti_tap_task *state, struct task_struct *task,
					struct pt_regs *regs)
{
	take_joined(state, task, regs);
	if (is_wanted(state->arch, state->nr))
		emit_call(state, result_of(regs, state->arch), WTI_TAP_JOINED);
}

SEC("tp_btf/sys_exit")
int leave(__u64 *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)ctx[0];
	struct wti_tap_task *state;
	bool answered, trapped;

	if (is_passed_over(task, number_of(regs)))
		return 0;
	state = state_of(task, 0, false);
	if (!state)
		return 0;
	answered = was_answered(state, regs);
	trapped = answered && is_trapped(task);
	if (answered)
		begin_call(task, state, regs, number_of(regs));
	state->entered = false;
	if (state->in_call) {
		__s64 result = trapped ? 0 : result_of(regs, state->arch);

		state->in_call = false;
		if (trapped)
			state->flags |= WTI_TAP_UNFINISHED;
		if (result <= -512 && result >= -516)
			state->flags |= WTI_TAP_RESTARTS;
		if (!emit_program(task, state, result) &&
		    !emit_call_with_memory(state, result, state->flags, answered))
			emit_call(state, result, state->flags);
	} else if (state->joined) {
		emit_joined(state, task, regs);
	}
	if (state->execed) {
		state->execed = false;
		emit_task(task, state, state->track, 0, WTI_TAP_TASK_EXEC);
	}
	return 0;
}

/* ---- Births, changes and deaths -------------------------------------------------------------- */

SEC("tp_btf/sched_process_fork")
int forked(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0];
	struct task_struct *child = (void *)ctx[1];
	struct wti_tap_task *state = state_of(parent, 0, false);
	bool is_thread;

	if (!state)
		return 0;
	is_thread = child->tgid == parent->tgid;
	state = adopt(child, parent->pid, is_thread ? WTI_TAP_TASK_THREAD : WTI_TAP_TASK_PROCESS);
	if (state)
		state->entered =
			CHILD_LEAVES &&
			!is_passed_over(parent, number_of((void *)bpf_task_pt_regs(parent)));
	return 0;
}

SEC("tp_btf/sched_process_exec")
int execed(__u64 *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct wti_tap_task *state = bpf_task_storage_get(&tasks, task, 0, 0);

	if (state)
		state->execed = true;
	return 0;
}

/* By a filter, without a signal that would have been delivered to it. */
static __always_inline bool was_killed(struct task_struct *task, struct wti_tap_task *state)
{
	__u32 number = task->exit_code & 0x7f;

	return (number == SIGSYS || number == SIGKILL) && state->signal != number &&
	       state->signal != SIGKILL;
}

/* Its memory is gone by now. */
static __always_inline void begin_killed(struct task_struct *task, struct wti_tap_task *state)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	__u32 nr = number_of(regs);

	if ((__s32)nr < 0)
		return;
	state->arch = arch_of(task, nr);
	state->nr = nr;
	state->in_call = is_wanted(state->arch, nr);
	take_args(state, regs);
	state->flags = WTI_TAP_UNREAD | (state->own ? WTI_TAP_OWN : 0);
	state->away_ns = 0;
	state->start_ns = bpf_ktime_get_ns();
}

SEC("tp_btf/sched_process_exit")
int ended(__u64 *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct wti_tap_task *state = bpf_task_storage_get(&tasks, task, 0, 0);

	if (!state || !state->track || stopped)
		return 0;
	if (!state->entered && !state->joined && was_killed(task, state))
		begin_killed(task, state);
	if (state->in_call)
		emit_call(state, 0, state->flags | WTI_TAP_UNFINISHED);
	state->in_call = false;
	emit_end(task, state);
	return 0;
}

/* ---- Signals --------------------------------------------------------------------------------- */

#define SIGSTOP 19
#define SIGTTOU 22 /* SIGTSTP and SIGTTIN are between the two */

SEC("tp_btf/signal_deliver")
int signalled(__u64 *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct k_sigaction *action = (void *)ctx[2];
	struct wti_tap_task *state = state_of(task, 0, false);
	__u32 number = (__u32)ctx[0];

	if (!state)
		return 0;
	state->signal = (__u8)number;
	if (number == SIGKILL) /* it reaches nobody: the end says it */
		return 0;
	emit_signal(state, number, 0, (const void *)ctx[1]);
	if (number == SIGSTOP || (number > SIGSTOP && number <= SIGTTOU && !action->sa.sa_handler))
		emit_signal(state, number, WTI_RAW_SIGNAL_STOPPED, NULL);
	return 0;
}

/* ---- Who has a processor --------------------------------------------------------------------- */

/*
 * A call's own time is what is left of it without the time that its thread was away. Here, as most
 * calls see no switch: they pay nothing for it.
 */
SEC("tp_btf/sched_switch")
int switched(__u64 *ctx)
{
	struct task_struct *from = (void *)ctx[1], *to = (void *)ctx[2];
	struct wti_tap_task *state = bpf_task_storage_get(&tasks, from, 0, 0);

	if (state && state->in_call)
		state->away_since_ns = bpf_ktime_get_ns();
	state = bpf_task_storage_get(&tasks, to, 0, 0);
	if (state && state->away_since_ns) {
		state->away_ns += bpf_ktime_get_ns() - state->away_since_ns;
		state->away_since_ns = 0;
	}
	return 0;
}

/* ---- Walks through all threads --------------------------------------------------------------- */

/* The call that it is in when the recording ends. */
static __always_inline void emit_call_in_flight(struct task_struct *task)
{
	struct wti_tap_task *state = bpf_task_storage_get(&tasks, task, 0, 0);
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	__u32 flags = WTI_TAP_UNFINISHED | WTI_TAP_GOES_ON;

	if (!state || !state->track)
		return;
	/* One that is not in a call may run and be on its way to one, but it does not sleep. */
	if (state->joined && task->__state && (__s32)number_of(regs) >= 0) {
		take_joined(state, task, regs);
		state->flags = WTI_TAP_JOINED;
		state->in_call = is_wanted(state->arch, state->nr);
	}
	if (state->in_call && state->away_since_ns)
		state->away_ns += bpf_ktime_get_ns() - state->away_since_ns;
	if (state->in_call)
		emit_call(state, 0, state->flags | flags);
	state->in_call = false;
}

SEC("iter/task")
int walk_all(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[1];

	if (!task)
		return 0;
	if (walk == WTI_TAP_WALK_ADOPT)
		adopt_root(task, 0, false);
	else if (walk == WTI_TAP_WALK_END)
		emit_call_in_flight(task);
	return 0;
}
