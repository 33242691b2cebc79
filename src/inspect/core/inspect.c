/* SPDX-License-Identifier: Apache-2.0 */
/* Feeding an inspector from a trace. */
#include <stdlib.h>
#include <string.h>

#include <wheeltap/inspect.h>

#include "base/err.h"
#include "inspectors.h"

#define PROGRESS_EVERY 65536u

const struct wt_inspector *wt_inspector_by_name(const char *name)
{
	for (size_t i = 0; wti_inspectors[i]; i++) {
		if (!strcmp(wti_inspectors[i]->name, name))
			return wti_inspectors[i];
	}
	return NULL;
}

static uint64_t blocks_of(const struct wt_trace *trace)
{
	uint64_t count = 0;

	for (size_t i = 0; i < wt_trace_stream_count(trace); i++)
		count += wt_reader_block_count(wt_trace_stream(trace, i));
	return count;
}

struct feed {
	const struct wt_inspector *inspector;
	const struct wt_trace *trace;
	void *state;
	void (*progress)(void *cookie, double share);
	void *cookie;
	uint64_t block_count;
};

static void report_progress(const struct feed *feed, const struct wt_cursor *cursor)
{
	uint64_t skipped, decoded;

	if (!feed->progress || !feed->block_count)
		return;
	wt_cursor_cost(cursor, &skipped, &decoded);
	feed->progress(feed->cookie, (double)(skipped + decoded) / (double)feed->block_count);
}

static int feed_events(const struct feed *feed, const struct wt_query *query, struct wt_err *err)
{
	struct wt_cursor *cursor;
	struct wt_event event;
	uint32_t until_progress = PROGRESS_EVERY;
	int r = wt_cursor_open(feed->trace, query, &cursor, err);

	if (r)
		return r;
	while ((r = wt_cursor_next(cursor, &event, err)) > 0) {
		r = feed->inspector->event(feed->state, &event, err);
		if (r < 0)
			break;
		if (!--until_progress) {
			report_progress(feed, cursor);
			until_progress = PROGRESS_EVERY;
		}
	}
	wt_cursor_free(cursor);
	return r;
}

int wt_inspect(const struct wt_inspector *inspector, const struct wt_trace *trace,
	       const struct wt_query *query, const void *options, struct wt_result *result,
	       void (*progress)(void *cookie, double share), void *cookie, struct wt_err *err)
{
	struct feed feed = {inspector, trace, NULL, progress, cookie, blocks_of(trace)};
	struct wt_query asked;
	int r, finished;

	if (query)
		asked = *query;
	else
		wt_query_init(&asked);
	if (inspector->ask)
		inspector->ask(&asked, options);
	feed.state = calloc(1, inspector->state_bytes ? inspector->state_bytes : 1);
	if (!feed.state)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	r = inspector->begin(feed.state, trace, options, err);
	if (!r) {
		r = feed_events(&feed, &asked, err);
		/* What was learned before the damage counts: the error is reported beside it. */
		finished = inspector->finish(feed.state, result, r ? NULL : err);
		r = r ? r : finished;
	}
	inspector->release(feed.state);
	free(feed.state);
	return r;
}
