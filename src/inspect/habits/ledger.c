/* SPDX-License-Identifier: Apache-2.0 */
/* Knows who is there, and keeps what they did. What a call means is ledger_calls.c's. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/number.h"
#include "inspect/core/steps.h"
#include "inspect/training/calls.h"
#include "ledger_calls.h"
#include "syscall/handles.h"

#define NAMES_MAX (1u << 18)
#define POSTINGS_MAX (1u << 18)
#define TASKS_MAX (1u << 17)
#define MAPPED_MAX (1u << 17)
#define TEXT_MAX 8192u

/* ---- Memory ---------------------------------------------------------------------------------- */

int wti_ledger_init(struct wti_ledger *ledger, uint64_t blocked_percent,
		    const struct wti_calls *calls, struct wt_err *err)
{
	*ledger = (struct wti_ledger){.blocked_percent = blocked_percent, .calls = calls};
	wti_map_init(&ledger->names, NAMES_MAX);
	wti_map_init(&ledger->posting_of, POSTINGS_MAX);
	wti_map_init(&ledger->process_of, TASKS_MAX);
	wti_map_init(&ledger->thread_of, TASKS_MAX);
	wti_map_init(&ledger->tid_of, TASKS_MAX);
	wti_map_init(&ledger->track_of, TASKS_MAX);
	wti_map_init(&ledger->mapped, MAPPED_MAX);
	wti_buf_init(&ledger->text, TEXT_MAX);
	ledger->requests = wti_requests_new();
	ledger->handles = calloc(1, sizeof(*ledger->handles));
	if (!ledger->requests || !ledger->handles)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return wti_handles_init(ledger->handles, NULL, err);
}

void wti_ledger_release(struct wti_ledger *ledger)
{
	if (ledger->handles)
		wti_handles_release(ledger->handles);
	free(ledger->handles);
	free((void *)ledger->requests);
	free(ledger->postings);
	free(ledger->processes);
	free(ledger->threads);
	wti_map_release(&ledger->names);
	wti_map_release(&ledger->posting_of);
	wti_map_release(&ledger->process_of);
	wti_map_release(&ledger->thread_of);
	wti_map_release(&ledger->tid_of);
	wti_map_release(&ledger->track_of);
	wti_map_release(&ledger->mapped);
	wti_buf_release(&ledger->text);
	*ledger = (struct wti_ledger){0};
}

/* ---- Things ---------------------------------------------------------------------------------- */

uint32_t wti_ledger_name(struct wti_ledger *ledger, const char *text, size_t bytes)
{
	uint64_t *slot = wti_map_text(&ledger->names, text, bytes);

	if (!slot) {
		ledger->left_out_count++;
		return 0;
	}
	if (!*slot)
		*slot = ledger->names.count;
	return (uint32_t)*slot;
}

const char *wti_ledger_thing(const struct wti_ledger *ledger, uint32_t thing)
{
	return thing ? ledger->names.entries[thing - 1].text : "";
}

/* ---- Who ------------------------------------------------------------------------------------- */

static void name_command(struct wti_ledger_process *process, const struct wt_event *event)
{
	struct wt_text command = wt_event_text(event, WT_TASK_FIELD_COMMAND);
	size_t bytes = command.bytes < sizeof(process->command) - 1 ? command.bytes
								    : sizeof(process->command) - 1;

	memcpy(process->command, command.data, bytes);
	process->command[bytes] = 0;
}

static uint32_t new_process(struct wti_ledger *ledger, const struct wt_event *event, uint32_t pid)
{
	uint32_t parent =
		(uint32_t)wti_map_get(&ledger->tid_of, wt_event_u64(event, WT_TASK_FIELD_PARENT));
	struct wti_ledger_process *process;

	if (wti_grow_zeroed(&ledger->processes, ledger->process_count + 1,
			    &ledger->process_capacity, TASKS_MAX))
		return 0;
	process = &ledger->processes[ledger->process_count++];
	process->pid = pid;
	process->parent = parent ? ledger->threads[parent - 1].process + 1 : 0;
	process->born_ns = event->time_ns;
	process->step = process->first_blocked_step = -1;
	name_command(process, event);
	wti_map_put(&ledger->process_of, pid, (uint32_t)ledger->process_count);
	return (uint32_t)ledger->process_count;
}

static void take_birth(struct wti_ledger *ledger, const struct wt_event *event)
{
	uint32_t pid = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_PID);
	uint32_t how = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_HOW);
	uint32_t process = (uint32_t)wti_map_get(&ledger->process_of, pid), place;

	if (how == WT_TASK_EXEC) {
		if (process) {
			name_command(&ledger->processes[process - 1], event);
			ledger->processes[process - 1].exec_count++;
		}
		return;
	}
	if (how == WT_TASK_PROCESS || !process)
		process = new_process(ledger, event, pid);
	if (!process || wti_grow(&ledger->threads, ledger->thread_count + 1,
				 &ledger->thread_capacity, TASKS_MAX)) {
		ledger->left_out_count++;
		return;
	}
	place = (uint32_t)++ledger->thread_count;
	ledger->threads[place - 1] = (struct wti_ledger_thread){
		.process = process - 1,
		.tid = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_TID),
		.born_ns = event->time_ns,
		.last_ns = event->time_ns,
	};
	ledger->stream = (uint32_t)event->stream;
	wti_map_put(&ledger->thread_of, (uint64_t)event->stream << 32 | event->track, place);
	wti_map_put(&ledger->tid_of, ledger->threads[place - 1].tid, place);
}

static struct wti_ledger_thread *thread_of(struct wti_ledger *ledger, const struct wt_event *event)
{
	uint32_t place = (uint32_t)wti_map_get(&ledger->thread_of,
					       (uint64_t)event->stream << 32 | event->track);

	return place ? &ledger->threads[place - 1] : NULL;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Which track of an agent shows what the thread does. */
static void take_function(struct wti_ledger *ledger, const struct wt_event *event)
{
	const struct wt_track *track = wt_reader_track(event->reader, event->track);

	if (track && track->tid && !wti_map_find_number(&ledger->track_of, track->tid))
		wti_map_put(&ledger->track_of, track->tid,
			    ((uint64_t)event->stream << 32 | event->track) + 1);
}

struct wti_line wti_ledger_line(const struct wti_ledger *ledger, uint32_t tid)
{
	const uint64_t *key = wti_map_find_number(&ledger->track_of, tid);
	const uint64_t *slot =
		key && *key ? wti_map_find_number(&ledger->calls->index, *key - 1) : NULL;
	const struct wti_call_track *track =
		slot && *slot ? &ledger->calls->tracks[*slot - 1] : NULL;

	for (size_t i = track ? track->open_count : 0; i--;)
		if (track->open[i].site)
			return (struct wti_line){(uint32_t)track->open[i].stream,
						 track->open[i].site};
	return (struct wti_line){0};
}

/* ---- Postings -------------------------------------------------------------------------------- */

void wti_ledger_post(struct wti_ledger *ledger, const struct wti_ledger_place *at,
		     enum wti_matter matter, uint32_t thing, uint64_t bytes)
{
	uint64_t nr = matter == WTI_MATTER_CLOCK ? at->call->nr & (WTI_CALLS_MAX - 1) : 0;
	uint64_t key = (uint64_t)at->process << 40 | nr << 28 | (uint64_t)thing << 8 | matter;
	uint64_t *slot = wti_map_number(&ledger->posting_of, key);
	struct wti_posting *posting;
	struct wti_line line;

	if (slot && !*slot &&
	    !wti_grow_zeroed(&ledger->postings, ledger->posting_count + 1,
			     &ledger->posting_capacity, POSTINGS_MAX))
		*slot = ++ledger->posting_count;
	if (!slot || !*slot) {
		ledger->left_out_count++;
		return;
	}
	posting = &ledger->postings[*slot - 1];
	if (!posting->count++)
		*posting = (struct wti_posting){
			.process = at->process,
			.thing = thing,
			.matter = matter,
			.tid = at->tid,
			.count = 1,
			.first_ns = at->start_ns,
			.first_step = ledger->processes[at->process].step,
		};
	/* The first may be another's, as of a start: ever later ones stand for most. */
	if (at->call && !(posting->count & (posting->count - 1))) {
		line = wti_ledger_line(ledger, at->tid);
		if (line.site)
			posting->line = line;
	}
	if (at->call) {
		posting->arch = at->call->arch;
		posting->nr = at->call->nr;
	}
	posting->bytes += bytes;
	posting->time_ns += (uint64_t)(at->end_ns - at->start_ns);
	posting->last_ns = at->end_ns;
}

double wti_posting_rate(const struct wti_posting *posting)
{
	double ns = (double)(posting->last_ns - posting->first_ns);

	return ns > 0 ? (double)posting->count * 1e9 / ns : 0;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static int take_call(struct wti_ledger *ledger, const struct wt_event *event, struct wt_err *err)
{
	struct wti_ledger_thread *thread = thread_of(ledger, event);
	struct wti_syscall call;

	if (!thread)
		return 0;
	wti_syscall_read(event, &call);
	if (!(call.flags & WT_SYSCALL_OWN))
		wti_ledger_call(ledger, thread, &call, event->time_ns);
	return wti_handles_call(ledger->handles, ledger->processes[thread->process].pid,
				thread->tid, &call, err);
}

static void end_thread(struct wti_ledger *ledger, struct wti_ledger_thread *thread, int64_t end_ns)
{
	struct wti_ledger_process *process = &ledger->processes[thread->process];
	uint64_t life_ns = (uint64_t)(end_ns - thread->born_ns);

	if (thread->has_ended)
		return;
	thread->has_ended = true;
	process->busy_ns += life_ns > thread->waited_ns ? life_ns - thread->waited_ns : 0;
	if (process->ended_ns < end_ns)
		process->ended_ns = end_ns;
}

static void take_end(struct wti_ledger *ledger, const struct wt_event *event)
{
	struct wti_ledger_thread *thread = thread_of(ledger, event);
	struct wti_ledger_process *process;
	struct wti_ledger_place at = {0};

	if (!thread)
		return;
	end_thread(ledger, thread, event->time_ns);
	process = &ledger->processes[thread->process];
	if (!(wt_event_u64(event, WT_TASK_END_FIELD_FLAGS) & WT_TASK_END_LAST) ||
	    process->has_ended)
		return;
	process->has_ended = true;
	if (!process->parent)
		return;
	at = (struct wti_ledger_place){process->parent - 1,
				       ledger->processes[process->parent - 1].pid, NULL,
				       process->born_ns, event->time_ns};
	wti_ledger_post(ledger, &at, WTI_MATTER_STARTED,
			wti_ledger_name(ledger, process->command, strlen(process->command)), 0);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void end_step(struct wti_ledger *ledger, struct wti_ledger_process *process, int64_t now_ns)
{
	uint64_t length_ns = (uint64_t)(now_ns - process->step_began_ns);

	if (process->step < 0)
		return;
	process->step_count++;
	process->steps_ns += length_ns;
	process->steps_waited_ns += process->step_waited_ns;
	if (process->step_waited_ns * 100 < length_ns * ledger->blocked_percent ||
	    !process->step_waited_ns)
		return;
	if (!process->step_blocked_count++)
		process->first_blocked_step = process->step;
}

static void take_context(struct wti_ledger *ledger, const struct wt_event *event)
{
	int64_t step = wti_bounded(wt_event_i64(event, WT_CONTEXT_FIELD_VALUE));
	uint32_t place =
		(uint32_t)wti_map_get(&ledger->process_of, wt_reader_identity(event->reader)->pid);
	const struct wt_track *track = wt_reader_track(event->reader, event->track);
	struct wti_ledger_process *process;

	if (!place || !track || wti_context_key(event) != WTI_CONTEXT_STEP)
		return;
	process = &ledger->processes[place - 1];
	if (process->step_tid && (process->step_tid != track->tid || process->step == step))
		return; /* the first thread that emits steps does so for its process */
	end_step(ledger, process, event->time_ns);
	process->step_tid = track->tid;
	process->step = step;
	process->step_began_ns = event->time_ns;
	process->step_waited_ns = 0;
}

int wti_ledger_event(struct wti_ledger *ledger, const struct wt_event *event, struct wt_err *err)
{
	switch (event->kind->number) {
	case WT_KIND_SYSCALL:
		return take_call(ledger, event, err);
	case WT_KIND_CONTEXT:
		take_context(ledger, event);
		return 0;
	case WT_KIND_CALL_BEGIN:
		take_function(ledger, event);
		return 0;
	case WT_KIND_TASK:
		take_birth(ledger, event);
		return wti_handles_event(ledger->handles, event, err);
	case WT_KIND_TASK_END:
		take_end(ledger, event);
		return wti_handles_event(ledger->handles, event, err);
	case WT_KIND_DESCRIPTOR:
		return wti_handles_event(ledger->handles, event, err);
	case WT_KIND_LOST:
		if (ledger->thread_count && event->stream == ledger->stream)
			ledger->lost_count += wt_event_u64(event, WT_LOST_FIELD_COUNT);
		return 0;
	default:
		return 0;
	}
}

/* If the first process is still running, only the recording has ended, as was asked for. */
static void count_alive(struct wti_ledger *ledger)
{
	bool is_over = ledger->process_count && ledger->processes[0].has_ended;

	for (size_t i = 1; is_over && i < ledger->process_count; i++)
		ledger->alive_count += !ledger->processes[i].has_ended;
}

void wti_ledger_finish(struct wti_ledger *ledger)
{
	count_alive(ledger);
	for (size_t i = 0; i < ledger->thread_count; i++)
		end_thread(ledger, &ledger->threads[i], ledger->threads[i].last_ns);
}
