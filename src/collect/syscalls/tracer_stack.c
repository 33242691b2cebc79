/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the registers of a stopped thread, and which calls map code. */
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <time.h>

#include "collect/clock.h"

#include "maps.h"
#include "tracer_stack.h"

#if defined(__x86_64__)
static void take_registers(uint64_t to[WTI_RAW_REGS], const struct user_regs_struct *from)
{
	const uint64_t regs[WTI_RAW_REGS] = {from->rax, from->rdx, from->rcx, from->rbx, from->rsi,
					     from->rdi, from->rbp, from->rsp, from->r8,  from->r9,
					     from->r10, from->r11, from->r12, from->r13, from->r14,
					     from->r15, from->rip};

	memcpy(to, regs, sizeof(regs));
}
#else
static void take_registers(uint64_t to[WTI_RAW_REGS], const struct user_regs_struct *from)
{
	memcpy(to, from->regs, sizeof(from->regs));
	to[WTI_RAW_SP] = from->sp;
	to[WTI_RAW_PC] = from->pc;
}
#endif

static void put(void *context, const struct wti_raw *raw, size_t bytes)
{
	wti_queue_put(context, raw, bytes, NULL, 0);
}

/* Nobody else changes what a stopped process has mapped, but its other threads, who stop as well.
 */
static void emit_maps(struct wti_tracer *tracer, const struct wti_tracee *tracee)
{
	uint64_t *fresh = wti_map_number(&tracer->mapped, (uint64_t)tracee->pid);

	if (fresh && *fresh)
		return;
	wti_maps_of_process(tracee->pid, wti_clock_ns(CLOCK_MONOTONIC), put, tracer->queue);
	if (fresh)
		*fresh = 1;
}

void wti_tracer_remapped(struct wti_tracer *tracer, pid_t pid)
{
	uint64_t *fresh = tracer->stacks ? wti_map_number(&tracer->mapped, (uint64_t)pid) : NULL;

	if (fresh)
		*fresh = 0;
}

void wti_tracee_stack(struct wti_tracer *tracer, struct wti_tracee *tracee)
{
	struct {
		struct wti_raw_stack head;
		uint8_t data[WTI_RAW_STACK_MAX];
	} record;
	struct user_regs_struct registers;
	struct iovec regs = {&registers, sizeof(registers)}, here, there;
	ssize_t got;

	if (!tracer->stacks || tracee->arch != WTI_ARCH_HERE || (tracee->flags & WT_SYSCALL_OWN) ||
	    ptrace(PTRACE_GETREGSET, tracee->tid, (void *)NT_PRSTATUS, &regs))
		return;
	emit_maps(tracer, tracee);
	record.head = (struct wti_raw_stack){.raw = {.type = WTI_RAW_STACK,
						     .track = tracee->track,
						     .seq = tracee->seq,
						     .time_ns = wti_clock_ns(CLOCK_MONOTONIC)},
					     .pid = (uint32_t)tracee->pid};
	take_registers((uint64_t *)record.head.regs, &registers);
	here = (struct iovec){record.data, sizeof(record.data)};
	there = (struct iovec){(void *)(uintptr_t)record.head.regs[WTI_RAW_SP],
			       sizeof(record.data)};
	got = process_vm_readv(tracee->tid, &here, 1, &there, 1, 0);
	record.head.stack_bytes = got > 0 ? (uint32_t)got : 0;
	wti_queue_put(tracer->queue, &record.head, sizeof(record.head), record.data,
		      record.head.stack_bytes);
}

bool wti_tracee_maps_code(const struct wti_tracer *tracer, const struct wti_tracee *tracee)
{
	return tracer->stacks && tracee->arch == WTI_ARCH_HERE &&
	       (tracee->nr == SYS_mmap || tracee->nr == SYS_mprotect) &&
	       (tracee->args[2] & PROT_EXEC);
}

void wti_tracer_add_mapping_calls(struct wti_call_set *set)
{
	set->bits[SYS_mmap / 64] |= UINT64_C(1) << (SYS_mmap % 64);
	set->bits[SYS_mprotect / 64] |= UINT64_C(1) << (SYS_mprotect % 64);
}
