/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TrainCheck's traces to streams of ours: a stream a process, a track a thread. It keeps hashes of
 * a part of a tensor, or none; what it says of an argument stands for its contents, as it does
 * there. Of traces that have variables alone, dumped after each optimizer.step(), that step is
 * emitted too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/folder.h"
#include "base/grow.h"
#include "base/json_read.h"
#include "traincheck_row.h"

#define PROCESSES_MAX 4096u
#define STRINGS_MAX (1u << 20)
#define TRACKS_MAX 4096u
#define META_MAX 4096u /* meta variables of a track */
#define STREAM_PATH_BYTES (WTI_TRAINCHECK_PATH_BYTES + 32)

/* ---- Files ---------------------------------------------------------------------------------- */

static void stream_path(const struct wti_traincheck_import *import, size_t number,
			char out[STREAM_PATH_BYTES])
{
	snprintf(out, STREAM_PATH_BYTES, "%s/%04zu.wt", import->folder, number);
}

static int open_stream(struct wti_traincheck_import *import, struct wti_tc_process *process,
		       struct wt_err *err)
{
	struct wt_writer_options options;
	char path[STREAM_PATH_BYTES];

	wt_writer_options_init(&options);
	options.identity.pid = (uint32_t)process->pid;
	options.identity.start_time = (uint64_t)process->pid;
	options.identity.clock = WT_CLOCK_MONOTONIC;
	snprintf(options.identity.command, sizeof(options.identity.command), "traincheck");
	stream_path(import, import->count, path);
	wti_map_init(&process->strings, STRINGS_MAX);
	wti_map_init(&process->tids, TRACKS_MAX);
	wti_map_init(&process->variable_tids, TRACKS_MAX);
	wti_map_init(&process->managers, STRINGS_MAX);
	wti_map_init(&process->attributes, STRINGS_MAX);
	wti_map_init(&process->members, STRINGS_MAX);
	wti_map_init(&process->calls, 1u << 24);
	process->step = process->rank = -1;
	return wt_writer_create(path, &options, &process->writer, err);
}

static struct wti_tc_process *process_of(struct wti_traincheck_import *import, int64_t pid,
					 struct wt_err *err)
{
	struct wti_tc_process *process;

	for (size_t i = 0; i < import->count; i++)
		if (import->processes[i].pid == pid)
			return &import->processes[i];
	if (import->count == PROCESSES_MAX) {
		wti_err(err, WT_E_LIMIT, "too many processes");
		return NULL;
	}
	if (wti_grow(&import->processes, import->count + 1, &import->capacity, PROCESSES_MAX)) {
		wti_err(err, WT_E_NOMEM, "out of memory");
		return NULL;
	}
	process = &import->processes[import->count];
	*process = (struct wti_tc_process){.pid = pid};
	if (open_stream(import, process, err))
		return NULL;
	import->count++;
	return process;
}

static struct wti_tc_track *track_of(struct wti_tc_process *process, int64_t tid, bool of_variables,
				     struct wt_err *err)
{
	uint64_t *slot = wti_map_number(of_variables ? &process->variable_tids : &process->tids,
					(uint64_t)tid);
	struct wt_track track;

	if (slot && *slot)
		return &process->tracks[*slot - 1];
	if (!slot || wti_grow(&process->tracks, process->track_count + 1, &process->track_capacity,
			      TRACKS_MAX)) {
		wti_err(err, WT_E_NOMEM, "out of memory");
		return NULL;
	}
	process->tracks[process->track_count] =
		(struct wti_tc_track){.id = (uint32_t)process->track_count + 1, .step = INT64_MIN};
	wti_map_init(&process->tracks[process->track_count].meta, META_MAX);
	track = (struct wt_track){.id = (uint32_t)process->track_count + 1,
				  .type = WT_TRACK_THREAD,
				  .tid = (uint32_t)tid,
				  .name = of_variables ? "variables" : "thread",
				  .name_bytes = of_variables ? 9 : 6};
	*slot = ++process->track_count;
	wt_writer_track(process->writer, &track);
	return &process->tracks[*slot - 1];
}

int wti_traincheck_add_line(struct wti_traincheck_import *import, const char *name, unsigned line,
			    const char *text, size_t bytes, struct wt_err *err)
{
	struct wti_tc_row row = {.import = import, .line = text, .line_bytes = bytes, .err = err};
	struct wti_doc *doc;
	const char *type;
	int64_t pid, time;
	int r = bytes ? wti_json_parse_line(name, line, text, bytes, &doc, err) : 0;

	if (r || !bytes)
		return r;
	pid = wti_tc_number(doc, "process_id", -1);
	time = wti_tc_number(doc, "time", -1);
	if (pid < 0 || pid > UINT32_MAX || time < 0) {
		wti_doc_free(doc);
		return wti_err(err, WT_E_FORMAT,
			       "%.200s:%u:1: not a TrainCheck record: it has no \"process_id\" or "
			       "no \"time\"",
			       name, line);
	}
	row.doc = doc;
	row.time_ns = (uint64_t)time;
	row.process = process_of(import, pid, err);
	type = wti_tc_text_in(doc, "type");
	row.track = row.process ? track_of(row.process, wti_tc_number(doc, "thread_id", 0),
					   !strcmp(type, "state_change"), err)
				: NULL;
	if (row.track)
		wti_tc_take(&row);
	import->record_count++;
	wti_doc_free(doc);
	if (row.failed)
		return wti_err(err, row.failed, "cannot write into '%s'", import->folder);
	return row.track ? 0 : err ? err->code : WT_E_NOMEM;
}

int wti_traincheck_begin(const char *folder, struct wti_traincheck_import **ret_import,
			 struct wt_err *err)
{
	struct wti_traincheck_import *import = calloc(1, sizeof(*import));
	int r;

	if (!import)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	r = wti_folder_make(&import->made, folder, err);
	if (r) {
		free(import);
		return r;
	}
	snprintf(import->folder, sizeof(import->folder), "%s", folder);
	*ret_import = import;
	return 0;
}

int wti_traincheck_add(struct wti_traincheck_import *import, const char *name, const char *text,
		       size_t bytes, struct wt_err *err)
{
	const char *end = text + bytes;
	unsigned line = 0;
	int r = 0;

	while (text < end && !r) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((stop ? stop : end) - text);

		r = wti_traincheck_add_line(import, name, ++line, text, length, err);
		text += length + 1;
	}
	return r;
}

int wti_traincheck_finish(struct wti_traincheck_import *import, uint64_t *ret_count,
			  struct wt_err *err)
{
	int r = 0;

	for (size_t i = 0; i < import->count && !r; i++)
		r = wt_writer_finish(import->processes[i].writer, err);
	*ret_count = import->record_count;
	import->is_finished = !r;
	return r;
}

/* Half a trace helps nobody, and would be in the way of the next attempt. */
static void take_back(const struct wti_traincheck_import *import)
{
	char path[STREAM_PATH_BYTES];

	for (size_t i = 0; i < import->count; i++) {
		stream_path(import, i, path);
		unlink(path);
	}
	wti_folder_unmake(&import->made);
}

void wti_traincheck_free(struct wti_traincheck_import *import)
{
	if (!import)
		return;
	if (!import->is_finished)
		take_back(import);
	for (size_t i = 0; i < import->count; i++) {
		struct wti_tc_process *process = &import->processes[i];

		wt_writer_free(process->writer);
		wti_map_release(&process->strings);
		wti_map_release(&process->tids);
		wti_map_release(&process->members);
		wti_map_release(&process->calls);
		wti_map_release(&process->variable_tids);
		wti_map_release(&process->managers);
		wti_map_release(&process->attributes);
		for (size_t j = 0; j < process->track_count; j++)
			wti_map_release(&process->tracks[j].meta);
		free(process->tracks);
	}
	free(import->processes);
	free(import);
}

bool wti_traincheck_is_trace(const char *text, size_t bytes)
{
	const char *end = memchr(text, '\n', bytes);
	size_t line = end ? (size_t)(end - text) : bytes;

	return memmem(text, line, "\"process_id\"", 12) && memmem(text, line, "\"type\"", 6) &&
	       !memmem(text, line, "\"params\"", 8);
}
