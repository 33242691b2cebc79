/* SPDX-License-Identifier: Apache-2.0 */
/* The inspector `counts`. */
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/number.h"
#include "counts.h"
#include "inspect/core/inspectors.h"
#include "inspect/core/steps.h"
#include "syscall/described.h"
#include "syscall/record.h"

#define PROCESSES_MAX (1u << 17)
#define THREADS_MAX (1u << 17)
#define PROGRAMS_MAX (1u << 16)
#define STAGE_BYTES 128
#define PAGE 4096u

struct state {
	struct wti_counts *counts;
	struct wti_tasks tasks;
	struct wti_map calls;  /* process: calls */
	struct wti_map heaps;  /* process: the end of its heap */
	struct wti_map last;   /* thread: a hash of its last call */
	uint32_t starting_pid; /* that has yet to become the program */
	struct wti_leader leader;
	char stage[STAGE_BYTES];
};

static void ask(struct wt_query *query, const void *options)
{
	static const char *const kinds[] = {"syscall", "task", "task_end",
					    "context", "rank", "call_begin"};

	(void)options;
	query->kinds = kinds;
	query->kind_count = sizeof(kinds) / sizeof(*kinds);
	query->fields = ~(1u << WT_SYSCALL_FIELD_TEXT); /* no other of these kinds has so many */
}

/* A call that only one architecture has is none on the other: what is compiled for the first that
 * knows all of it decides whether the expression is right. */
static int compile(struct wti_counter *counter, struct wt_err *err)
{
	static const enum wti_arch archs[] = {WTI_ARCH_X86_64, WTI_ARCH_AARCH64};
	struct wt_err first = {.code = 0};
	size_t good = 0;

	for (size_t i = 0; i < 2; i++) {
		struct wt_err failed = {.code = 0};

		if (!counter->call)
			wti_call_set_all(&counter->sets[i]);
		else if (wti_expr_compile(archs[i], counter->call, &counter->sets[i], &failed))
			first = first.code ? first : failed;
		good += !failed.code;
	}
	if (good)
		return 0;
	if (err)
		*err = first;
	return first.code;
}

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	struct state *s = opaque;
	int r = 0;

	(void)trace;
	if (!options)
		return wti_err(err, WT_E_ARG, "counts needs to know what to count");
	s->counts = ((const struct wti_counts_options *)options)->counts;
	wti_tasks_init(&s->tasks);
	wti_map_init(&s->calls, PROCESSES_MAX);
	wti_map_init(&s->heaps, PROCESSES_MAX);
	wti_map_init(&s->last, THREADS_MAX);
	wti_map_init(&s->counts->programs, PROGRAMS_MAX);
	for (size_t i = 0; i < s->counts->counter_count && !r; i++)
		r = compile(&s->counts->counters[i], err);
	return r;
}

static void release(void *opaque)
{
	struct state *s = opaque;

	wti_tasks_release(&s->tasks);
	wti_map_release(&s->calls);
	wti_map_release(&s->heaps);
	wti_map_release(&s->last);
}

/* ---- Steps and stages ------------------------------------------------------------------------ */

static void begin_step(struct state *s, unsigned change)
{
	bool is_whole = change & WTI_STEP_ENDS;

	for (size_t i = 0; change && i < s->counts->counter_count; i++) {
		struct wti_counter *counter = &s->counts->counters[i];

		if (is_whole && counter->current > counter->step_max)
			counter->step_max = counter->current;
		if (is_whole && (!s->counts->step_count || counter->current < counter->step_min))
			counter->step_min = counter->current;
		counter->current = 0;
	}
	s->counts->step_count += is_whole;
}

static void take_stage(struct state *s, struct wt_text text)
{
	size_t bytes = text.bytes < STAGE_BYTES ? text.bytes : STAGE_BYTES - 1;

	memcpy(s->stage, text.data, bytes);
	s->stage[bytes] = 0;
	s->counts->saw_stage = true;
	for (size_t i = 0; i < s->counts->counter_count; i++) {
		const char *wanted = s->counts->counters[i].stage;

		s->counts->counters[i].saw_stage |= wanted && !strcmp(wanted, s->stage);
	}
}

static void take_context(struct state *s, const struct wt_event *event)
{
	begin_step(s, wti_leader_event(&s->leader, event));
	if (wti_context_key(event) == WTI_CONTEXT_STAGE && wti_may_lead(&s->leader, event))
		take_stage(s, wt_event_text(event, WT_CONTEXT_FIELD_TEXT));
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void count(struct state *s, const struct wti_syscall *call, bool failed)
{
	for (size_t i = 0; i < s->counts->counter_count; i++) {
		struct wti_counter *counter = &s->counts->counters[i];
		uint64_t amount = 1;

		if (!wti_call_set_has(&counter->sets[call->arch - 1], call->nr))
			continue;
		counter->seen++;
		if ((counter->errors_only && !failed) ||
		    (counter->stage && strcmp(counter->stage, s->stage) != 0))
			continue;
		if (counter->counts_bytes)
			amount = failed ? 0 : (uint64_t)call->result;
		counter->total += amount;
		counter->current += amount;
	}
}

static uint64_t pages(uint64_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* The memory that a call asks for: what was asked and given back counts. */
static int take_memory(struct state *s, uint32_t pid, const struct wti_syscall *call,
		       struct wt_err *err)
{
	const char *name = wti_call_name((enum wti_arch)call->arch, call->nr);
	uint64_t now = (uint64_t)call->result, *heap;

	if (!name)
		return 0;
	if (!strcmp(name, "mmap") && call->args[3] & MAP_ANONYMOUS &&
	    !(call->args[3] & MAP_NORESERVE) && call->args[2] != PROT_NONE)
		s->counts->asked_bytes += pages(call->args[1]);
	/* Memory that was only reserved is made usable. */
	if (!strcmp(name, "mprotect") && call->args[2] == (PROT_READ | PROT_WRITE))
		s->counts->asked_bytes += pages(call->args[1]);
	if (!strcmp(name, "mremap") && call->args[2] > call->args[1])
		s->counts->asked_bytes += pages(call->args[2]) - pages(call->args[1]);
	if (strcmp(name, "brk") != 0)
		return 0;
	heap = wti_map_number(&s->heaps, pid);
	if (!heap)
		return wti_map_failed(&s->heaps, err, "processes");
	/* The first says where it is, and so does the first of a new program. */
	if (*heap && call->args[0] && now > *heap)
		s->counts->asked_bytes += now - *heap;
	*heap = now;
	return 0;
}

/* Whether the thread did the very same as before: call, arguments, result. */
static int take_repeat(struct state *s, const struct wt_event *event,
		       const struct wti_syscall *call, struct wt_err *err)
{
	uint64_t key = (uint64_t)event->stream << 32 | event->track;
	uint64_t *last = wti_map_number(&s->last, key);
	uint64_t hash = 0xcbf29ce484222325u ^ call->nr;

	for (size_t i = 0; i < WTI_CALL_ARGS; i++)
		hash = (hash ^ call->args[i]) * 0x100000001b3u;
	hash = (hash ^ (uint64_t)call->result) * 0x100000001b3u;
	if (!last)
		return wti_map_failed(&s->last, err, "threads");
	s->counts->repeated_count += *last == hash;
	*last = hash;
	return 0;
}

/* A call whose object is not known, so that nothing can be said of what was not touched. Programs
 * are known without their path. */
static bool is_unread(const struct wti_syscall *call, bool failed)
{
	const struct wti_described *what = wti_described((enum wti_arch)call->arch, call->nr);

	if (!(call->flags & WT_SYSCALL_UNREAD) || !what)
		return false;
	if (what->classes & WTI_CLASS_N)
		return true;
	return what->classes & WTI_CLASS_F && !failed && !(what->classes & WTI_CLASS_P);
}

static int take_process(struct state *s, const struct wti_task *task, struct wt_err *err)
{
	uint64_t *calls = wti_map_number(&s->calls, task->pid);

	if (!calls)
		return wti_map_failed(&s->calls, err, "processes");
	if (++*calls > s->counts->busiest_calls) {
		s->counts->busiest_calls = *calls;
		memcpy(s->counts->busiest, task->command, sizeof(s->counts->busiest));
	}
	return 0;
}

/* The end of a thread is no call that others would count. */
static bool never_returns(const struct wti_syscall *call)
{
	const char *name = wti_call_name((enum wti_arch)call->arch, call->nr);

	return call->flags & WT_SYSCALL_UNFINISHED && name &&
	       (!strcmp(name, "exit") || !strcmp(name, "exit_group"));
}

static int take_call(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	const struct wti_task *task = wti_tasks_of(&s->tasks, event);
	struct wti_syscall call;
	bool failed;
	int r;

	wti_syscall_read(event, &call);
	if (call.flags & WT_SYSCALL_OWN || never_returns(&call) ||
	    (call.arch != WTI_ARCH_X86_64 && call.arch != WTI_ARCH_AARCH64))
		return 0;
	/* What a signal or a filter has ended was tried, and came to nothing. */
	failed = call.flags & WT_SYSCALL_UNFINISHED || (call.result < 0 && call.result >= -4095);
	s->counts->call_count++;
	s->counts->error_count += failed;
	s->counts->unread_count += is_unread(&call, failed);
	count(s, &call, failed);
	r = take_repeat(s, event, &call, err);
	if (!r && !failed && task)
		r = take_memory(s, task->pid, &call, err);
	return r || !task ? r : take_process(s, task, err);
}

/* A program by the name that its process got: the path may have been unreadable. The first that the
 * recorded process becomes is the recorder's doing. */
static int take_exec(struct state *s, const struct wt_event *event, struct wt_err *err)
{
	uint64_t how = wt_event_u64(event, WT_TASK_FIELD_HOW);
	uint32_t pid = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_PID);
	struct wt_text command = wt_event_text(event, WT_TASK_FIELD_COMMAND);
	uint64_t *count;

	if (how == WT_TASK_PROGRAM)
		s->starting_pid = pid;
	if (how != WT_TASK_EXEC)
		return 0;
	if (s->starting_pid == pid) {
		s->starting_pid = 0;
		return 0;
	}
	count = wti_map_text(&s->counts->programs, command.data, command.bytes);
	if (!count)
		return wti_map_failed(&s->counts->programs, err, "programs");
	++*count;
	return 0;
}

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	struct state *s = opaque;
	int r = 0;

	switch (event->kind->number) {
	case WT_KIND_SYSCALL:
		return take_call(s, event, err);
	case WT_KIND_CONTEXT:
		take_context(s, event);
		return 0;
	case WT_KIND_CALL_BEGIN:
	case WT_KIND_RANK:
		begin_step(s, wti_leader_event(&s->leader, event));
		return 0;
	case WT_KIND_TASK:
		r = take_exec(s, event, err);
		break;
	}
	return r ? r : wti_tasks_event(&s->tasks, event, err);
}

/* The last step may have been cut short, and the end of the program belongs to none. */
static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	struct state *s = opaque;

	(void)result;
	(void)err;
	s->counts->process_count = s->calls.count;
	return 0;
}

const struct wt_inspector wti_inspector_counts = {
	.name = "counts",
	.summary = "how often chosen system calls were made, for assertions",
	.state_bytes = sizeof(struct state),
	.ask = ask,
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
