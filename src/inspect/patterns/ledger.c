/* SPDX-License-Identifier: Apache-2.0 */
/* Adding up what processes ask of the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "inspect/training/calls.h"
#include "ledger.h"
#include "syscall/handles.h"

#define NAMES_MAX (1u << 18)
#define ENTRIES_MAX (1u << 18)
#define TASKS_MAX (1u << 17)
#define MAPPED_MAX (1u << 17)
#define TEXT_MAX 8192u
#define PAGE_BYTES 4096
/* A call that takes less is not blocked: what lies in memory already, and what tracing adds. */
#define BLOCKED_NS 100000u

/* ---- Memory ---------------------------------------------------------------------------------- */

/* One more, zeroed; its place plus one, 0 beyond the ceiling or out of memory. */
static uint32_t grow(void **all, size_t *count, size_t *capacity, size_t bytes, size_t ceiling)
{
	size_t wanted = *capacity ? *capacity * 2 : 64;
	void *bigger;

	if (*count >= ceiling)
		return 0;
	if (*count == *capacity) {
		bigger = realloc(*all, wanted * bytes);
		if (!bigger)
			return 0;
		*all = bigger;
		*capacity = wanted;
	}
	memset((char *)*all + *count * bytes, 0, bytes);
	return (uint32_t)++ * count;
}

int wti_ledger_init(struct wti_ledger *ledger, uint64_t blocked_percent,
		    const struct wti_calls *calls, struct wt_err *err)
{
	*ledger = (struct wti_ledger){.blocked_percent = blocked_percent, .calls = calls};
	wti_map_init(&ledger->names, NAMES_MAX);
	wti_map_init(&ledger->entry_of, ENTRIES_MAX);
	wti_map_init(&ledger->process_of, TASKS_MAX);
	wti_map_init(&ledger->thread_of, TASKS_MAX);
	wti_map_init(&ledger->tid_of, TASKS_MAX);
	wti_map_init(&ledger->track_of, TASKS_MAX);
	wti_map_init(&ledger->mapped, MAPPED_MAX);
	wti_buf_init(&ledger->text, TEXT_MAX);
	ledger->sorts = wti_sorts_new();
	ledger->handles = calloc(1, sizeof(*ledger->handles));
	if (!ledger->sorts || !ledger->handles)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return wti_handles_init(ledger->handles, NULL, err);
}

void wti_ledger_release(struct wti_ledger *ledger)
{
	if (ledger->handles)
		wti_handles_release(ledger->handles);
	free(ledger->handles);
	free((void *)ledger->sorts);
	free(ledger->entries);
	free(ledger->processes);
	free(ledger->threads);
	wti_map_release(&ledger->names);
	wti_map_release(&ledger->entry_of);
	wti_map_release(&ledger->process_of);
	wti_map_release(&ledger->thread_of);
	wti_map_release(&ledger->tid_of);
	wti_map_release(&ledger->track_of);
	wti_map_release(&ledger->mapped);
	wti_buf_release(&ledger->text);
	*ledger = (struct wti_ledger){0};
}

static uint32_t find(const struct wti_map *map, uint64_t key)
{
	const uint64_t *slot = wti_map_find_number(map, key);

	return slot ? (uint32_t)*slot : 0;
}

static void put(struct wti_map *map, uint64_t key, uint64_t value)
{
	uint64_t *slot = wti_map_number(map, key);

	if (slot)
		*slot = value;
}

/* ---- Things ---------------------------------------------------------------------------------- */

static uint32_t name_thing(struct wti_ledger *ledger, const char *text, size_t bytes)
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

/* Made by the kernel when they are read, or no files at all: small and often is how it is done. */
static bool is_of_kernel(const char *path)
{
	return !strncmp(path, "/proc", 5) || !strncmp(path, "/sys/", 5) ||
	       !strncmp(path, "/dev/", 5);
}

static bool is_random(const char *path)
{
	return !strcmp(path, "/dev/urandom") || !strcmp(path, "/dev/random");
}

static uint32_t thing_of_handle(struct wti_ledger *ledger, struct wti_handle *handle)
{
	const char *name = handle->name ? handle->name : handle->peer;

	if (!handle->attached && name)
		handle->attached = name_thing(ledger, name, strlen(name));
	return (uint32_t)handle->attached;
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
	uint32_t parent = find(&ledger->tid_of, wt_event_u64(event, WT_TASK_FIELD_PARENT));
	uint32_t place = grow((void **)&ledger->processes, &ledger->process_count,
			      &ledger->process_capacity, sizeof(*ledger->processes), TASKS_MAX);
	struct wti_ledger_process *process;

	if (!place)
		return 0;
	process = &ledger->processes[place - 1];
	process->pid = pid;
	process->parent = parent ? ledger->threads[parent - 1].process + 1 : 0;
	process->born_ns = event->time_ns;
	process->step = process->first_blocked_step = -1;
	name_command(process, event);
	put(&ledger->process_of, pid, place);
	return place;
}

static void take_birth(struct wti_ledger *ledger, const struct wt_event *event)
{
	uint32_t pid = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_PID);
	uint32_t how = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_HOW);
	uint32_t process = find(&ledger->process_of, pid), place;

	if (how == WT_TASK_EXEC) {
		if (process) {
			name_command(&ledger->processes[process - 1], event);
			ledger->processes[process - 1].exec_count++;
		}
		return;
	}
	if (how == WT_TASK_PROCESS || !process)
		process = new_process(ledger, event, pid);
	place = process ? grow((void **)&ledger->threads, &ledger->thread_count,
			       &ledger->thread_capacity, sizeof(*ledger->threads), TASKS_MAX)
			: 0;
	if (!place) {
		ledger->left_out_count++;
		return;
	}
	ledger->threads[place - 1] = (struct wti_ledger_thread){
		.process = process - 1,
		.tid = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_TID),
		.born_ns = event->time_ns,
		.last_ns = event->time_ns,
	};
	ledger->stream = (uint32_t)event->stream;
	put(&ledger->thread_of, (uint64_t)event->stream << 32 | event->track, place);
	put(&ledger->tid_of, ledger->threads[place - 1].tid, place);
}

static struct wti_ledger_thread *thread_of(struct wti_ledger *ledger, const struct wt_event *event)
{
	uint32_t place = find(&ledger->thread_of, (uint64_t)event->stream << 32 | event->track);

	return place ? &ledger->threads[place - 1] : NULL;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Which track of an agent tells what the thread does. */
static void take_function(struct wti_ledger *ledger, const struct wt_event *event)
{
	const struct wt_track *track = wt_reader_track(event->reader, event->track);

	if (track && track->tid && !wti_map_find_number(&ledger->track_of, track->tid))
		put(&ledger->track_of, track->tid,
		    ((uint64_t)event->stream << 32 | event->track) + 1);
}

/* The innermost call that is open there and has a line. */
static struct wti_line line_of(const struct wti_ledger *ledger, uint32_t tid)
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

/* Where in the run we are. */
struct place {
	uint32_t process, tid;
	const struct wti_syscall *call; /* NULL: a child has ended */
	int64_t start_ns, end_ns;
};

static void enter(struct wti_ledger *ledger, const struct place *at, enum wti_matter matter,
		  uint32_t thing, uint64_t bytes)
{
	uint64_t nr = matter == WTI_MATTER_CLOCK ? at->call->nr & (WTI_CALLS_MAX - 1) : 0;
	uint64_t key = (uint64_t)at->process << 40 | nr << 28 | (uint64_t)thing << 8 | matter;
	uint64_t *slot = wti_map_number(&ledger->entry_of, key);
	struct wti_posting *entry;

	if (slot && !*slot)
		*slot = grow((void **)&ledger->entries, &ledger->entry_count,
			     &ledger->entry_capacity, sizeof(*ledger->entries), ENTRIES_MAX);
	if (!slot || !*slot) {
		ledger->left_out_count++;
		return;
	}
	entry = &ledger->entries[*slot - 1];
	if (!entry->count++)
		*entry = (struct wti_posting){
			.process = at->process,
			.thing = thing,
			.matter = matter,
			.tid = at->tid,
			.line = at->call ? line_of(ledger, at->tid) : (struct wti_line){0},
			.count = 1,
			.first_ns = at->start_ns,
			.first_step = ledger->processes[at->process].step,
		};
	if (at->call) {
		entry->arch = at->call->arch;
		entry->nr = at->call->nr;
	}
	entry->bytes += bytes;
	entry->time_ns += (uint64_t)(at->end_ns - at->start_ns);
	entry->last_ns = at->end_ns;
}

double wti_posting_rate(const struct wti_posting *entry)
{
	double ns = (double)(entry->last_ns - entry->first_ns);

	return ns > 0 ? (double)entry->count * 1e9 / ns : 0;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static uint64_t moved_bytes(const struct wti_syscall *call)
{
	return call->result > 0 ? (uint64_t)call->result : 0;
}

static void enter_transfer(struct wti_ledger *ledger, const struct place *at,
			   const struct wti_sort_row *row, struct wti_handle *handle)
{
	uint64_t bytes = moved_bytes(at->call);

	if (!bytes || handle->type != WTI_HANDLE_FILE || !handle->name)
		return;
	if (is_random(handle->name))
		enter(ledger, at, WTI_MATTER_RANDOM, thing_of_handle(ledger, handle), bytes);
	else if (bytes < PAGE_BYTES && !is_of_kernel(handle->name))
		enter(ledger, at,
		      row->sort == WTI_SORT_WRITE ? WTI_MATTER_SMALL_WRITE : WTI_MATTER_SMALL_READ,
		      thing_of_handle(ledger, handle), bytes);
}

/* The name that a call is about; 0: it is about a descriptor, or was not captured. */
static uint32_t thing_of_path(struct wti_ledger *ledger, const struct place *at,
			      const struct wti_sort_row *row)
{
	int32_t folder = row->fd < 0 ? AT_FDCWD : (int32_t)at->call->args[row->fd];
	struct wt_text text;

	if (row->path < 0 || !wti_syscall_text(at->call, (unsigned)row->path, &text) || !text.bytes)
		return 0;
	wti_buf_clear(&ledger->text);
	wti_handles_path(ledger->handles, ledger->processes[at->process].pid, folder, text,
			 &ledger->text);
	return name_thing(ledger, wti_buf_cstr(&ledger->text), ledger->text.bytes);
}

static void enter_name(struct wti_ledger *ledger, const struct place *at,
		       const struct wti_sort_row *row, uint32_t thing)
{
	if (!thing || is_of_kernel(wti_ledger_thing(ledger, thing)))
		return;
	if (row->sort == WTI_SORT_OPEN && at->call->result >= 0)
		enter(ledger, at, WTI_MATTER_OPENED, thing, 0);
	else if (row->sort == WTI_SORT_LOOK || at->call->result == -ENOENT)
		enter(ledger, at, WTI_MATTER_LOOKED, thing, 0);
}

static uint64_t memory_key(const struct place *at, uint64_t address)
{
	return (uint64_t)at->process << 44 ^ address >> 12;
}

/* Memory of its own that can be written: what allocators ask for, and stacks do not count. */
static void take_map(struct wti_ledger *ledger, const struct place *at)
{
	const uint64_t *args = at->call->args;
	uint64_t *slot;

	if (at->call->result < 0 || !(args[3] & MAP_ANONYMOUS) || !(args[2] & PROT_WRITE) ||
	    args[3] & (MAP_STACK | MAP_FIXED))
		return;
	slot = wti_map_number(&ledger->mapped, memory_key(at, (uint64_t)at->call->result));
	if (slot)
		*slot = 1;
}

static void take_unmap(struct wti_ledger *ledger, const struct place *at)
{
	const uint64_t *args = at->call->args;
	uint64_t key = memory_key(at, args[0]);

	if (at->call->result < 0 || !find(&ledger->mapped, key))
		return;
	enter(ledger, at, WTI_MATTER_UNMAPPED, 0, args[1]);
	put(&ledger->mapped, key, 0);
}

static void take_break(struct wti_ledger *ledger, const struct place *at)
{
	struct wti_ledger_process *process = &ledger->processes[at->process];
	uint64_t now = (uint64_t)at->call->result;

	if (now < process->break_bytes)
		enter(ledger, at, WTI_MATTER_UNMAPPED, 0, process->break_bytes - now);
	process->break_bytes = now;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static bool is_for_others(const struct wti_handle *handle)
{
	return handle && handle->type != WTI_HANDLE_FILE;
}

static bool waits(const struct wti_sort_row *row, const struct wti_handle *handle)
{
	return row && (row->sort == WTI_SORT_WAIT ||
		       ((row->sort == WTI_SORT_READ || row->sort == WTI_SORT_WRITE) &&
			is_for_others(handle)));
}

/* For a disk or a peer; not for other processes of the run. */
static bool is_io(const struct wti_sort_row *row, const struct wti_handle *handle)
{
	switch (row ? row->sort : WTI_SORT_OTHER) {
	case WTI_SORT_OPEN:
	case WTI_SORT_LOOK:
	case WTI_SORT_SYNC:
		return true;
	case WTI_SORT_READ:
	case WTI_SORT_READ_AT:
	case WTI_SORT_WRITE:
	case WTI_SORT_WAIT:
		return handle && (handle->type == WTI_HANDLE_FILE ||
				  (handle->peer && strncmp(handle->peer, "unix", 4)));
	default:
		return false;
	}
}

static void take_wait(struct wti_ledger *ledger, const struct place *at,
		      const struct wti_sort_row *row, struct wti_handle *handle, uint32_t thing)
{
	struct wti_ledger_process *process = &ledger->processes[at->process];
	int64_t began_ns =
		at->start_ns < process->step_began_ns ? process->step_began_ns : at->start_ns;

	if (process->step < 0 || at->tid != process->step_tid || !is_io(row, handle) ||
	    at->end_ns - began_ns < BLOCKED_NS)
		return;
	process->step_waited_ns += (uint64_t)(at->end_ns - began_ns);
	enter(ledger, at, WTI_MATTER_WAITED, thing, moved_bytes(at->call));
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void take_sort(struct wti_ledger *ledger, const struct place *at,
		      const struct wti_sort_row *row, struct wti_handle *handle, uint32_t thing)
{
	switch (row->sort) {
	case WTI_SORT_READ:
	case WTI_SORT_READ_AT:
	case WTI_SORT_WRITE:
		if (handle)
			enter_transfer(ledger, at, row, handle);
		break;
	case WTI_SORT_OPEN:
	case WTI_SORT_LOOK:
		enter_name(ledger, at, row, thing);
		break;
	case WTI_SORT_RANDOM:
		enter(ledger, at, WTI_MATTER_RANDOM, 0, moved_bytes(at->call));
		break;
	case WTI_SORT_CLOCK:
		enter(ledger, at, WTI_MATTER_CLOCK, 0, 0);
		break;
	case WTI_SORT_MAP:
		take_map(ledger, at);
		break;
	case WTI_SORT_UNMAP:
		take_unmap(ledger, at);
		break;
	case WTI_SORT_BREAK:
		take_break(ledger, at);
		break;
	default:
		break;
	}
}

/* The program's own call, before its descriptors change by it. */
static void judge_call(struct wti_ledger *ledger, struct wti_ledger_thread *thread,
		       const struct wti_syscall *call, int64_t end_ns)
{
	const struct wti_sort_row *row = wti_sort_of(ledger->sorts, call);
	uint32_t pid = ledger->processes[thread->process].pid;
	struct place at = {thread->process, thread->tid, call, call->start_ns, end_ns};
	struct wti_handle *handle = NULL;
	uint32_t thing = 0;

	ledger->call_count++;
	thread->last_ns = end_ns;
	if (call->flags & WTI_SYSCALL_JOINED)
		return;
	if (row && row->path >= 0)
		thing = thing_of_path(ledger, &at, row);
	else if (row && row->fd >= 0)
		handle = wti_handles_of(ledger->handles, pid, (int32_t)call->args[row->fd]);
	if (handle)
		thing = thing_of_handle(ledger, handle);
	if (waits(row, handle))
		thread->waited_ns += (uint64_t)(end_ns - call->start_ns);
	if (call->flags & WTI_SYSCALL_UNFINISHED)
		return;
	if (row) {
		take_wait(ledger, &at, row, handle, thing);
		take_sort(ledger, &at, row, handle, thing);
	}
	wti_loop_see(&thread->loop,
		     &(struct wti_loop_call){call, row, thing, end_ns,
					     ledger->processes[thread->process].step});
	if (thread->loop.longest.count && !thread->loop.longest.has_line) {
		thread->loop.longest.line = line_of(ledger, thread->tid);
		thread->loop.longest.has_line = true;
	}
}

static int take_call(struct wti_ledger *ledger, const struct wt_event *event, struct wt_err *err)
{
	struct wti_ledger_thread *thread = thread_of(ledger, event);
	struct wti_syscall call;

	if (!thread)
		return 0;
	wti_syscall_read(event, &call);
	if (!(call.flags & WTI_SYSCALL_OWN))
		judge_call(ledger, thread, &call, event->time_ns);
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
	struct place at = {0};

	if (!thread)
		return;
	end_thread(ledger, thread, event->time_ns);
	process = &ledger->processes[thread->process];
	if (!(wt_event_u64(event, WT_TASK_END_FIELD_FLAGS) & 1) || process->has_ended)
		return;
	process->has_ended = true;
	if (!process->parent)
		return;
	at = (struct place){process->parent - 1, ledger->processes[process->parent - 1].pid, NULL,
			    process->born_ns, event->time_ns};
	enter(ledger, &at, WTI_MATTER_STARTED,
	      name_thing(ledger, process->command, strlen(process->command)), 0);
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
	struct wt_text key = wt_event_text(event, WT_CONTEXT_FIELD_KEY);
	int64_t step = wt_event_i64(event, WT_CONTEXT_FIELD_VALUE);
	uint32_t place = find(&ledger->process_of, wt_reader_identity(event->reader)->pid);
	const struct wt_track *track = wt_reader_track(event->reader, event->track);
	struct wti_ledger_process *process;

	if (!place || !track || key.bytes != 4 || memcmp(key.data, "step", 4))
		return;
	process = &ledger->processes[place - 1];
	if (process->step_tid && (process->step_tid != track->tid || process->step == step))
		return; /* the first thread that tells steps tells them for its process */
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
	case WT_KIND_LOST:
		if (ledger->thread_count && event->stream == ledger->stream)
			ledger->lost_count += wt_event_u64(event, WT_LOST_FIELD_COUNT);
		return 0;
	default:
		return 0;
	}
}

void wti_ledger_finish(struct wti_ledger *ledger)
{
	for (size_t i = 0; i < ledger->thread_count; i++)
		end_thread(ledger, &ledger->threads[i], ledger->threads[i].last_ns);
}
