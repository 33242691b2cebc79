/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The part of tap.bpf.c that copies what a stack can be unwound from: registers and the stack
 * itself, page by page up to its end, as a page that is not there fails the whole of a read.
 */
#ifndef WTI_SYSCALLS_TAP_STACK_H
#define WTI_SYSCALLS_TAP_STACK_H

#define PAGE_BYTES 4096u
#define MISSING_MAX 2

/* By processor. One that the kernel keeps for each processor may have 32 KiB only. Its program is
 * not entered again on a processor where it runs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* is set by bpf.c */
	__type(key, __u32);
	__type(value, struct wti_tap_stack);
} stack_scratches SEC(".maps");

const volatile bool stacks; /* are wanted */
__u64 lost_stacks;          /* found no room */

struct stack_copy {
	struct wti_tap_stack *into;
	__u64 address;
	__u32 at;    /* how far it has come */
	__u32 bytes; /* up to the last that was there */
	__u32 bytes_max;
	__u32 missing; /* pages in a row */
};

static long copy_page(__u32 i, void *opaque)
{
	struct stack_copy *copy = opaque;
	struct wti_tap_stack *s = copy->into;
	__u32 at = copy->at, most = copy->bytes_max, bytes;

	if (at >= most)
		return 1;
	bytes = PAGE_BYTES - ((copy->address + at) & (PAGE_BYTES - 1));
	if (bytes > most - at)
		bytes = most - at;
	barrier_var(bytes);
	if (bytes > PAGE_BYTES)
		return 1;
	barrier_var(at);
	at &= WTI_RAW_STACK_MAX - 1;
	copy->at = at + bytes;
	/* What was never touched is not there, and counts as the zeros that it would be. Two pages
	 * of that behind something that is there are taken for the end. */
	if (bpf_probe_read_user(&s->data[at], bytes, (void *)(copy->address + at)))
		return copy->bytes && ++copy->missing == MISSING_MAX;
	copy->missing = 0;
	copy->bytes = at + bytes;
	return 0;
}

/* Of the first thread the kernel knows where it ends; behind it stand the words of its exec. */
static __always_inline __u32 stack_limit(struct task_struct *task, __u64 sp)
{
	struct mm_struct *mm = task->mm;
	__u64 end = mm ? mm->start_stack : 0;

	return end > sp && end - sp < WTI_RAW_STACK_MAX ? (__u32)(end - sp) : WTI_RAW_STACK_MAX;
}

static __always_inline void emit_stack(struct task_struct *task, struct wti_tap_task *state,
				       struct pt_regs *regs)
{
	__u32 cpu = bpf_get_smp_processor_id(), bytes;
	struct wti_tap_stack *s = bpf_map_lookup_elem(&stack_scratches, &cpu);
	struct stack_copy copy = {.into = s};

	if (!s || state->arch != ARCH_NATIVE)
		return;
	begin(&s->head.raw, state, WTI_RAW_STACK, bpf_ktime_get_ns());
	s->head.pid = task->tgid;
	take_registers(s->head.regs, regs);
	copy.address = s->head.regs[WTI_RAW_SP];
	copy.bytes_max = stack_limit(task, copy.address);
	bpf_loop(WTI_RAW_STACK_MAX / PAGE_BYTES + 1, copy_page, &copy, 0);
	bytes = copy.bytes;
	s->head.stack_bytes = bytes;
	barrier_var(bytes);
	if (bytes > WTI_RAW_STACK_MAX)
		return;
	if (bpf_ringbuf_output(&ring, s, sizeof(s->head) + bytes, BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&lost_stacks, 1);
}

#endif
