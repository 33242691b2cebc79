/* SPDX-License-Identifier: Apache-2.0 */
/* Which tracks correspond, and what their verdicts mean for the runs: see divergence.h. */
#include "divergence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "inspect/core/roles.h"
#include "trace/query.h"

#define TRACKS_MAX 65536u

/* A track of one run, by what it corresponds to in the other. */
struct place {
	size_t stream;
	uint32_t track;
	uint32_t rank, worker; /* as of struct wti_role */
	uint32_t process;      /* its number among those of the same role */
	uint32_t thread;       /* its number in its process */
	bool is_taken;
};

struct places {
	struct place *all;
	size_t count, capacity;
};

/* ---- Tracks ---------------------------------------------------------------------------------- */

/* Tracks of a stream that computed something. */
static int find_busy(const struct wt_trace *trace, struct wti_map *ret_busy, struct wt_err *err)
{
	static const char *const kinds[] = {"call_begin", "operator_begin", "tensor",
					    "counter",    "state",          NULL};
	struct wt_cursor *cursor;
	struct wt_event event;
	int r = wti_cursor_of(trace, kinds, NULL, 0, &cursor, err), next = 0;

	if (r)
		return r;
	while (!r && (next = wt_cursor_next(cursor, &event, NULL)) > 0)
		if (!wti_map_put(ret_busy, (uint64_t)event.stream << 32 | event.track, 1))
			r = wti_map_failed(ret_busy, err, "tracks to compare");
	wt_cursor_free(cursor);
	return !r && next == WT_E_NOMEM ? wti_err(err, next, "out of memory") : r;
}

/* Streams in the order in which their processes began, as their numbers depend on timing. */
static int by_start(const void *a, const void *b, void *trace)
{
	const struct wt_identity *x = wt_reader_identity(wt_trace_stream(trace, *(size_t *)a));
	const struct wt_identity *y = wt_reader_identity(wt_trace_stream(trace, *(size_t *)b));

	if (x->start_time != y->start_time)
		return x->start_time < y->start_time ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->exec < y->exec ? -1 : x->exec > y->exec;
}

static uint32_t number_among(const struct places *places, const struct place *place)
{
	uint32_t number = 0;
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < places->count; i++) {
		const struct place *other = &places->all[i];

		if (other->rank != place->rank || other->worker != place->worker ||
		    other->stream == place->stream || other->stream == last)
			continue;
		last = other->stream;
		number++;
	}
	return number;
}

static int add_stream(const struct wt_trace *trace, size_t stream, const struct wti_roles *roles,
		      const struct wti_map *busy, struct places *places)
{
	const struct wt_reader *reader = wt_trace_stream(trace, stream);
	struct wti_role role = wti_role_of(roles, stream);
	uint32_t thread = 0;

	for (size_t i = 0; i < wt_reader_track_count(reader); i++) {
		uint32_t track = wt_reader_track_at(reader, i)->id;
		struct place place = {stream, track, role.rank, role.worker, 0, thread, false};

		if (!wti_map_get(busy, (uint64_t)stream << 32 | track))
			continue;
		place.process = number_among(places, &place);
		if (wti_grow(&places->all, places->count + 1, &places->capacity, TRACKS_MAX))
			return WT_E_NOMEM;
		places->all[places->count++] = place;
		thread++;
	}
	return 0;
}

static int find_places(const struct wt_trace *trace, struct places *ret_places, struct wt_err *err)
{
	size_t count = wt_trace_stream_count(trace);
	size_t *order = calloc(count + 1, sizeof(*order));
	struct wti_roles roles;
	struct wti_map busy;
	int r = order ? wti_roles_init(&roles, trace, err)
		      : wti_err(err, WT_E_NOMEM, "out of memory");

	if (r) {
		free(order);
		return r;
	}
	wti_map_init(&busy, TRACKS_MAX);
	r = find_busy(trace, &busy, err);
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), by_start, (void *)trace);
	for (size_t i = 0; i < count && !r; i++)
		if (add_stream(trace, order[i], &roles, &busy, ret_places))
			r = wti_err(err, WT_E_NOMEM, "out of memory");
	wti_map_release(&busy);
	wti_roles_release(&roles);
	free(order);
	return r;
}

/* A run of one process corresponds to the first rank of a run of several. */
static bool corresponds(const struct place *a, const struct place *b)
{
	uint32_t rank_a = a->rank ? a->rank : 1, rank_b = b->rank ? b->rank : 1;

	return rank_a == rank_b && a->worker == b->worker && a->process == b->process &&
	       a->thread == b->thread;
}

static struct place *partner_of(const struct place *place, struct places *others)
{
	for (size_t i = 0; i < others->count; i++)
		if (!others->all[i].is_taken && corresponds(place, &others->all[i]))
			return &others->all[i];
	return NULL;
}

/* ---- Verdicts -------------------------------------------------------------------------------- */

static void name_track(const struct place *place, struct wti_track_verdict *verdict)
{
	char *at = verdict->label, *end = at + sizeof(verdict->label);

	verdict->rank = (int32_t)place->rank - 1;
	if (place->rank)
		at += snprintf(at, (size_t)(end - at), "rank %u", place->rank - 1);
	if (place->worker)
		at += snprintf(at, (size_t)(end - at), "%sworker %u",
			       at > verdict->label ? " " : "", place->worker);
	if (place->process || at == verdict->label)
		at += snprintf(at, (size_t)(end - at), "%sprocess %u",
			       at > verdict->label ? " " : "", place->process + 1);
	if (place->thread)
		snprintf(at, (size_t)(end - at), " thread %u", place->thread + 1);
}

static int judge_pair(const struct wt_trace *a, const struct place *in_a, const struct wt_trace *b,
		      const struct place *in_b, const struct wti_within_line *where,
		      struct wti_judgement *ret, struct wt_err *err)
{
	const struct wti_judgement empty = *ret;
	struct wti_course *mine = NULL, *other = NULL;
	struct wti_resume resume = {.is_found = false};
	int r = 0;

	for (unsigned pass = 0, passes = 2; pass < passes && !r; pass++) {
		r = wti_course_open(a, in_a->stream, in_a->track, &mine, err);
		r = r ? r : wti_course_open(b, in_b->stream, in_b->track, &other, err);
		if (!r && (pass ? wti_judge_courses(mine, other, &resume, where, ret)
				: wti_resume_find(mine, other, &resume)))
			r = wti_err(err, WT_E_NOMEM, "out of memory");
		wti_course_free(mine);
		wti_course_free(other);
		mine = other = NULL;
		/* A file that a run leaves for the next one is no checkpoint: nothing goes on
		 * there. */
		if (!r && pass == 1 && resume.is_found && !ret->labels[WTI_PAIR_ALIGNED]) {
			resume.is_found = false;
			*ret = empty;
			passes = 3;
		}
	}
	return r;
}

static struct wti_track_verdict *add_track(struct wti_divergence_report *report,
					   const struct place *place)
{
	struct wti_track_verdict *verdict;

	if (wti_grow(&report->tracks, report->count + 1, &report->capacity, 2 * TRACKS_MAX))
		return NULL;
	verdict = &report->tracks[report->count++];
	*verdict = (struct wti_track_verdict){.judgement.last_step = -1};
	name_track(place, verdict);
	return verdict;
}

static int judge_tracks(const struct wt_trace *a, struct places *in_a, const struct wt_trace *b,
			struct places *in_b, const struct wti_within_line *where,
			struct wti_divergence_report *report, struct wt_err *err)
{
	int r = 0;

	for (size_t i = 0; i < in_a->count && !r; i++) {
		struct place *partner = partner_of(&in_a->all[i], in_b);
		struct wti_track_verdict *verdict = add_track(report, &in_a->all[i]);

		if (!verdict)
			return wti_err(err, WT_E_NOMEM, "out of memory");
		verdict->in_a = true;
		verdict->in_b = partner != NULL;
		if (!partner)
			continue;
		partner->is_taken = true;
		r = judge_pair(a, &in_a->all[i], b, partner, where, &verdict->judgement, err);
	}
	for (size_t i = 0; i < in_b->count && !r; i++) {
		struct wti_track_verdict *verdict =
			in_b->all[i].is_taken ? NULL : add_track(report, &in_b->all[i]);

		if (verdict)
			verdict->in_b = true;
		else if (!in_b->all[i].is_taken)
			return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	return r;
}

/* What was not recorded: nothing that depends on it is called identical. */
static int count_gaps(const struct wt_trace *trace, struct wti_divergence_report *report,
		      struct wt_err *err)
{
	static const char *const kinds[] = {"lost", "thinned", NULL};
	struct wt_cursor *cursor;
	struct wt_event event;
	int r = wti_cursor_of(trace, kinds, NULL, WT_ALL_FIELDS, &cursor, err);

	if (r)
		return r;
	while ((r = wt_cursor_next(cursor, &event, NULL)) > 0) {
		if (event.kind->number == WT_KIND_LOST)
			report->lost += wt_event_u64(&event, WT_LOST_FIELD_COUNT);
		else
			report->thinned += wt_event_u64(&event, WT_THINNED_FIELD_LACKS) != 0;
	}
	wt_cursor_free(cursor);
	return r == WT_E_NOMEM ? wti_err(err, r, "out of memory") : 0;
}

/* Times of one run are comparable between its own tracks. */
static bool is_earlier(const struct wti_first_difference *x, const struct wti_first_difference *y)
{
	return x->time_ns < y->time_ns;
}

static const struct wti_first_difference *first_of(const struct wti_track_verdict *track)
{
	const struct wti_judgement *j = &track->judgement;

	if (j->first.how != WTI_BEGINS_NOT)
		return &j->first;
	/* Values that are only reported count where nothing else is there to be compared. */
	if (j->report.how != WTI_BEGINS_NOT && !j->compared)
		return &j->report;
	return j->order.how != WTI_BEGINS_NOT ? &j->order : NULL;
}

const struct wti_first_difference *wti_divergence_first(const struct wti_divergence_report *report)
{
	return report->first < report->count ? first_of(&report->tracks[report->first]) : NULL;
}

static void sum_up(struct wti_divergence_report *report)
{
	bool is_whole = !report->lost && !report->thinned;

	report->first = report->count;
	report->steps = -1;
	for (size_t i = 0; i < report->count; i++) {
		const struct wti_track_verdict *track = &report->tracks[i];
		const struct wti_judgement *j = &track->judgement;
		const struct wti_first_difference *first = first_of(track);
		const struct wti_first_difference *earliest = wti_divergence_first(report);

		report->compared += j->compared;
		report->values_compared += j->values_compared;
		report->unread += j->unread;
		report->aligned += 2 * j->labels[WTI_PAIR_ALIGNED];
		report->operations += j->a_count + j->b_count;
		report->steps = j->last_step > report->steps ? j->last_step : report->steps;
		is_whole &= track->in_a && track->in_b;
		/* What was not read would show in the parameters, where these are compared. */
		is_whole &= !j->unread || j->states;
		/* A value that differs says more than another order of calls. */
		if (first &&
		    (!earliest ||
		     (earliest->how == WTI_BEGINS_ORDER && first->how != WTI_BEGINS_ORDER) ||
		     (is_earlier(first, earliest) && first->how != WTI_BEGINS_ORDER)))
			report->first = i;
	}
	if (report->first < report->count)
		report->verdict = WTI_REPEAT_DIFFERENT;
	else
		report->verdict = is_whole && report->values_compared ? WTI_REPEAT_IDENTICAL
								      : WTI_REPEAT_NOT_MEASURED;
}

int wti_diverge(const struct wt_trace *a, const struct wt_trace *b,
		const struct wti_within_line *where, struct wti_divergence_report *ret_report,
		struct wt_err *err)
{
	struct wti_divergence_report report = {0};
	struct places in_a = {0}, in_b = {0};
	int r = find_places(a, &in_a, err);

	r = r ? r : find_places(b, &in_b, err);
	r = r ? r : count_gaps(a, &report, err);
	r = r ? r : count_gaps(b, &report, err);
	r = r ? r : judge_tracks(a, &in_a, b, &in_b, where, &report, err);
	free(in_a.all);
	free(in_b.all);
	if (r) {
		wti_divergence_release(&report);
		return r;
	}
	sum_up(&report);
	*ret_report = report;
	return 0;
}

void wti_divergence_release(struct wti_divergence_report *report)
{
	free(report->tracks);
	*report = (struct wti_divergence_report){0};
}
