/* SPDX-License-Identifier: Apache-2.0 */
/* Knows where to look for the last step: few events are read of a long run. */
#include <stdio.h>

#include "info_place.h"
#include "inspect/core/ended.h"

static int read_end(const struct wt_trace *trace, struct wt_query *query, struct wti_ended *end,
		    struct wt_err *err)
{
	static const char *const kinds[] = {"step_end", "context"};
	struct wt_cursor *cursor;
	struct wt_event event;
	int r;

	query->kinds = kinds;
	query->kind_count = sizeof(kinds) / sizeof(kinds[0]);
	r = wt_cursor_open(trace, query, &cursor, err);
	if (r)
		return r;
	while ((r = wt_cursor_next(cursor, &event, err)) > 0)
		wti_ended_take(end, &event);
	wt_cursor_free(cursor);
	return r;
}

/* Whether anything was trained after that. */
static int read_rest(const struct wt_trace *trace, struct wt_query *query, struct wti_ended *end,
		     struct wt_err *err)
{
	static const char *const kinds[] = {"call_begin"};
	struct wt_cursor *cursor;
	struct wt_event event;
	int r;

	query->kinds = kinds;
	query->kind_count = 1;
	query->from_ns = end->time_ns;
	r = wt_cursor_open(trace, query, &cursor, err);
	if (r)
		return r;
	while (!end->has_gone_on && (r = wt_cursor_next(cursor, &event, err)) > 0)
		wti_ended_take(end, &event);
	wt_cursor_free(cursor);
	return r < 0 ? r : 0;
}

static int is_after_last(const struct wt_trace *trace, const struct wti_step *last, bool *ret_is,
			 struct wt_err *err)
{
	struct wti_ended end = {0};
	struct wt_query query;
	char track[48];
	int r;

	wt_query_init(&query);
	snprintf(track, sizeof(track), "%zu:%u", last->stream, last->track);
	query.track = track;
	r = read_end(trace, &query, &end, err);
	if (!r && end.is_counted)
		r = read_rest(trace, &query, &end, err);
	if (!r)
		*ret_is = wti_ended_is_after(&end, last->scope.step);
	return r;
}

/* "step 40, epoch 3, stage eval (counted from 0)" */
static void add_place(struct wt_result *result, const struct wti_step *last, bool is_after,
		      const char *stage)
{
	char text[200];
	int bytes = 0;

	if (last->has_step)
		bytes = snprintf(text, sizeof(text), "step %lld",
				 (long long)(last->scope.step - is_after));
	if (last->has_epoch)
		bytes += snprintf(text + bytes, sizeof(text) - (size_t)bytes, "%sepoch %lld",
				  bytes ? ", " : "", (long long)last->scope.epoch);
	if (*stage)
		bytes += snprintf(text + bytes, sizeof(text) - (size_t)bytes, "%sstage %s",
				  bytes ? ", " : "", stage);
	if (last->has_step || last->has_epoch)
		snprintf(text + bytes, sizeof(text) - (size_t)bytes, " (counted from 0)");
	if (bytes)
		wt_result_fact_text(result, "place", is_after ? "ended after" : "ended in", text);
}

/*
 * The context of the track that set its own last: in a training program the one that trains. Both
 * numbers are those of the trace, from 0 on, as `view --step` takes them.
 */
int wti_info_place(struct wt_result *result, const struct wt_trace *trace,
		   const struct wti_steps *steps, struct wt_err *err)
{
	const struct wti_step *last = wti_steps_last(steps);
	char stage[64] = ""; /* cut */
	bool is_after = false;
	int r = 0;

	if (!last)
		return 0;
	if (last->has_step)
		r = is_after_last(trace, last, &is_after, err);
	if (r)
		return r;
	if (steps->symbols)
		snprintf(stage, sizeof(stage), "%s",
			 wti_symbol_text(steps->symbols, last->scope.stage));
	add_place(result, last, is_after, stage);
	if (last->has_step)
		wt_result_fact_count(result, "last_step", "", WT_CELL_ID,
				     (uint64_t)(last->scope.step - is_after));
	if (last->has_epoch)
		wt_result_fact_count(result, "last_epoch", "", WT_CELL_ID,
				     (uint64_t)last->scope.epoch);
	if (*stage)
		wt_result_fact_text(result, "last_stage", "", stage);
	return 0;
}
