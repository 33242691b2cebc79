/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what stands at the beginning of a stream, and which fields of a kind are names or times. */
#include "streams.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

/* One stronger than a recorder's: nobody waits for it, and such traces are kept. */
#define ZSTD_LEVEL 3

int wti_intake_streams_init(struct wti_intake_streams *streams, struct wti_intake *intake,
			    const struct wti_intake_target *target, struct wt_err *err)
{
	*streams = (struct wti_intake_streams){.intake = intake, .target = target, .err = err};
	streams->items = calloc(intake->process_count + 1, sizeof(*streams->items));
	return streams->items ? 0 : wti_err(err, WT_E_NOMEM, "out of memory for the streams");
}

static bool path_of(const struct wti_intake_streams *streams,
		    const struct wti_intake_stream *stream, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/%04u.wt", streams->target->folder, stream->number) <
	       PATH_MAX;
}

void wti_intake_streams_release(struct wti_intake_streams *streams)
{
	char path[PATH_MAX];

	for (size_t i = 0; streams->items && i < streams->intake->process_count; i++) {
		struct wti_intake_stream *stream = &streams->items[i];

		if (stream->writer && streams->failed && path_of(streams, stream, path))
			unlink(path);
		wt_writer_free(stream->writer);
		free(stream->named);
	}
	free(streams->items);
}

/* ---- The beginning --------------------------------------------------------------------------- */

static void put_own(struct wti_intake_streams *streams, struct wti_intake_stream *stream,
		    uint16_t kind, uint64_t time, const uint64_t *values, size_t count,
		    const struct wt_text *texts)
{
	wti_intake_stream_put(streams, stream, kind, 0, ++stream->seq, time, values, count, texts);
}

static void put_rank(struct wti_intake_streams *streams, struct wti_intake_stream *stream,
		     uint64_t time)
{
	const struct wti_intake_target *target = streams->target;
	const char *group = target->group ? target->group : "";
	const uint64_t values[] = {(uint64_t)target->rank, target->world, 0,
				   wti_intake_name(streams->intake, group, strlen(group))};

	if (target->rank >= 0)
		put_own(streams, stream, WT_KIND_RANK, time, values, 4, NULL);
}

static void put_beginning(struct wti_intake_streams *streams, struct wti_intake_stream *stream,
			  const struct wti_intake_process *process, uint64_t time)
{
	const uint64_t clock[] = {WT_CLOCK_REALTIME, 0, time + streams->target->shift_ns};
	const uint64_t values[] = {process->pid, 0, 0, 0, 0};
	const struct wt_text command = {process->command, strlen(process->command)};

	if (streams->target->realtime)
		put_own(streams, stream, WT_KIND_CLOCK, time, clock, 3, NULL);
	put_own(streams, stream, WT_KIND_PROCESS, time, values, 5, &command);
	put_rank(streams, stream, time);
}

static int open_stream(struct wti_intake_streams *streams, struct wti_intake_stream *stream,
		       const struct wti_intake_process *process)
{
	struct wt_writer_options options;
	char path[PATH_MAX];

	stream->number = streams->target->first_stream + streams->opened++;
	stream->named = calloc(1, (streams->intake->names.count + 2) / 8 + 1);
	if (!stream->named)
		return wti_err(streams->err, WT_E_NOMEM, "out of memory for a stream");
	if (!path_of(streams, stream, path))
		return wti_err(streams->err, WT_E_LIMIT,
			       "the path of the output is too long: choose a shorter one");
	wt_writer_options_init(&options);
	options.level = ZSTD_LEVEL;
	options.identity.pid = process->pid;
	options.identity.clock = streams->target->realtime ? WT_CLOCK_REALTIME : WT_CLOCK_MONOTONIC;
	memcpy(options.identity.command, process->command, sizeof(process->command));
	return wt_writer_create(path, &options, &stream->writer, streams->err);
}

struct wti_intake_stream *wti_intake_stream(struct wti_intake_streams *streams, uint32_t process,
					    uint64_t time)
{
	struct wti_intake_stream *stream = &streams->items[process];
	const struct wti_intake_process *about = &streams->intake->processes[process];

	if (stream->writer)
		return stream;
	streams->failed = streams->failed ? streams->failed : open_stream(streams, stream, about);
	if (streams->failed)
		return NULL;
	if (about->earliest && about->earliest < time)
		time = about->earliest;
	put_beginning(streams, stream, about, time);
	return stream;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void failed(struct wti_intake_streams *streams, int code)
{
	if (!code || streams->failed)
		return;
	streams->failed = wti_err(streams->err, code, "cannot write a stream to '%.200s'",
				  streams->target->folder);
}

static void define(struct wti_intake_streams *streams, struct wti_intake_stream *stream,
		   uint64_t name)
{
	const struct wti_map_entry *entry;

	if (!name || stream->named[name / 8] >> (name % 8) & 1)
		return;
	stream->named[name / 8] |= (uint8_t)(1u << (name % 8));
	entry = &streams->intake->names.entries[name - 1];
	failed(streams,
	       wt_writer_string(stream->writer, (uint32_t)name, entry->text, entry->bytes));
}

static void meet(struct wti_intake_streams *streams, uint16_t kind)
{
	const struct wt_kind *about = wt_kind_builtin(kind);

	for (size_t i = 0; i < about->field_count; i++) {
		if (about->fields[i].type == WT_TYPE_NAME)
			streams->name_fields[kind] |= 1u << i;
		if (about->fields[i].type == WT_TYPE_TICKS)
			streams->time_fields[kind] |= 1u << i;
	}
	streams->met[kind] = true;
}

int wti_intake_stream_track(struct wti_intake_streams *streams, struct wti_intake_stream *stream,
			    const struct wt_track *track)
{
	failed(streams, wt_writer_track(stream->writer, track));
	return streams->failed;
}

void wti_intake_stream_put(struct wti_intake_streams *streams, struct wti_intake_stream *stream,
			   uint16_t kind, uint32_t track, uint64_t seq, uint64_t time,
			   const uint64_t *values, size_t value_count, const struct wt_text *texts)
{
	uint64_t shift = streams->target->shift_ns;
	uint64_t shifted[WT_FIELDS_MAX];
	uint32_t fields;

	if (!streams->met[kind])
		meet(streams, kind);
	for (fields = streams->name_fields[kind]; fields; fields &= fields - 1) {
		unsigned i = (unsigned)__builtin_ctz(fields);

		if (i < value_count)
			define(streams, stream, values[i]);
	}
	fields = streams->time_fields[kind];
	if (fields && shift) {
		memcpy(shifted, values, value_count * sizeof(*values));
		for (; fields; fields &= fields - 1) {
			unsigned i = (unsigned)__builtin_ctz(fields);

			if (i < value_count && values[i]) /* 0: not known */
				shifted[i] += shift;
		}
		values = shifted;
	}
	streams->last = time > streams->last ? time : streams->last;
	failed(streams, wt_writer_append(stream->writer, kind, track, seq, time + shift, values,
					 value_count, texts));
}

/* ---- The end --------------------------------------------------------------------------------- */

/* What was lost of the file is said once, in its first stream. */
static void put_lost(struct wti_intake_streams *streams)
{
	const uint64_t values[] = {WT_LOST_DAMAGED, 0, streams->intake->lost, 0, 0, 0, 0};

	for (size_t i = 0; i < streams->intake->process_count; i++) {
		if (!streams->items[i].writer)
			continue;
		put_own(streams, &streams->items[i], WT_KIND_LOST, streams->last, values, 7, NULL);
		return;
	}
}

int wti_intake_streams_finish(struct wti_intake_streams *streams,
			      struct wti_intake_summary *summary, struct wt_err *err)
{
	if (!streams->failed && streams->intake->lost)
		put_lost(streams);
	for (size_t i = 0; i < streams->intake->process_count && !streams->failed; i++) {
		struct wt_writer *writer = streams->items[i].writer;

		if (!writer)
			continue;
		streams->failed = wt_writer_finish(writer, err);
		summary->events += wt_writer_events(writer);
		summary->bytes += wt_writer_bytes(writer);
	}
	summary->streams += streams->opened;
	summary->lost += streams->intake->lost;
	if (streams->last + streams->target->shift_ns > summary->last_ns)
		summary->last_ns = streams->last + streams->target->shift_ns;
	return streams->failed;
}
