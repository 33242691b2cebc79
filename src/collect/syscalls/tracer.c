/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows ptrace. With PTRACE_SEIZE a stop is one of:
 *
 *   a system call    its begin or its end; PTRACE_GET_SYSCALL_INFO says which
 *   a seccomp event  the begin of a call that the filter lets stop
 *   a signal         is delivered by going on with it
 *   a group stop     the program is stopped for its terminal or by SIGSTOP: it stays so (LISTEN)
 *                    until a SIGCONT, as it would without us
 *   a birth          of a thread or a process, which is traced from its first instruction on; its
 *                    own first stop may come before the news of its birth
 *   an exec          after which the thread that called it has the number of its process
 *   the end          of a thread; its parent hears of it after us
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "collect/clock.h"
#include "collect/procfs.h"

#include "tracer.h"
#include "tracer_attach.h"
#include "tracer_hidden.h"
#include "tracer_stack.h"

#define X32_BIT 0x40000000u
#define SYSCALL_STOP (SIGTRAP | 0x80)
/* Up to so many threads wait4() may add up the time that all of a process have used, each time. */
#define SUMMED_MAX 64

/* ---- Who is traced --------------------------------------------------------------------------- */

static size_t pid_limit(void)
{
	char text[32] = "";
	int fd = open("/proc/sys/kernel/pid_max", O_RDONLY | O_CLOEXEC);
	unsigned long limit = 0;

	if (fd >= 0) {
		if (read(fd, text, sizeof(text) - 1) > 0)
			limit = strtoul(text, NULL, 10);
		close(fd);
	}
	return limit >= 1024 && limit <= (1u << 22) ? limit + 1 : (1u << 22) + 1;
}

int wti_tracer_init(struct wti_tracer *tracer, struct wt_err *err)
{
	void *map;

	wti_map_init(&tracer->mapped, pid_limit());
	/* Most of it is never touched, and so never there. */
	tracer->by_tid_count = pid_limit();
	map = mmap(NULL, tracer->by_tid_count * sizeof(*tracer->by_tid), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return wti_err(err, WT_E_NOMEM, "out of memory for tracing");
	tracer->by_tid = map;
	return 0;
}

struct wti_tracee *wti_tracee_of(const struct wti_tracer *tracer, pid_t tid)
{
	return tid > 0 && (size_t)tid < tracer->by_tid_count ? tracer->by_tid[tid] : NULL;
}

struct wti_tracee *wti_tracee_new(struct wti_tracer *tracer, pid_t tid)
{
	struct wti_tracee *tracee;

	if (tid <= 0 || (size_t)tid >= tracer->by_tid_count)
		return NULL;
	tracee = calloc(1, sizeof(*tracee));
	if (!tracee)
		return NULL;
	tracee->tid = tid;
	tracer->by_tid[tid] = tracee;
	tracer->count++;
	return tracee;
}

static void forget(struct wti_tracer *tracer, struct wti_tracee *tracee)
{
	tracer->by_tid[tracee->tid] = NULL;
	tracer->count--;
	free(tracee->memory);
	free(tracee);
}

void wti_tracer_release(struct wti_tracer *tracer)
{
	wti_map_release(&tracer->mapped);
	for (size_t i = 0; tracer->by_tid && tracer->count && i < tracer->by_tid_count; i++)
		if (tracer->by_tid[i])
			forget(tracer, tracer->by_tid[i]);
	if (tracer->by_tid)
		munmap(tracer->by_tid, tracer->by_tid_count * sizeof(*tracer->by_tid));
	tracer->by_tid = NULL;
}

/* ---- Records --------------------------------------------------------------------------------- */

static struct wti_raw head(struct wti_tracee *tracee, uint32_t type)
{
	return (struct wti_raw){.type = type,
				.track = tracee->track,
				.seq = tracee->seq++,
				.time_ns = wti_clock_ns(CLOCK_MONOTONIC)};
}

/* The short name of a thread, as /proc has it. */
static void read_command(pid_t tid, char out[16])
{
	char path[64];
	ssize_t n = -1;
	int fd;

	memset(out, 0, 16);
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, out, 15);
	close(fd);
	if (n > 0 && out[n - 1] == '\n')
		out[n - 1] = 0;
}

static void tell_task(struct wti_tracer *tracer, struct wti_tracee *tracee, pid_t parent,
		      uint32_t how)
{
	struct wti_raw_task record = {.tid = (uint32_t)tracee->tid,
				      .pid = (uint32_t)tracee->pid,
				      .parent = (uint32_t)parent,
				      .how = how};

	record.raw = head(tracee, WTI_RAW_TASK);
	read_command(tracee->tid, record.command);
	wti_queue_put(tracer->queue, &record, sizeof(record), NULL, 0);
}

void wti_tracee_adopt(struct wti_tracer *tracer, struct wti_tracee *tracee, pid_t parent,
		      uint32_t how)
{
	tracee->track = ++tracer->last_track;
	tracee->known = true;
	tell_task(tracer, tracee, parent, how);
}

static void tell_call(struct wti_tracer *tracer, struct wti_tracee *tracee, int64_t result,
		      uint32_t flags)
{
	const struct wti_memory *memory = tracee->memory;
	struct wti_raw_call record = {.nr = tracee->nr,
				      .arch = tracee->arch,
				      .result = result,
				      .flags = tracee->flags | flags};

	record.raw = head(tracee, WTI_RAW_CALL);
	memcpy(record.args, tracee->args, sizeof(record.args));
	record.duration_ns = record.raw.time_ns - tracee->start_ns;
	record.system_ns =
		tracee->cpu_ns > tracee->start_cpu_ns ? tracee->cpu_ns - tracee->start_cpu_ns : 0;
	if (record.system_ns > record.duration_ns) /* other threads have worked, too */
		record.system_ns = record.duration_ns;
	if (memory) {
		record.memory_bytes = (uint32_t)memory->bytes;
		record.flags |= memory->unread ? WT_SYSCALL_UNREAD : 0;
	}
	wti_queue_put(tracer->queue, &record, sizeof(record), memory ? memory->data : NULL,
		      record.memory_bytes);
	tracee->in_call = false;
}

static void tell_signal(struct wti_tracer *tracer, struct wti_tracee *tracee, int number,
			uint32_t flags)
{
	struct wti_raw_signal record = {.number = (uint32_t)number, .flags = flags};
	siginfo_t info;

	if (!tracee->known)
		return;
	memset(&info, 0, sizeof(info));
	info.si_signo = number;
	if (!flags && !ptrace(PTRACE_GETSIGINFO, tracee->tid, NULL, &info))
		record.number = (uint32_t)info.si_signo;
	memcpy(record.info, &info, sizeof(record.info));
	record.raw = head(tracee, WTI_RAW_SIGNAL);
	wti_queue_put(tracer->queue, &record, sizeof(record), NULL, 0);
}

static void tell_end(struct wti_tracer *tracer, struct wti_tracee *tracee, int status)
{
	struct wti_raw_end record = {.tid = (uint32_t)tracee->tid,
				     .pid = (uint32_t)tracee->pid,
				     .status = status,
				     .flags = tracee->tid == tracee->pid};

	if (!tracee->known)
		return;
	if (tracee->in_call)
		tell_call(tracer, tracee, 0, WT_SYSCALL_UNFINISHED);
	record.raw = head(tracee, WTI_RAW_END);
	wti_queue_put(tracer->queue, &record, sizeof(record), NULL, 0);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static uint32_t arch_of(uint32_t audit, uint64_t nr)
{
	switch (audit) {
	case AUDIT_ARCH_X86_64:
		return nr & X32_BIT ? WT_ARCH_X32 : WT_ARCH_X86_64;
	case AUDIT_ARCH_I386:
		return WT_ARCH_I386;
	case AUDIT_ARCH_AARCH64:
		return WT_ARCH_AARCH64;
	case AUDIT_ARCH_ARM:
		return WT_ARCH_ARM;
	default:
		return WT_ARCH_OTHER;
	}
}

static const struct wti_plan *plan_of(const struct wti_tracer *tracer,
				      const struct wti_tracee *tracee)
{
	if (tracee->arch == WT_ARCH_I386 && tracee->nr < WTI_COMPAT_MAX &&
	    tracer->plans->compat[tracee->nr])
		return &tracer->plans->by_number[tracer->plans->compat[tracee->nr] - 1];
	if (tracee->arch != WTI_ARCH_HERE || tracee->nr >= WTI_PLANS_COMPAT)
		return NULL;
	return &tracer->plans->by_number[tracee->nr];
}

/* Memory for pieces, cleared; NULL: the call has none, or there is no memory for it. */
static struct wti_memory *memory_of(struct wti_tracee *tracee, const struct wti_plan *plan)
{
	if (!tracee->memory && plan && plan->count)
		tracee->memory = malloc(sizeof(*tracee->memory));
	if (!tracee->memory)
		return NULL;
	tracee->memory->bytes = 0;
	tracee->memory->piece_count = 0;
	tracee->memory->unread = false;
	return plan && plan->count ? tracee->memory : NULL;
}

static bool is_exec(const struct wti_tracee *tracee)
{
	return tracee->arch == WTI_ARCH_HERE &&
	       (tracee->nr == SYS_execve || tracee->nr == SYS_execveat);
}

/* A guest says where its own work begins and ends. */
static void take_own(struct wti_tracee *tracee)
{
	tracee->flags = tracee->own ? WT_SYSCALL_OWN : 0;
	if (tracee->arch != WTI_ARCH_HERE || tracee->nr != SYS_prctl ||
	    tracee->args[0] != WTI_OWN_PRCTL)
		return;
	if (tracee->args[1])
		tracee->own++;
	else if (tracee->own)
		tracee->own--;
	tracee->flags = WT_SYSCALL_OWN;
}

/* With many threads a thread's own time is looked up, and only for calls that are recorded. */
static uint64_t own_cpu_ns(pid_t tid)
{
	char text[64];

	return wti_proc_file((uint32_t)tid, "schedstat", text, sizeof(text)) > 0
		       ? strtoull(text, NULL, 10)
		       : 0;
}

static void time_begins(struct wti_tracer *tracer, struct wti_tracee *tracee)
{
	tracee->by_thread = tracer->count > SUMMED_MAX;
	if (tracee->by_thread)
		tracee->cpu_ns = own_cpu_ns(tracee->tid);
	tracee->start_cpu_ns = tracee->cpu_ns;
	tracee->start_ns = wti_clock_ns(CLOCK_MONOTONIC);
}

static void call_begins(struct wti_tracer *tracer, struct wti_tracee *tracee,
			const struct __ptrace_syscall_info *info)
{
	const uint64_t *args = (const uint64_t *)(const void *)info->entry.args;
	const struct wti_plan *plan;
	struct wti_memory *memory;
	bool is_ours;

	tracee->nr = (uint32_t)info->entry.nr;
	tracee->arch = arch_of(info->arch, info->entry.nr);
	memcpy(tracee->args, args, sizeof(tracee->args));
	is_ours = !tracee->known; /* what calls the first exec */
	if (!tracee->known && is_exec(tracee))
		wti_tracee_adopt(tracer, tracee, 0, WT_TASK_PROGRAM);
	take_own(tracee);
	tracee->in_call = tracee->known && (tracee->arch != WTI_ARCH_HERE ||
					    wti_call_set_has(&tracer->wanted, tracee->nr));
	tracee->remaps = wti_tracee_maps_code(tracer, tracee);
	tracee->hides = (uint8_t)wti_tracee_hides(tracee);
	/* Without it nobody could say later that there is somebody who was not seen. */
	tracee->in_call |= tracee->known && tracee->hides == WTI_HIDES_CHILD;
	if (!tracee->in_call)
		return;
	if (!is_ours)
		wti_tracee_stack(tracer, tracee);
	plan = plan_of(tracer, tracee);
	memory = memory_of(tracee, plan);
	if (memory && plan->at_entry)
		wti_memory_read(memory, plan, false, tracee->tid, tracee->args, 0,
				tracer->contents);
	time_begins(tracer, tracee);
}

static void born(struct wti_tracer *tracer, struct wti_tracee *parent, pid_t tid, int event);

/* What a program does to get out of sight, as far as something can be done about it. */
static void take_hiding(struct wti_tracer *tracer, struct wti_tracee *tracee, int64_t result)
{
	enum wti_hiding hides = (enum wti_hiding)tracee->hides;

	tracee->hides = WTI_HIDES_NOTHING;
	if (hides == WTI_HIDES_CALLS && result >= 0) {
		unsigned others = wti_tracer_hidden(tracer, tracee);

		if (tracer->filtered)
			atomic_fetch_add(&tracer->hidden, others);
	}
	/* With CLONE_PTRACE besides it is traced, but its birth is not reported. */
	if (hides == WTI_HIDES_CHILD && result > 0 && wti_tracee_clone_flags(tracee) & CLONE_PTRACE)
		born(tracer, tracee, (pid_t)result, PTRACE_EVENT_CLONE);
}

static void call_ends(struct wti_tracer *tracer, struct wti_tracee *tracee,
		      const struct __ptrace_syscall_info *info)
{
	int64_t result = info->exit.rval;
	const struct wti_plan *plan = plan_of(tracer, tracee);
	bool restarts = result <= -512 && result >= -516;

	if (tracee->remaps || tracee->execed)
		wti_tracer_remapped(tracer, tracee->pid);
	tracee->remaps = false;
	if (tracee->hides)
		take_hiding(tracer, tracee, result);
	if (tracee->in_call && tracee->by_thread)
		tracee->cpu_ns = own_cpu_ns(tracee->tid);
	/* The end of a call whose begin was not seen is passed over. */
	if (tracee->in_call && wti_tracee_is_trapped(tracee, result)) {
		tell_call(tracer, tracee, 0, WT_SYSCALL_UNFINISHED);
	} else if (tracee->in_call) {
		if (tracee->memory && plan && plan->count && !tracee->execed)
			wti_memory_read(tracee->memory, plan, true, tracee->tid, tracee->args,
					result, tracer->contents);
		tell_call(tracer, tracee, result, restarts ? WT_SYSCALL_RESTARTS : 0);
	}
	if (tracee->execed && tracee->known)
		tell_task(tracer, tracee, 0, WT_TASK_EXEC);
	tracee->execed = false;
}

/* What the next stop is to be: of a filtered program only the end of a call that it is in. Before
 * any filter a call stops for PTRACE_SYSCALL, so one that the program's own would answer does. */
static int next_request(const struct wti_tracer *tracer, const struct wti_tracee *tracee)
{
	if (!tracer->filtered)
		return PTRACE_SYSCALL;
	return tracee->in_call || tracee->execed || tracee->remaps || tracee->hides ||
			       tracee->behind
		       ? PTRACE_SYSCALL
		       : PTRACE_CONT;
}

void wti_tracee_go(const struct wti_tracer *tracer, const struct wti_tracee *tracee, int number)
{
	/* It fails where the thread was killed meanwhile; its end will come. */
	ptrace(next_request(tracer, tracee), tracee->tid, NULL, (void *)(intptr_t)number);
}

static void syscall_stop(struct wti_tracer *tracer, struct wti_tracee *tracee)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tracee->tid, (void *)sizeof(info), &info) > 0) {
		bool again = info.op == PTRACE_SYSCALL_INFO_SECCOMP && tracee->entered;

		if (info.op == PTRACE_SYSCALL_INFO_ENTRY ||
		    (info.op == PTRACE_SYSCALL_INFO_SECCOMP && !again))
			call_begins(tracer, tracee, &info);
		else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
			call_ends(tracer, tracee, &info);
		tracee->entered = info.op == PTRACE_SYSCALL_INFO_ENTRY;
	}
	wti_tracee_go(tracer, tracee, 0);
}

/* ---- Births, changes and deaths -------------------------------------------------------------- */

static unsigned long event_message(pid_t tid)
{
	unsigned long message = 0;

	ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message);
	return message;
}

static void born(struct wti_tracer *tracer, struct wti_tracee *parent, pid_t tid, int event)
{
	struct wti_tracee *child = wti_tracee_of(tracer, tid);
	bool is_thread = event == PTRACE_EVENT_CLONE &&
			 (pid_t)wti_proc_process_of((uint32_t)tid) == parent->pid;

	if (!child)
		child = wti_tracee_new(tracer, tid);
	if (!child) { /* not followed, but not held either */
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
		return;
	}
	child->pid = is_thread ? parent->pid : tid;
	child->behind = parent->behind;
	if (!is_thread)
		wti_tracer_remapped(tracer, tid);
	if (parent->known)
		wti_tracee_adopt(tracer, child, parent->tid,
				 is_thread ? WT_TASK_THREAD : WT_TASK_PROCESS);
	child->awaited = false;
	if (child->waits) { /* it was here before we heard of it */
		child->waits = false;
		wti_tracee_go(tracer, child, 0);
	}
}

/* All other threads are gone; the one that called exec has taken over the first one's number. */
static void became_another(struct wti_tracer *tracer, struct wti_tracee *tracee)
{
	pid_t former = (pid_t)event_message(tracee->tid);
	struct wti_tracee *caller = wti_tracee_of(tracer, former);

	if (former != tracee->tid && caller) {
		pid_t tid = tracee->tid;

		tell_end(tracer, tracee, 0);
		forget(tracer, tracee);
		tracer->by_tid[former] = NULL;
		caller->tid = tid;
		tracer->by_tid[tid] = caller;
		tracee = caller;
	}
	if (!tracee->known) /* its call was not to stop */
		wti_tracee_adopt(tracer, tracee, 0, WT_TASK_PROGRAM);
	tracee->execed = true;
	wti_tracee_go(tracer, tracee, 0);
}

static bool stops_group(int number)
{
	return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

static void event_stop(struct wti_tracer *tracer, struct wti_tracee *tracee, int event, int number)
{
	switch (event) {
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		born(tracer, tracee, (pid_t)event_message(tracee->tid), event);
		break;
	case PTRACE_EVENT_EXEC:
		became_another(tracer, tracee);
		return;
	case PTRACE_EVENT_SECCOMP:
		syscall_stop(tracer, tracee);
		return;
	case PTRACE_EVENT_STOP:
		if (stops_group(number)) {
			tell_signal(tracer, tracee, number, WTI_RAW_SIGNAL_STOPPED);
			ptrace(PTRACE_LISTEN, tracee->tid, NULL, NULL);
			return;
		}
		break;
	}
	wti_tracee_go(tracer, tracee, 0);
}

static void signal_stop(struct wti_tracer *tracer, struct wti_tracee *tracee, int number)
{
	tell_signal(tracer, tracee, number, 0);
	wti_tracee_go(tracer, tracee, number);
}

static void take_stop(struct wti_tracer *tracer, pid_t tid, int status)
{
	struct wti_tracee *tracee = wti_tracee_of(tracer, tid);
	int number = WSTOPSIG(status), event = status >> 16;

	if (!tracee) { /* a child whose birth we have yet to hear of */
		tracee = wti_tracee_new(tracer, tid);
		if (!tracee) {
			ptrace(PTRACE_DETACH, tid, NULL, NULL);
			return;
		}
		tracee->awaited = true;
	}
	if (tracee->awaited) {
		tracee->waits = true;
		return;
	}
	if (number == SYSCALL_STOP)
		syscall_stop(tracer, tracee);
	else if (event)
		event_stop(tracer, tracee, event, number);
	else
		signal_stop(tracer, tracee, number);
}

static uint64_t cpu_ns_of(const struct rusage *usage)
{
	return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000u;
}

void wti_tracer_take(struct wti_tracer *tracer, pid_t tid, int status, const struct rusage *usage)
{
	struct wti_tracee *tracee = wti_tracee_of(tracer, tid);

	if (tracee && usage && !(tracee->in_call && tracee->by_thread))
		tracee->cpu_ns = cpu_ns_of(usage);
	if (WIFSTOPPED(status)) {
		take_stop(tracer, tid, status);
	} else if (tracee && (WIFEXITED(status) || WIFSIGNALED(status))) {
		tell_end(tracer, tracee, status);
		forget(tracer, tracee);
	}
}

/* What is recorded of calls that are not over when the recording ends. */
static void emit_calls_in_flight(struct wti_tracer *tracer)
{
	for (size_t i = 0, left = tracer->count; i < tracer->by_tid_count && left; i++) {
		struct wti_tracee *tracee = tracer->by_tid[i];

		left -= tracee != NULL;
		if (tracee && tracee->in_call)
			tell_call(tracer, tracee, 0, WT_SYSCALL_UNFINISHED | WT_SYSCALL_GOES_ON);
	}
}

/*
 * To let go of all it is enough that this thread ends: the kernel then detaches from every thread
 * wherever it is. One that waits in a call waits on, one that was stopped for a signal gets it, one
 * that is stopped with its group stays so. PTRACE_DETACH could only be had by stopping them first,
 * which ends waits like that of epoll_wait() with EINTR.
 */
void wti_tracer_run(struct wti_tracer *tracer)
{
	while (tracer->count) {
		struct rusage usage;
		/* The kernel adds it up over all threads of the process, at every stop. */
		struct rusage *asked = tracer->count > SUMMED_MAX ? NULL : &usage;
		int status;
		/* Not the children of other threads: these wait for them themselves. */
		pid_t tid = wait4(-1, &status, __WALL | __WNOTHREAD, asked);

		/* Whoever was waited for must be resumed: its signal is with us. */
		if (tid > 0)
			wti_tracer_take(tracer, tid, status, asked);
		else if (errno != EINTR)
			return;
		if (atomic_load(&tracer->stop)) {
			emit_calls_in_flight(tracer);
			return;
		}
	}
}
