/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how a raw record becomes a record of the trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/grow.h"
#include "records.h"
#include "syscall/compat.h"
#include "syscall/record.h"
#include "trace/run_folder.h"

#include "feed.h"
#include "private.h"
#include "program.h"
#include "stacks.h"

#define TRACKS_MAX (1u << 20)
#define CODE_AT 8 /* si_code in a siginfo */
#define UNITS(bytes) ((uint16_t)(((bytes) + 7) / 8))

void wti_feed_init(struct wti_syscall_feed *feed, struct wti_sink *sink, const char *program,
		   const uint8_t boot[16], const char *folder)
{
	const char *slash = strrchr(program, '/');
	struct wti_recorded_source source = {
		.number = WTI_SOURCE_SYSCALLS,
		.file = WTI_RUN_SYSCALLS,
		.identity = {.pid = (uint32_t)getpid(),
			     .clock = WT_CLOCK_MONOTONIC,
			     .command = "system calls"},
	};

	*feed = (struct wti_syscall_feed){.sink = sink};
	snprintf(feed->program, sizeof(feed->program), "%.15s", slash ? slash + 1 : program);
	memcpy(source.identity.boot, boot, sizeof(source.identity.boot));
	wti_own_init(&feed->own);
	feed->places = wti_places_new(folder);
	feed->stream = sink->begin(sink->self, &source);
}

void wti_feed_release(struct wti_syscall_feed *feed)
{
	for (size_t i = 0; i < feed->track_capacity; i++)
		free(feed->tracks[i].entry);
	free(feed->tracks);
	feed->tracks = NULL;
	wti_places_free(feed->places);
	feed->places = NULL;
}

static struct wti_feed_track *track_of(struct wti_syscall_feed *feed, uint32_t number)
{
	if (wti_grow_zeroed(&feed->tracks, number + (size_t)1, &feed->track_capacity, TRACKS_MAX))
		return NULL;
	return &feed->tracks[number];
}

/* What lies between the number that should come and the one that does. */
static void emit_gap(struct wti_syscall_feed *feed, struct wti_feed_track *track,
		     const struct wti_raw *raw)
{
	struct wti_loss loss = {.track = raw->track,
				.reason = WT_LOST_RING_FULL,
				.count = raw->seq - track->next_seq,
				.first = track->next_seq,
				.last = raw->seq - 1,
				.from = track->last_ns,
				.to = raw->time_ns};

	if (!track->last_ns)
		loss.from = raw->time_ns;
	feed->gaps += loss.count;
	feed->sink->lost(feed->sink->self, feed->stream, &loss);
	track->next_seq = raw->seq;
}

static void define(struct wti_syscall_feed *feed, struct wti_feed_track *track, uint32_t number,
		   const char *name, size_t name_bytes)
{
	struct {
		struct wti_track_definition head;
		char name[16];
	} payload = {.head = {.type = WTI_TRACK_THREAD, .tid = track->tid}};
	struct wti_definition_view view = {.type = WTI_DEF_TRACK,
					   .payload_bytes =
						   (uint16_t)(sizeof(payload.head) + name_bytes),
					   .id = number,
					   .payload = (const uint8_t *)&payload};

	memcpy(payload.name, name, name_bytes);
	feed->sink->define(feed->sink->self, feed->stream, &view);
	track->is_defined = true;
}

static void hand_over(struct wti_syscall_feed *feed, struct wti_feed_track *track,
		      const struct wti_raw *raw, struct wti_record *record, uint16_t kind,
		      size_t bytes)
{
	struct wti_run_of_records run = {.track = raw->track,
					 .count = 1,
					 .first_seq = raw->seq,
					 .data = (const uint8_t *)record};

	/* Two processors may differ by a little; order is the sequence. */
	if (raw->time_ns > track->last_ns)
		track->last_ns = raw->time_ns;
	record->kind = kind;
	record->units = UNITS(bytes);
	record->seq = (uint32_t)raw->seq;
	record->ticks = run.last_ticks = track->last_ns;
	run.bytes = record->units * 8u;
	feed->sink->records(feed->sink->self, feed->stream, &run);
	track->next_seq = raw->seq + 1;
}

static void take_entry(struct wti_syscall_feed *feed, struct wti_feed_track *track,
		       const struct wti_raw_entry *raw)
{
	free(track->entry);
	track->entry = malloc(raw->memory_bytes);
	if (!track->entry) {
		feed->refused++;
		return;
	}
	memcpy(track->entry, raw + 1, raw->memory_bytes);
	track->entry_bytes = raw->memory_bytes;
	track->entry_seq = raw->raw.seq;
}

static void take_stack(struct wti_syscall_feed *feed, struct wti_feed_track *track,
		       const struct wti_raw_stack *raw)
{
	track->stack = wti_stacks_take(feed->stacks, raw);
	track->stack_seq = raw->raw.seq;
}

/* What came ahead, then what came with it, as much as there is room for. */
static uint32_t join_memory(struct wti_feed_track *track, const struct wti_raw_call *raw,
			    uint8_t out[WTI_SYSCALL_MEMORY_MAX])
{
	uint32_t bytes = 0;

	if (track->entry && track->entry_seq == raw->raw.seq) {
		memcpy(out, track->entry, track->entry_bytes);
		bytes = track->entry_bytes;
	}
	free(track->entry);
	track->entry = NULL;
	if (raw->memory_bytes > WTI_SYSCALL_MEMORY_MAX - bytes)
		return bytes; /* pieces are kept whole or not at all */
	memcpy(out + bytes, raw + 1, raw->memory_bytes);
	return bytes + raw->memory_bytes;
}

/* Calls whose texts are more than names of files. */
static bool has_words(const struct wti_raw_call *raw)
{
	int nr = raw->arch == WTI_ARCH_HERE   ? (int)raw->nr
		 : raw->arch == WTI_ARCH_I386 ? wti_compat_number(raw->nr)
					      : -1;

	return nr == SYS_execve || nr == SYS_execveat || nr == SYS_mount;
}

/* From here on nobody has to know how i386 lays out its structures. */
static void widen(struct wti_record_syscall *call, const struct wti_raw_call *raw,
		  uint8_t memory[WTI_SYSCALL_MEMORY_MAX])
{
	const uint64_t *args = (const uint64_t *)raw->args;

	call->text_bytes = wti_compat_widen(raw->nr, args, memory, call->text_bytes);
	if (wti_compat_is_unread(raw->nr, args, memory, call->text_bytes))
		call->flags |= WT_SYSCALL_UNREAD;
}

static void take_call(struct wti_syscall_feed *feed, struct wti_feed_track *track,
		      const struct wti_raw_call *raw)
{
	struct {
		struct wti_record_syscall call;
		uint8_t memory[WTI_SYSCALL_MEMORY_MAX];
	} record;
	struct wti_record_syscall *call = &record.call;

	call->nr = raw->nr;
	call->stack = track->stack_seq == raw->raw.seq ? track->stack : 0;
	call->a0 = raw->args[0];
	call->a1 = raw->args[1];
	call->a2 = raw->args[2];
	call->a3 = raw->args[3];
	call->a4 = raw->args[4];
	call->a5 = raw->args[5];
	call->result = raw->result;
	call->duration = raw->duration_ns;
	call->system = raw->system_ns;
	call->reserved = 0;
	call->arch = raw->arch;
	call->flags = raw->flags;
	call->text_bytes = join_memory(track, raw, record.memory);
	if (raw->arch == WTI_ARCH_I386)
		widen(call, raw, record.memory);
	if (raw->arch == WTI_ARCH_HERE)
		call->text_bytes =
			wti_program_pieces(raw, record.memory, call->text_bytes, &call->flags);
	if (feed->own.folder_count &&
	    wti_own_is(&feed->own, track->pid, raw, record.memory, call->text_bytes))
		call->flags |= WT_SYSCALL_OWN;
	if (feed->is_private && has_words(raw))
		call->text_bytes = (uint32_t)wti_private_pieces(record.memory, call->text_bytes);
	call->text_bytes =
		wti_places_call(feed->places, track->pid, raw, record.memory, call->text_bytes);
	feed->call_count++;
	feed->foreign_count +=
		raw->arch != WTI_ARCH_HERE && !wti_call_name((enum wti_arch)raw->arch, raw->nr);
	feed->own_count += (call->flags & WT_SYSCALL_OWN) != 0;
	hand_over(feed, track, &raw->raw, &call->record, WT_KIND_SYSCALL,
		  sizeof(*call) + call->text_bytes);
}

static void take_task(struct wti_syscall_feed *feed, struct wti_feed_track *track,
		      const struct wti_raw_task *raw)
{
	/* Until its exec the program is called as we are. */
	const char *command = raw->how == WT_TASK_PROGRAM ? feed->program : raw->command;
	uint32_t bytes = (uint32_t)strnlen(command, sizeof(raw->command));
	struct {
		struct wti_record_task task;
		char command[sizeof(raw->command)];
	} record = {.task = {.tid = raw->tid,
			     .pid = raw->pid,
			     .parent = raw->parent,
			     .how = raw->how,
			     .command_bytes = bytes}};

	feed->alive_count += !track->alive;
	feed->process_count += raw->tid == raw->pid && raw->how != WT_TASK_EXEC;
	track->alive = true;
	track->tid = raw->tid;
	track->pid = raw->pid;
	wti_places_task(feed->places, raw);
	if (feed->stacks && raw->how == WT_TASK_PROGRAM)
		wti_spaces_begin(&feed->stacks->spaces, raw->pid);
	memcpy(record.command, command, bytes);
	if (!track->is_defined)
		define(feed, track, raw->raw.track, command, bytes);
	hand_over(feed, track, &raw->raw, &record.task.record, WT_KIND_TASK,
		  sizeof(record.task) + bytes);
}

static void take_end(struct wti_syscall_feed *feed, struct wti_feed_track *track,
		     const struct wti_raw_end *raw)
{
	struct wti_record_task_end record = {
		.tid = raw->tid, .pid = raw->pid, .flags = raw->flags & WT_TASK_END_LAST};

	record.status =
		WIFSIGNALED(raw->status) ? -WTERMSIG(raw->status) : WEXITSTATUS(raw->status);
	record.flags |= WCOREDUMP(raw->status) ? WT_TASK_END_DUMPED : 0;
	if (raw->pid == feed->watched_pid && raw->flags & WT_TASK_END_LAST) {
		feed->watched_ended = true;
		feed->watched_status = raw->status;
	}
	wti_places_end(feed->places, raw);
	feed->alive_count -= track->alive;
	track->alive = false;
	free(track->entry);
	track->entry = NULL;
	hand_over(feed, track, &raw->raw, &record.record, WT_KIND_TASK_END, sizeof(record));
}

static void take_signal(struct wti_syscall_feed *feed, struct wti_feed_track *track,
			const struct wti_raw_signal *raw)
{
	bool has_info = !(raw->flags & WTI_RAW_SIGNAL_STOPPED);
	struct {
		struct wti_record_signal signal;
		uint8_t info[sizeof(raw->info)];
	} record = {.signal = {.number = raw->number,
			       .flags = raw->flags,
			       .info_bytes = has_info ? sizeof(raw->info) : 0}};

	memcpy(record.info, raw->info, sizeof(record.info));
	if (has_info)
		memcpy(&record.signal.code, raw->info + CODE_AT, sizeof(record.signal.code));
	hand_over(feed, track, &raw->raw, &record.signal.record, WT_KIND_SIGNAL,
		  sizeof(record.signal) + record.signal.info_bytes);
}

static bool is_whole(const struct wti_raw *raw, size_t bytes)
{
	const struct wti_raw_call *call = (const void *)raw;
	const struct wti_raw_entry *entry = (const void *)raw;
	const struct wti_raw_stack *stack = (const void *)raw;
	const struct wti_raw_map *map = (const void *)raw;

	if (bytes < sizeof(*raw))
		return false;
	switch (raw->type) {
	case WTI_RAW_CALL:
		return bytes >= sizeof(*call) && call->memory_bytes <= bytes - sizeof(*call) &&
		       call->memory_bytes <= WTI_SYSCALL_MEMORY_MAX;
	case WTI_RAW_ENTRY:
		return bytes >= sizeof(*entry) && entry->memory_bytes <= bytes - sizeof(*entry) &&
		       entry->memory_bytes <= WTI_SYSCALL_MEMORY_MAX;
	case WTI_RAW_STACK:
		return bytes >= sizeof(*stack) && stack->stack_bytes <= bytes - sizeof(*stack) &&
		       stack->stack_bytes <= WTI_RAW_STACK_MAX;
	case WTI_RAW_MAP:
		return bytes >= sizeof(*map) && map->path_bytes <= bytes - sizeof(*map);
	case WTI_RAW_TASK:
		return bytes >= sizeof(struct wti_raw_task);
	case WTI_RAW_END:
		return bytes >= sizeof(struct wti_raw_end);
	case WTI_RAW_SIGNAL:
		return bytes >= sizeof(struct wti_raw_signal);
	default:
		return false;
	}
}

void wti_feed_take(struct wti_syscall_feed *feed, const struct wti_raw *raw, size_t bytes)
{
	struct wti_feed_track *track = NULL;

	if (is_whole(raw, bytes) && raw->type == WTI_RAW_MAP && feed->stacks) {
		wti_spaces_change(&feed->stacks->spaces, (const void *)raw);
		return;
	}
	if (is_whole(raw, bytes))
		track = track_of(feed, raw->track);
	if (!track || raw->seq < track->next_seq) {
		feed->refused++;
		return;
	}
	if (raw->type == WTI_RAW_ENTRY) {
		take_entry(feed, track, (const void *)raw);
		return;
	}
	if (raw->type == WTI_RAW_STACK) {
		if (feed->stacks)
			take_stack(feed, track, (const void *)raw);
		return;
	}
	if (raw->seq > track->next_seq)
		emit_gap(feed, track, raw);
	if (raw->type == WTI_RAW_CALL)
		take_call(feed, track, (const void *)raw);
	else if (raw->type == WTI_RAW_SIGNAL)
		take_signal(feed, track, (const void *)raw);
	else if (raw->type == WTI_RAW_TASK)
		take_task(feed, track, (const void *)raw);
	else
		take_end(feed, track, (const void *)raw);
}

void wti_feed_end(struct wti_syscall_feed *feed, uint64_t lost)
{
	struct wti_loss full = {.reason = WT_LOST_RING_FULL, .count = lost - feed->gaps};
	struct wti_loss refused = {.reason = WT_LOST_DAMAGED, .count = feed->refused};

	/* After the last record of a thread there is none to show the hole. */
	if (lost > feed->gaps)
		feed->sink->lost(feed->sink->self, feed->stream, &full);
	if (feed->refused)
		feed->sink->lost(feed->sink->self, feed->stream, &refused);
	feed->sink->end(feed->sink->self, feed->stream);
}
