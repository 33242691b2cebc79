/* SPDX-License-Identifier: Apache-2.0 */
/* Where workers are grouped, all rows are for machines, and those of a second table for people. */
#include "info_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACKS_SHOWN 1000u

struct track_count {
	size_t stream;
	uint32_t track;
	uint64_t events;
};

static int by_track(const void *a, const void *b)
{
	const struct track_count *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->track < y->track ? -1 : x->track > y->track;
}

static void track_columns(struct wt_table *table, bool is_shown, bool is_grouped)
{
	wt_table_column(table, "track", is_shown ? "track" : "", WT_CELL_TEXT);
	wt_table_column(table, "type", is_shown ? "type" : "", WT_CELL_TEXT);
	wt_table_column(table, "stream", is_shown ? "stream" : "", WT_CELL_ID);
	wt_table_column(table, "id", is_shown ? "id" : "", WT_CELL_ID);
	if (is_grouped)
		wt_table_column(table, "processes", "processes", WT_CELL_COUNT);
	wt_table_column(table, "events", is_shown ? "events" : "", WT_CELL_COUNT);
}

static void add_track(const struct wti_roles *roles, struct wt_table *table,
		      const struct track_count *count, bool is_grouped)
{
	static const char *const types[] = {"-", "thread", "queue", "rank", "recorder"};
	const struct wt_reader *reader = wt_trace_stream(roles->trace, count->stream);
	const struct wt_track *track = wt_reader_track(reader, count->track);
	const char *type = !count->track              ? "process"
			   : track && track->type < 5 ? types[track->type]
						      : types[0];
	char label[WTI_LABEL_BYTES];
	struct wt_text text = wti_role_label(label, roles, count->stream, count->track);

	wt_table_row(table);
	wt_table_text(table, text.data, text.bytes);
	wt_table_text(table, type, strlen(type));
	wt_table_count(table, count->stream);
	wt_table_count(table, count->track);
	if (is_grouped)
		wt_table_empty(table);
	wt_table_count(table, count->events);
}

static void add_worker(const struct wti_roles *roles, struct wt_table *table,
		       const struct wti_group *group)
{
	char label[WTI_LABEL_BYTES];
	struct wt_text text = wti_role_label(label, roles, group->stream, 0);

	wt_table_row(table);
	wt_table_text(table, text.data, text.bytes);
	wt_table_text(table, "worker", 6);
	wt_table_empty(table);
	wt_table_empty(table);
	wt_table_count(table, group->streams);
	wt_table_count(table, group->events);
}

static void track_groups(struct wt_result *result, const struct wti_roles *roles,
			 const struct wti_groups *groups, const struct track_count *sorted,
			 size_t count)
{
	struct wt_table *table = wt_result_table(result, "track_groups", "by track");

	track_columns(table, true, true);
	for (size_t i = 0; i < count; i++)
		if (!wti_groups_has(roles, sorted[i].stream))
			add_track(roles, table, &sorted[i], true);
	for (size_t i = 0; i < groups->count && i < TRACKS_SHOWN; i++)
		add_worker(roles, table, &groups->all[i]);
}

void wti_info_tracks(struct wt_result *result, const struct wti_roles *roles,
		     const struct wti_groups *groups, const struct wti_map *counts)
{
	bool is_grouped = groups->count;
	struct wt_table *table = wt_result_table(result, "tracks", is_grouped ? "" : "by track");
	size_t count = counts->count;
	struct track_count *sorted = calloc(count + 1, sizeof(*sorted));

	track_columns(table, !is_grouped, false);
	for (size_t i = 0; sorted && i < count; i++) {
		const struct wti_map_entry *e = &counts->entries[i];

		sorted[i] = (struct track_count){e->key >> 32, (uint32_t)e->key, e->value};
	}
	if (!sorted) {
		result->failed = WT_E_NOMEM;
		return;
	}
	qsort(sorted, count, sizeof(*sorted), by_track);
	for (size_t i = 0; i < count && i < TRACKS_SHOWN; i++)
		add_track(roles, table, &sorted[i], false);
	if (is_grouped)
		track_groups(result, roles, groups, sorted,
			     count < TRACKS_SHOWN ? count : TRACKS_SHOWN);
	if (count > TRACKS_SHOWN)
		wt_result_note(result, "%zu tracks; the first %u are shown", count, TRACKS_SHOWN);
	free(sorted);
}

static void stream_columns(struct wt_table *table, bool is_shown)
{
	wt_table_column(table, "file", is_shown ? "file" : "", WT_CELL_TEXT);
	wt_table_column(table, "command", is_shown ? "command" : "", WT_CELL_TEXT);
	wt_table_column(table, "pid", is_shown ? "pid" : "", WT_CELL_ID);
	wt_table_column(table, "events", is_shown ? "events" : "", WT_CELL_COUNT);
	wt_table_column(table, "bytes", is_shown ? "bytes" : "", WT_CELL_BYTES);
	wt_table_column(table, "state", is_shown ? "state" : "", WT_CELL_TEXT);
}

static void add_stream(struct wt_table *table, const struct wt_reader *reader)
{
	const struct wt_identity *who = wt_reader_identity(reader);
	const char *path = wt_reader_path(reader);
	const char *slash = strrchr(path, '/');
	const char *state = wti_reader_state(reader);

	path = slash ? slash + 1 : path;
	wt_table_row(table);
	wt_table_text(table, path, strlen(path));
	wt_table_text(table, who->command, strnlen(who->command, sizeof(who->command)));
	wt_table_count(table, who->pid);
	wt_table_count(table, wti_reader_events(reader));
	wt_table_count(table, wt_reader_file_bytes(reader));
	wt_table_text(table, state, strlen(state));
}

static void stream_groups(struct wt_result *result, const struct wti_roles *roles,
			  const struct wti_groups *groups)
{
	struct wt_table *table = wt_result_table(result, "stream_groups", "streams");
	const struct wti_group *sum = &groups->sum;
	char files[32];

	stream_columns(table, true);
	for (size_t i = 0; i < wt_trace_stream_count(roles->trace); i++)
		if (!wti_groups_has(roles, i))
			add_stream(table, wt_trace_stream(roles->trace, i));
	snprintf(files, sizeof(files), "%llu file%s", (unsigned long long)sum->streams,
		 sum->streams == 1 ? "" : "s");
	wt_table_row(table);
	wt_table_text(table, files, strlen(files));
	wt_table_text(table, "data workers", 12);
	wt_table_empty(table);
	wt_table_count(table, sum->events);
	wt_table_count(table, sum->bytes);
	wt_table_text(table, "complete", 8);
}

void wti_info_streams(struct wt_result *result, const struct wti_roles *roles,
		      const struct wti_groups *groups)
{
	bool is_grouped = groups->count;
	struct wt_table *table = wt_result_table(result, "streams", is_grouped ? "" : "streams");

	stream_columns(table, !is_grouped);
	for (size_t i = 0; i < wt_trace_stream_count(roles->trace); i++)
		add_stream(table, wt_trace_stream(roles->trace, i));
	if (is_grouped)
		stream_groups(result, roles, groups);
}
