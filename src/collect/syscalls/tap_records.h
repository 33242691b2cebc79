/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The part of tap.bpf.c that makes records (raw.h) and hands them over to the ring, or counts them
 * as lost where there is no room. How memory is read for them is up to tap_memory.h.
 */
#ifndef WTI_SYSCALLS_TAP_RECORDS_H
#define WTI_SYSCALLS_TAP_RECORDS_H

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

static __always_inline void emit_task(struct task_struct *task, struct wti_tap_task *state,
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

/* Of the pieces, with a bound that the verifier sees. */
static __always_inline __u32 memory_bytes(struct wti_tap_scratch *s)
{
	__u32 bytes = s->bytes;

	barrier_var(bytes);
	return bytes & (WTI_TAP_MEMORY_MAX - 1);
}

/* A call with the pieces that are behind it. */
static __always_inline void output_call(struct wti_tap_scratch *s, struct wti_tap_task *state)
{
	__u32 bytes = memory_bytes(s);

	s->call.memory_bytes = bytes;
	if (bpf_ringbuf_output(&ring, &s->call, sizeof(s->call) + bytes, BPF_RB_NO_WAKEUP))
		lose();
	state->seq++;
}

/* With what its arguments point to, `all` of it or what was not read at its begin. False: there is
 * nothing to read, or no place for it. */
static __always_inline bool emit_call_with_memory(struct wti_tap_task *state, __s64 result,
						  __u32 flags, bool all)
{
	struct wti_tap_plan *plan = plan_of(state);
	struct wti_tap_scratch *s;

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
	output_call(s, state);
	return true;
}

/*
 * A program that could not be read about before it began: its words, and its path behind them, are
 * on the stack that it begins with. False: they are known, or it is not such a call.
 */
static __always_inline bool emit_program(struct task_struct *task, struct wti_tap_task *state,
					 __s64 result)
{
	struct mm_struct *mm;
	struct wti_tap_scratch *s;

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
	output_call(s, state);
	return true;
}

/* What may be different when the call is over goes ahead of it. */
static __always_inline void emit_entry(struct wti_tap_task *state)
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
	bytes = memory_bytes(s);
	if (!bytes)
		return;
	record = (void *)s->memory - sizeof(*record);
	begin(&record->raw, state, WTI_RAW_ENTRY, 0);
	record->memory_bytes = bytes;
	record->reserved = 0;
	if (bpf_ringbuf_output(&ring, record, sizeof(*record) + bytes, BPF_RB_NO_WAKEUP))
		state->flags |= WTI_TAP_UNREAD;
}

static __always_inline void emit_call(struct wti_tap_task *state, __s64 result, __u32 flags)
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

static __always_inline void emit_end(struct task_struct *task, struct wti_tap_task *state)
{
	struct wti_raw_end *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		lose();
		return;
	}
	begin(&record->raw, state, WTI_RAW_END, bpf_ktime_get_ns());
	record->tid = task->pid;
	record->pid = task->tgid;
	record->status = task->exit_code;
	record->flags = BPF_CORE_READ(task, signal, live.counter) == 0;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	state->seq++;
}

static __always_inline void emit_signal(struct wti_tap_task *state, __u32 number, __u32 flags,
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

#endif
