/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The kernel's half of the BPF capture: watches the system calls of one process tree.
 *
 * Knows where the kernel keeps arguments and results, and who belongs to the tree: threads have a
 * state in task storage; one whose parent has a state gets one when it is born, and those of a
 * process that runs already get theirs when all threads are walked through. Everybody else costs
 * one look. A call is one record, made at its end; nothing here waits or wakes anybody up.
 *
 * Types of the kernel are declared with the few members that are used, and placed by CO-RE.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "raw.h"
#include "tap.h"

#define SIGKILL 9
#define SIGSYS 31

#define PLACED __attribute__((preserve_access_index))

char LICENSE[] SEC("license") = "GPL";

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

/* ---- Records --------------------------------------------------------------------------------- */

static __always_inline void begin(struct wti_raw *raw, struct wti_tap_task *state, __u32 type,
				  __u64 now_ns)
{
	raw->type = type;
	raw->track = state->track;
	raw->seq = state->seq;
	raw->time_ns = now_ns;
}

static __always_inline void lose(void)
{
	__sync_fetch_and_add(&lost_records, 1);
}

static __always_inline void tell_task(struct task_struct *task, struct wti_tap_task *state,
				      __u32 track, __u32 parent, __u32 how)
{
	struct wti_raw_task *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		lose();
	} else {
		begin(&record->raw, state, WTI_RAW_TASK, bpf_ktime_get_ns());
		record->raw.track = track;
		record->tid = task->pid;
		record->pid = task->tgid;
		record->parent = parent;
		record->how = how;
		bpf_probe_read_kernel(record->command, sizeof(record->command), task->comm);
		bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	}
	state->seq++;
}

#include "tap_memory.h"
#include "tap_stack.h"

static __always_inline void fill_call(struct wti_raw_call *record, struct wti_tap_task *state,
				      __s64 result, __u32 flags)
{
	__u64 now_ns = bpf_ktime_get_ns();

	begin(&record->raw, state, WTI_RAW_CALL, now_ns);
	record->nr = state->nr;
	record->arch = state->arch;
	for (int i = 0; i < 6; i++)
		record->args[i] = state->args[i];
	record->result = result;
	record->duration_ns = now_ns - state->start_ns;
	record->system_ns =
		record->duration_ns > state->away_ns ? record->duration_ns - state->away_ns : 0;
	record->flags = flags;
}

/* With what its arguments point to, `all` of it or what was not read at its begin. False: there is
 * nothing to read, or no place for it. */
static __always_inline bool tell_call_with_memory(struct wti_tap_task *state, __s64 result,
						  __u32 flags, bool all)
{
	struct wti_tap_plan *plan = plan_of(state);
	struct wti_tap_scratch *s;
	__u32 bytes;

	if (!plan || !(all || plan->at_exit))
		return false;
	s = scratch();
	if (!s)
		return false;
	fill_call(&s->call, state, result, flags);
	s->all = all;
	read_memory(s, state, result, true, false);
	s->all = false;
	if (!s->bytes && !s->unread)
		return false;
	if (s->unread)
		s->call.flags |= WTI_TAP_UNREAD;
	bytes = s->bytes;
	barrier_var(bytes);
	bytes &= WTI_TAP_MEMORY_MAX - 1;
	s->call.memory_bytes = bytes;
	if (bpf_ringbuf_output(&ring, &s->call, sizeof(s->call) + bytes, BPF_RB_NO_WAKEUP))
		lose();
	state->seq++;
	return true;
}

/*
 * A program that could not be read about before it began: its words, and its path behind them, are
 * on the stack that it begins with. False: they are known, or it is not such a call.
 */
static __always_inline bool tell_program(struct task_struct *task, struct wti_tap_task *state,
					 __s64 result)
{
	struct mm_struct *mm;
	struct wti_tap_scratch *s;
	__u32 bytes;

	if (!(state->flags & WTI_TAP_UNREAD) || state->arch != ARCH_NATIVE ||
	    (state->nr != NR_EXECVE && state->nr != NR_EXECVEAT))
		return false;
	s = scratch();
	if (!s)
		return false;
	fill_call(&s->call, state, result, state->flags);
	if (!state->execed) { /* it failed, and the kernel has looked at it all */
		read_memory(s, state, result, false, false);
		if (!s->unread)
			s->call.flags &= ~WTI_TAP_UNREAD;
	} else {
		__u64 words;

		/* Not by following the pointers: to prove that safe the kernel searches all its
		 * types, which takes milliseconds each time that this is loaded. */
		mm = BPF_CORE_READ(task, mm);
		words = BPF_CORE_READ(mm, arg_start);
		for (int i = 0; i < 6; i++)
			s->args[i] = 0; /* none of the pieces is where an argument points to */
		s->bytes = 0;
		s->unread = false;
		s->mark = WTI_RAW_PIECE_PROGRAM;
		add_bytes(s, words, BPF_CORE_READ(mm, arg_end) - words, WTI_TAP_PIECE_MAX - 16);
		if (s->bytes)
			add_string(s, BPF_CORE_READ(mm, env_end), WTI_TAP_PIECE_MAX - 16);
	}
	bytes = s->bytes;
	barrier_var(bytes);
	bytes &= WTI_TAP_MEMORY_MAX - 1;
	s->call.memory_bytes = bytes;
	if (bpf_ringbuf_output(&ring, &s->call, sizeof(s->call) + bytes, BPF_RB_NO_WAKEUP))
		lose();
	state->seq++;
	return true;
}

/* What may be different when the call is over goes ahead of it. */
static __always_inline void tell_entry(struct wti_tap_task *state)
{
	struct wti_tap_plan *plan = plan_of(state);
	struct wti_tap_scratch *s;
	struct wti_raw_entry *record;
	__u32 bytes;

	if (!plan || !plan->at_entry)
		return;
	s = scratch();
	if (!s)
		return;
	read_memory(s, state, 0, false, true);
	if (s->unread)
		state->flags |= WTI_TAP_UNREAD;
	bytes = s->bytes;
	barrier_var(bytes);
	bytes &= WTI_TAP_MEMORY_MAX - 1;
	if (!bytes)
		return;
	record = (void *)s->memory - sizeof(*record);
	begin(&record->raw, state, WTI_RAW_ENTRY, 0);
	record->memory_bytes = bytes;
	record->reserved = 0;
	if (bpf_ringbuf_output(&ring, record, sizeof(*record) + bytes, BPF_RB_NO_WAKEUP))
		state->flags |= WTI_TAP_UNREAD;
}

static __always_inline void tell_call(struct wti_tap_task *state, __s64 result, __u32 flags)
{
	struct wti_raw_call *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		lose();
	} else {
		fill_call(record, state, result, flags);
		record->memory_bytes = 0;
		bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	}
	state->seq++;
}

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
	tell_task(task, state, track, parent, how);
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
		tell_stack(task, state, regs);
	if (kinds_at_entry)
		tell_entry(state);
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

static __always_inline void tell_joined(struct wti_tap_task *state, struct task_struct *task,
					struct pt_regs *regs)
{
	take_joined(state, task, regs);
	if (is_wanted(state->arch, state->nr))
		tell_call(state, result_of(regs, state->arch), WTI_TAP_JOINED);
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
		if (!tell_program(task, state, result) &&
		    !tell_call_with_memory(state, result, state->flags, answered))
			tell_call(state, result, state->flags);
	} else if (state->joined) {
		tell_joined(state, task, regs);
	}
	if (state->execed) {
		state->execed = false;
		tell_task(task, state, state->track, 0, WTI_TAP_TASK_EXEC);
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
	struct wti_raw_end *record;

	if (!state || !state->track || stopped)
		return 0;
	if (!state->entered && !state->joined && was_killed(task, state))
		begin_killed(task, state);
	if (state->in_call)
		tell_call(state, 0, state->flags | WTI_TAP_UNFINISHED);
	state->in_call = false;
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (!record) {
		lose();
		return 0;
	}
	begin(&record->raw, state, WTI_RAW_END, bpf_ktime_get_ns());
	record->tid = task->pid;
	record->pid = task->tgid;
	record->status = task->exit_code;
	record->flags = BPF_CORE_READ(task, signal, live.counter) == 0;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	state->seq++;
	return 0;
}

/* ---- Signals --------------------------------------------------------------------------------- */

#define SIGSTOP 19
#define SIGTTOU 22 /* SIGTSTP and SIGTTIN are between the two */

static __always_inline void tell_signal(struct wti_tap_task *state, __u32 number, __u32 flags,
					const void *info)
{
	struct wti_raw_signal *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		lose();
	} else {
		begin(&record->raw, state, WTI_RAW_SIGNAL, bpf_ktime_get_ns());
		record->number = number;
		record->flags = flags;
		/* Of signals without any the pointer is a small number: all bytes become 0. */
		bpf_probe_read_kernel(record->info, sizeof(record->info), info);
		bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	}
	state->seq++;
}

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
	if (number == SIGKILL) /* it reaches nobody: the end tells it */
		return 0;
	tell_signal(state, number, 0, (const void *)ctx[1]);
	if (number == SIGSTOP || (number > SIGSTOP && number <= SIGTTOU && !action->sa.sa_handler))
		tell_signal(state, number, WTI_RAW_SIGNAL_STOPPED, NULL);
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
static __always_inline void tell_call_in_flight(struct task_struct *task)
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
		tell_call(state, 0, state->flags | flags);
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
		tell_call_in_flight(task);
	return 0;
}
