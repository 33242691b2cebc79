/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows that an agent which counts steps where they end sets the number of the next one there, also
 * behind the last: a run of 12 steps then ended after step 11, and not in step 12.
 */
#include <stdio.h>

#include "info_place.h"
#include "inspect/core/phase.h"

/* The last step of a track. */
struct end {
	uint64_t seq; /* of the event at which it ended */
	int64_t time_ns;
	bool is_known;
	uint64_t object; /* the optimizer that stepped */
	bool is_counted; /* the number of the next one was set there, or where another stepped */
	uint64_t counted_by;
};

/*
 * Of several optimizers the agent counts where one of them has stepped, and not where the others do
 * after it. That one steps next in another step: if no number was set there, the program numbers
 * its steps itself, and did so once with nothing recorded between.
 */
static void take(struct end *end, const struct wt_event *event)
{
	if (event->kind->number == WT_KIND_STEP_END) {
		end->object = wt_event_u64(event, WT_STEP_END_FIELD_OBJECT);
		end->is_counted &= end->object != end->counted_by;
		end->seq = event->seq;
		end->time_ns = event->time_ns;
		end->is_known = true;
	} else if (wti_context_key(event) == WTI_CONTEXT_STEP) {
		end->is_counted = end->is_known && event->seq == end->seq + 1;
		end->counted_by = end->object;
	}
}

/* A call that belongs to a step which has begun: not an evaluation after the training. */
static bool is_training(const struct wt_event *event)
{
	const uint64_t wanted = WT_CALL_TRAIN | WT_CALL_GRAD;
	uint64_t flags = wt_event_u64(event, WT_CALL_BEGIN_FIELD_FLAGS);

	switch (wti_phase_of(event)) {
	case WTI_PHASE_BACKWARD:
	case WTI_PHASE_OPTIMIZER:
		return true;
	case WTI_PHASE_FORWARD:
		return (flags & wanted) == wanted;
	default:
		return false;
	}
}

static int read_end(const struct wt_trace *trace, struct wt_query *query, struct end *end,
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
		take(end, &event);
	wt_cursor_free(cursor);
	return r;
}

/* Whether anything was trained after that. */
static int read_rest(const struct wt_trace *trace, struct wt_query *query, const struct end *end,
		     bool *ret_has_gone_on, struct wt_err *err)
{
	static const char *const kinds[] = {"call_begin"};
	bool has_gone_on = false;
	struct wt_cursor *cursor;
	struct wt_event event;
	int r;

	query->kinds = kinds;
	query->kind_count = 1;
	query->from_ns = end->time_ns;
	r = wt_cursor_open(trace, query, &cursor, err);
	if (r)
		return r;
	while (!has_gone_on && (r = wt_cursor_next(cursor, &event, err)) > 0)
		has_gone_on = event.seq > end->seq && is_training(&event);
	wt_cursor_free(cursor);
	if (r >= 0)
		*ret_has_gone_on = has_gone_on;
	return r < 0 ? r : 0;
}

static int is_after_last(const struct wt_trace *trace, const struct wti_step *last, bool *ret_is,
			 struct wt_err *err)
{
	bool has_gone_on = false;
	struct end end = {0};
	struct wt_query query;
	char track[48];
	int r;

	wt_query_init(&query);
	snprintf(track, sizeof(track), "%zu:%u", last->stream, last->track);
	query.track = track;
	r = read_end(trace, &query, &end, err);
	if (!r && end.is_counted)
		r = read_rest(trace, &query, &end, &has_gone_on, err);
	if (!r)
		*ret_is = end.is_counted && !has_gone_on && last->scope.step > 0;
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
