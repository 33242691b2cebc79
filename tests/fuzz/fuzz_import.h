/* SPDX-License-Identifier: Apache-2.0 */
/* An importer over a file of these bytes: it makes a run that can be read, or says why not. */
#ifndef WTT_FUZZ_IMPORT_H
#define WTT_FUZZ_IMPORT_H

#include <string.h>
#include <unistd.h>

#include <wheeltap/trace.h>

#include "convert/import.h"
#include "fuzz.h"

static inline void fuzz_import_read(const char *folder)
{
	struct wt_cursor *cursor;
	struct wt_trace *trace;
	struct wt_query query;
	struct wt_event event;

	PROMISE(!wt_trace_open(folder, &trace, NULL));
	for (size_t i = 0; i < wt_trace_stream_count(trace); i++)
		PROMISE(wt_reader_finished(wt_trace_stream(trace, i)));
	wt_query_init(&query);
	PROMISE(!wt_cursor_open(trace, &query, &cursor, NULL));
	while (wt_cursor_next(cursor, &event, NULL) > 0)
		;
	wt_cursor_free(cursor);
	wt_trace_free(trace);
}

static inline void fuzz_import_remove(const char *folder, uint32_t streams)
{
	char path[64];

	for (uint32_t i = 0; i < streams; i++) {
		snprintf(path, sizeof(path), "%s/%04u.wt", folder, i);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/run.json", folder);
	unlink(path);
}

static inline int fuzz_import(const char *format, const uint8_t *data, size_t bytes)
{
	/* In memory where there is room: a disk that is waited for makes a run ten times as long.
	 */
	const char *room = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
	char folder[48], path[48];
	char *paths[] = {path};
	struct wti_import_report report = {0};
	struct wt_err err = {0};
	int fd, r;

	snprintf(folder, sizeof(folder), "%s/wheeltap-fuzz-XXXXXX", room);
	snprintf(path, sizeof(path), "%s/wheeltap-input-XXXXXX", room);
	fd = mkstemp(path);
	PROMISE(mkdtemp(folder) && fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
	close(fd);
	r = wti_import_run(wti_import_format(format), paths, 1, folder, &report, &err);
	PROMISE(!r || (err.code && *err.message && !strchr(err.message, '\n')));
	if (!r) {
		PROMISE(report.summary.events);
		fuzz_import_read(folder);
		fuzz_import_remove(folder, report.summary.streams);
	}
	PROMISE(!rmdir(folder) && !unlink(path));
	return 0;
}

#endif
