/* SPDX-License-Identifier: Apache-2.0 */
/* What a database says about the run as a whole. */
#include <stdio.h>
#include <string.h>

#include "sqlite.h"

static int insert_stream(struct wti_sqlite *s, sqlite3_stmt *stmt, size_t stream,
			 struct wt_err *err)
{
	const struct wt_reader *reader = wt_trace_stream(s->export->trace, stream);
	const struct wt_identity *identity = wt_reader_identity(reader);
	const struct wt_err *damage = wt_reader_damage(reader);
	const char *path = wt_reader_path(reader);
	const char *slash = strrchr(path, '/');
	struct wt_text file = {slash ? slash + 1 : path, strlen(slash ? slash + 1 : path)};
	struct wt_text command = {identity->command,
				  strnlen(identity->command, sizeof(identity->command))};

	sqlite3_clear_bindings(stmt);
	sqlite3_bind_int64(stmt, 1, (int64_t)stream);
	wti_sqlite_bind_text(stmt, 2, file, &s->texts[0]);
	sqlite3_bind_int64(stmt, 3, identity->pid);
	wti_sqlite_bind_text(stmt, 4, command, &s->texts[1]);
	sqlite3_bind_int64(stmt, 5, identity->exec);
	sqlite3_bind_int64(stmt, 6, identity->segment);
	sqlite3_bind_int64(stmt, 7, wt_reader_finished(reader));
	if (damage->code)
		wti_sqlite_bind_text(stmt, 8,
				     (struct wt_text){damage->message, strlen(damage->message)},
				     &s->texts[2]);
	return wti_sqlite_insert(s, stmt, err);
}

static int insert_tracks(struct wti_sqlite *s, sqlite3_stmt *stmt, size_t stream,
			 struct wt_err *err)
{
	static const char *const types[] = {"track", "thread", "queue", "rank", "recorder"};
	const struct wt_reader *reader = wt_trace_stream(s->export->trace, stream);
	int status = 0;

	for (size_t i = 0; i < wt_reader_track_count(reader) && !status; i++) {
		const struct wt_track *track = wt_reader_track_at(reader, i);

		if (!track)
			continue;
		sqlite3_bind_int64(stmt, 1, (int64_t)stream);
		sqlite3_bind_int64(stmt, 2, track->id);
		sqlite3_bind_text(stmt, 3,
				  types[track->type <= WT_TRACK_RECORDER ? track->type : 0], -1,
				  SQLITE_STATIC);
		sqlite3_bind_int64(stmt, 4, track->tid);
		sqlite3_bind_int64(stmt, 5, track->device);
		wti_sqlite_bind_text(stmt, 6, (struct wt_text){track->name, track->name_bytes},
				     &s->texts[0]);
		status = wti_sqlite_insert(s, stmt, err);
	}
	return status;
}

static int insert_strings(struct wti_sqlite *s, sqlite3_stmt *stmt, size_t stream,
			  struct wt_err *err)
{
	const struct wt_reader *reader = wt_trace_stream(s->export->trace, stream);
	uint32_t count = wt_reader_string_count(reader);
	int status = 0;

	for (uint32_t id = 1; id < count && !status; id++) {
		sqlite3_bind_int64(stmt, 1, (int64_t)stream);
		sqlite3_bind_int64(stmt, 2, id);
		wti_sqlite_bind_text(stmt, 3, wt_reader_string(reader, id), &s->texts[0]);
		status = wti_sqlite_insert(s, stmt, err);
	}
	return status;
}

static int for_streams(struct wti_sqlite *s, const char *sql,
		       int (*each)(struct wti_sqlite *s, sqlite3_stmt *stmt, size_t stream,
				   struct wt_err *err),
		       struct wt_err *err)
{
	sqlite3_stmt *stmt;
	int status = wti_sqlite_prepare(s, sql, &stmt, err);

	if (status)
		return status;
	for (size_t i = 0; i < wt_trace_stream_count(s->export->trace) && !status; i++)
		status = each(s, stmt, i, err);
	sqlite3_finalize(stmt);
	return status;
}

int wti_sqlite_describe(struct wti_sqlite *s, struct wt_err *err)
{
	const struct wt_trace *trace = s->export->trace;
	char sql[512];
	int status;

	snprintf(sql, sizeof(sql),
		 "INSERT INTO run VALUES('made_by', 'wheeltap " WTI_VERSION "'),"
		 "('events', %llu), ('streams', %llu), ('start_realtime_ns', %lld),"
		 "('clock_error_ns', %llu)",
		 (unsigned long long)s->export->events,
		 (unsigned long long)wt_trace_stream_count(trace),
		 (long long)wt_trace_start_realtime_ns(trace),
		 (unsigned long long)wt_trace_clock_error_ns(trace));
	status = wti_sqlite_run(s, sql, err);
	if (!status)
		status = for_streams(s, "INSERT INTO streams VALUES(?,?,?,?,?,?,?,?)",
				     insert_stream, err);
	if (!status)
		status = for_streams(s, "INSERT INTO tracks VALUES(?,?,?,?,?,?)", insert_tracks,
				     err);
	if (!status)
		status = for_streams(s, "INSERT INTO strings VALUES(?,?,?)", insert_strings, err);
	return status;
}
