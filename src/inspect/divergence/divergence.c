/* SPDX-License-Identifier: Apache-2.0 */
/* Which tracks correspond, and what their verdicts mean for the runs: see divergence.h. */
#include "divergence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "crew.h"
#include "known.h"
#include "posts.h"
#include "trace/query.h"

/* ---- Verdicts -------------------------------------------------------------------------------- */

static void name_track(const struct wti_post *place, struct wti_track_verdict *verdict)
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

static int judge_pair(const struct wt_trace *a, const struct wti_post *in_a,
		      const struct wt_trace *b, const struct wti_post *in_b,
		      const struct wti_within_line *where, struct wti_judgement *ret,
		      struct wt_err *err)
{
	const struct wti_judgement empty = *ret;
	struct wti_course *mine = NULL, *other = NULL;
	struct wti_resume resume = {.is_found = false};
	int r = 0;

	for (unsigned pass = 0, passes = 2; pass < passes && !r; pass++) {
		r = wti_course_open(a, in_a->stream, in_a->track, &mine, err);
		r = r ? r : wti_course_open(b, in_b->stream, in_b->track, &other, err);
		if (!r && (pass ? wti_judge_courses(mine, other, &resume, where, NULL, ret)
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
					   const struct wti_post *place)
{
	struct wti_track_verdict *verdict;

	if (wti_grow(&report->tracks, report->count + 1, &report->capacity, 2 * WTI_POSTS_MAX))
		return NULL;
	verdict = &report->tracks[report->count++];
	*verdict = (struct wti_track_verdict){.judgement = {.last_step = -1, .shown_step = -1}};
	name_track(place, verdict);
	return verdict;
}

/* Two runs, and what of them is being compared. */
struct comparison {
	const struct wt_trace *traces[2];
	struct wti_posts places[2];
	const struct wti_within_line *where;
	struct wti_divergence_report *report;
	struct wt_err *err;
};

/* Of the places of one rank: its chief, or all others. */
struct selection {
	struct wti_post of;
	bool chiefs;
};

static bool is_selected(const struct selection *selection, const struct wti_post *place)
{
	return place->is_chief == selection->chiefs && wti_posts_same_rank(place, &selection->of);
}

static int judge_one(struct comparison *runs, struct wti_post *place, unsigned run)
{
	struct wti_post *partner = run ? NULL : wti_post_partner(place, &runs->places[1]);
	struct wti_track_verdict *verdict = add_track(runs->report, place);

	if (!verdict)
		return wti_err(runs->err, WT_E_NOMEM, "out of memory");
	place->is_taken = true;
	verdict->in_a = !run;
	verdict->in_b = run || partner;
	verdict->is_helper = !place->is_chief;
	if (!partner)
		return 0;
	partner->is_taken = true;
	return judge_pair(runs->traces[0], place, runs->traces[1], partner, runs->where,
			  &verdict->judgement, runs->err);
}

static int judge_selected(struct comparison *runs, const struct selection *selection)
{
	int r = 0;

	for (unsigned run = 0; run < 2; run++)
		for (size_t i = 0; i < runs->places[run].count && !r; i++) {
			struct wti_post *place = &runs->places[run].all[i];

			if (!place->is_taken && is_selected(selection, place))
				r = judge_one(runs, place, run);
		}
	return r;
}

/* ---- Tracks among which work is shared out --------------------------------------------------- */

struct helpers {
	struct wti_crew crews[2];
	struct wti_crew_member *members[2];
	struct wti_post **places; /* of the first run, then of the second */
	struct wti_judgement *judgements;
};

static int find_helpers(const struct comparison *runs, const struct selection *selection,
			struct helpers *ret)
{
	size_t all = runs->places[0].count + runs->places[1].count, count = 0;

	ret->places = calloc(all, sizeof(*ret->places));
	ret->judgements = calloc(all, sizeof(*ret->judgements));
	for (unsigned run = 0; run < 2; run++) {
		struct wti_crew *crew = &ret->crews[run];

		ret->members[run] = calloc(all, sizeof(*ret->members[run]));
		if (!ret->places || !ret->judgements || !ret->members[run])
			return wti_err(runs->err, WT_E_NOMEM, "out of memory");
		*crew = (struct wti_crew){runs->traces[run], ret->members[run], 0};
		for (size_t i = 0; i < runs->places[run].count; i++) {
			struct wti_post *place = &runs->places[run].all[i];

			if (!is_selected(selection, place))
				continue;
			ret->members[run][crew->count++] =
				(struct wti_crew_member){place->stream, place->track};
			ret->places[count++] = place;
		}
	}
	return 0;
}

static void release_helpers(struct helpers *helpers)
{
	free(helpers->members[0]);
	free(helpers->members[1]);
	free(helpers->places);
	free(helpers->judgements);
}

/* Of the second run only what nobody in the first did is a verdict of its own. */
static int add_crew(struct comparison *runs, const struct helpers *helpers)
{
	size_t mine = helpers->crews[0].count, all = mine + helpers->crews[1].count;

	for (size_t i = 0; i < all; i++) {
		struct wti_track_verdict *verdict =
			i < mine || helpers->judgements[i].lone
				? add_track(runs->report, helpers->places[i])
				: NULL;

		if (i >= mine)
			runs->report->absorbed += helpers->judgements[i].labels[WTI_PAIR_ABSORBED];
		if (!verdict && i < mine)
			return wti_err(runs->err, WT_E_NOMEM, "out of memory");
		if (!verdict)
			continue;
		verdict->in_a = verdict->in_b = verdict->is_helper = true;
		verdict->judgement = helpers->judgements[i];
	}
	runs->report->shared_out += all;
	return 0;
}

static int judge_crew(struct comparison *runs, const struct selection *selection, size_t from)
{
	struct helpers helpers = {0};
	int r = find_helpers(runs, selection, &helpers);

	if (!r && (helpers.crews[0].count > 1 || helpers.crews[1].count > 1)) {
		r = wti_crew_judge(&helpers.crews[0], &helpers.crews[1], runs->where,
				   helpers.judgements, runs->err);
		if (!r) {
			runs->report->count = from;
			r = add_crew(runs, &helpers);
		} else if (r == WT_E_LIMIT) { /* then by the order in which they began */
			runs->report->by_order = true;
			*runs->err = (struct wt_err){.offset = -1};
			r = 0;
		}
	}
	release_helpers(&helpers);
	return r;
}

static bool is_settled(const struct wti_divergence_report *report, size_t from)
{
	for (size_t i = from; i < report->count; i++) {
		const struct wti_track_verdict *track = &report->tracks[i];

		if (!track->in_a || !track->in_b || track->judgement.lone ||
		    track->judgement.first.how != WTI_BEGINS_NOT)
			return false;
	}
	return true;
}

static int judge_rank(struct comparison *runs, const struct wti_post *place)
{
	const struct selection chiefs = {*place, true}, helpers = {*place, false};
	int r = judge_selected(runs, &chiefs);
	size_t from = runs->report->count;

	r = r ? r : judge_selected(runs, &helpers);
	return r || is_settled(runs->report, from) ? r : judge_crew(runs, &helpers, from);
}

static int judge_tracks(struct comparison *runs)
{
	int r = 0;

	for (unsigned run = 0; run < 2; run++)
		for (size_t i = 0; i < runs->places[run].count && !r; i++)
			if (!runs->places[run].all[i].is_taken)
				r = judge_rank(runs, &runs->places[run].all[i]);
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

/* Behind what only one of the runs does everything is the same: its results do not differ. */
static bool is_without_result(const struct wti_track_verdict *track, bool chiefs_are_same)
{
	return track->judgement.first.how == WTI_BEGINS_NOT &&
	       (track->judgement.same_since || (track->is_helper && chiefs_are_same));
}

static bool are_chiefs_same(const struct wti_divergence_report *report)
{
	uint64_t same = 0;

	for (size_t i = 0; i < report->count; i++) {
		const struct wti_track_verdict *track = &report->tracks[i];

		if (!track->is_helper && first_of(track) && !is_without_result(track, false))
			return false;
		same += track->is_helper ? 0 : track->judgement.same;
	}
	return same > 0;
}

static int64_t last_step(const struct wti_divergence_report *report, const struct wti_judgement *j)
{
	return report->thinned ? j->shown_step : j->last_step;
}

/* Threads of one process share parameters: what differs in one may be why another differs later. */
static void find_later(struct wti_divergence_report *report)
{
	const struct wti_first_difference *earliest = wti_divergence_first(report);

	for (size_t i = 0; i < report->count && earliest; i++) {
		struct wti_track_verdict *track = &report->tracks[i];
		struct wti_first_difference *first = &track->judgement.first;

		if (track->is_helper && track->rank == report->tracks[report->first].rank &&
		    first->how == WTI_BEGINS_OUTPUT && first->has_hidden_inputs &&
		    is_earlier(earliest, first))
			first->how = WTI_BEGINS_LATER;
	}
}

/* No value differs that is known to come from it. */
static bool is_order(const struct wti_track_verdict *track,
		     const struct wti_first_difference *first)
{
	return first == &track->judgement.order;
}

static void sum_up(struct wti_divergence_report *report)
{
	bool is_whole = !report->lost;
	bool chiefs_are_same = are_chiefs_same(report);

	report->first = report->count;
	report->steps = -1;
	for (size_t i = 0; i < report->count; i++) {
		const struct wti_track_verdict *track = &report->tracks[i];
		const struct wti_judgement *j = &track->judgement;
		const struct wti_first_difference *first =
			is_without_result(track, chiefs_are_same) ? NULL : first_of(track);
		const struct wti_first_difference *earliest = wti_divergence_first(report);

		report->lone += j->lone;
		report->absorbed += j->labels[WTI_PAIR_ABSORBED];
		report->compared += j->compared;
		report->values_compared += j->values_compared;
		report->unread += j->unread;
		report->aligned += 2 * j->labels[WTI_PAIR_ALIGNED];
		report->operations += j->a_count + j->b_count;
		report->steps =
			last_step(report, j) > report->steps ? last_step(report, j) : report->steps;
		/* What was omitted shows in the parameters up to where these are compared. */
		is_whole &= !report->thinned || track->is_helper || j->shown_step >= 0;
		is_whole &= track->in_a && track->in_b;
		/* What was not read would show in the parameters, where these are compared. */
		is_whole &= (!j->unread || j->states) && !j->shards;
		report->shards += j->shards;
		/* A value that differs says more than another order of calls. */
		if (first && (!earliest ||
			      (is_order(&report->tracks[report->first], earliest) &&
			       !is_order(track, first)) ||
			      (is_earlier(first, earliest) && !is_order(track, first))))
			report->first = i;
	}
	if (report->first < report->count)
		report->verdict = WTI_REPEAT_DIFFERENT;
	else
		report->verdict = is_whole && report->values_compared ? WTI_REPEAT_IDENTICAL
								      : WTI_REPEAT_NOT_MEASURED;
}

/* ---- Values in another order ----------------------------------------------------------------- */

/* Of a number it would say nothing that the other run has it, too. */
static bool tells(const struct wti_value_pair *pair)
{
	return pair->a.position >= 0 && pair->same == WTI_NOT_SAME &&
	       pair->a.type == WTI_VALUE_TENSOR && pair->b.type == WTI_VALUE_TENSOR &&
	       pair->a.digest.count > 1;
}

/* The first run's in the second, and the other way round. */
static bool is_mixed(const struct wti_first_difference *first, const struct wti_map *values)
{
	uint32_t told = 0;

	for (uint32_t i = 0; i < first->value_count; i++) {
		const struct wti_value_pair *pair = &first->values[i];

		if (pair->a.position < 0 || pair->same != WTI_NOT_SAME)
			continue;
		if (!tells(pair) || !(wti_map_get(values, wti_known_key(&pair->a)) & 2) ||
		    !(wti_map_get(values, wti_known_key(&pair->b)) & 1))
			return false;
		told++;
	}
	return told > 0;
}

static void ask(struct wti_map *values, const struct wti_first_difference *first)
{
	for (uint32_t i = 0; first->how == WTI_BEGINS_INPUT && i < first->value_count; i++) {
		if (!tells(&first->values[i]))
			continue;
		wti_map_put(values, wti_known_key(&first->values[i].a), 4);
		wti_map_put(values, wti_known_key(&first->values[i].b), 4);
	}
}

/* It was given other values: do both runs have them, and only take them in another order? */
static int find_mixed(const struct comparison *runs)
{
	struct wti_divergence_report *report = runs->report;
	struct wti_map values;
	int r = 0;

	wti_map_init(&values, 2 * WTI_FIRST_VALUES * WTI_POSTS_MAX);
	for (size_t i = 0; i < report->count; i++)
		ask(&values, &report->tracks[i].judgement.first);
	for (unsigned run = 0; run < 2 && !r && values.count; run++)
		r = wti_known_scan(runs->traces[run], &values,
				   &(struct wti_known_flags){.flag = 1u << run}, runs->err);
	for (size_t i = 0; i < report->count && !r; i++) {
		struct wti_first_difference *first = &report->tracks[i].judgement.first;

		if (first->how == WTI_BEGINS_INPUT && is_mixed(first, &values))
			first->how = WTI_BEGINS_MIXED;
	}
	wti_map_release(&values);
	return r;
}

int wti_diverge(const struct wt_trace *a, const struct wt_trace *b,
		const struct wti_within_line *where, struct wti_divergence_report *ret_report,
		struct wt_err *err)
{
	struct wti_divergence_report report = {0};
	struct comparison runs = {.traces = {a, b}, .where = where, .report = &report, .err = err};
	int r = wti_posts_find(a, &runs.places[0], err);

	r = r ? r : wti_posts_find(b, &runs.places[1], err);
	r = r ? r : count_gaps(a, &report, err);
	r = r ? r : count_gaps(b, &report, err);
	r = r ? r : judge_tracks(&runs);
	r = r ? r : find_mixed(&runs);
	free(runs.places[0].all);
	free(runs.places[1].all);
	if (r) {
		wti_divergence_release(&report);
		return r;
	}
	sum_up(&report);
	find_later(&report);
	*ret_report = report;
	return 0;
}

void wti_divergence_release(struct wti_divergence_report *report)
{
	free(report->tracks);
	*report = (struct wti_divergence_report){0};
}
