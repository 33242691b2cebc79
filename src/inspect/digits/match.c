/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes side by side: see match.h. */
#include "match.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "inspect/core/align.h"
#include "inspect/core/library.h"

#define WINDOW 1024u
#define NONE UINT32_MAX

struct match {
	struct wti_side *lanes[WTI_MERGE_RUNS_MAX];
	unsigned runs;
	struct wti_word_ids *texts;
	const struct wti_match_how *how;
	struct wti_divergence *divergence;
	struct wti_match_run *about;
	const struct wti_item *last; /* in common: only its names are used */
	struct wti_item last_item;
};

static bool has(const struct match *match, unsigned run)
{
	return match->lanes[run] && wti_lane_count(match->lanes[run]);
}

static unsigned first_alive(const struct match *match)
{
	unsigned run = 0;

	while (run < match->runs && !has(match, run))
		run++;
	return run;
}

static void took(struct match *match, unsigned run, const struct wti_item *item)
{
	match->about[run].items++;
	match->about[run].last = item->callee;
	match->about[run].last_step = item->step;
}

static int hand_over(struct match *match, struct wti_matched *group)
{
	group->runs = match->runs;
	for (unsigned run = 0; run < match->runs; run++) {
		if (!group->items[run])
			continue;
		if (!group->found++) {
			group->lead = group->items[run];
			group->lead_run = run;
		}
		took(match, run, group->items[run]);
	}
	return match->how->taker(match->how->cookie, group);
}

/* ---- While they agree ------------------------------------------------------------------------ */

static bool heads_agree(const struct match *match, unsigned first)
{
	uint64_t token = wti_lane_at(match->lanes[first], 0)->token;

	for (unsigned run = first + 1; run < match->runs; run++) {
		if (has(match, run) && wti_lane_at(match->lanes[run], 0)->token != token)
			return false;
	}
	return true;
}

static int take_heads(struct match *match, unsigned first)
{
	struct wti_matched group = {0};
	int r;

	for (unsigned run = 0; run < match->runs; run++) {
		if (has(match, run))
			group.items[run] = wti_lane_at(match->lanes[run], 0);
	}
	match->last_item = *group.items[first];
	match->last = &match->last_item;
	r = hand_over(match, &group);
	match->divergence->common += group.found == match->runs;
	for (unsigned run = 0; run < match->runs; run++) {
		if (has(match, run))
			wti_lane_drop(match->lanes[run], 1);
	}
	return r;
}

/* ---- Where they part ------------------------------------------------------------------------- */

/* A line of the user's own says more than one in a library, though it comes later. */
static bool is_hidden(const struct match *match, uint32_t file, uint32_t other)
{
	return wti_is_library(wti_texts_at(match->texts, file)) &&
	       !wti_is_library(wti_texts_at(match->texts, other));
}

static void note_divergence(struct match *match, unsigned first)
{
	struct wti_divergence *d = match->divergence;
	const struct wti_item *lead = wti_lane_at(match->lanes[first], 0);

	if (d->times++ && !is_hidden(match, d->file, lead->file))
		return;
	d->with_lead = 0;
	d->other = 0;
	d->next = lead->callee;
	d->file = lead->file;
	d->line = lead->line;
	d->step = lead->step;
	if (match->last) {
		d->after = match->last->callee;
		d->after_file = match->last->file;
		d->after_line = match->last->line;
	}
	for (unsigned run = first; run < match->runs; run++) {
		const struct wti_item *item =
			has(match, run) ? wti_lane_at(match->lanes[run], 0) : NULL;

		if (item && item->token == lead->token)
			d->with_lead++;
		else if (item && !d->other)
			d->other = item->callee;
	}
}

/* Tokens of a window as the aligner wants them. */
static uint32_t *tokens_of(const struct wti_side *lane, size_t *ret_count)
{
	size_t count = wti_lane_count(lane);
	uint32_t *tokens = malloc(sizeof(*tokens) * (count ? count : 1));

	*ret_count = count;
	for (size_t i = 0; tokens && i < count; i++) {
		uint64_t token = wti_lane_at(lane, i)->token;

		tokens[i] = (uint32_t)(token ^ token >> 32);
	}
	return tokens;
}

/* For each item of the leader's window the one that corresponds in another's, or NONE. */
static int partners(const struct match *match, unsigned lead, unsigned run, uint32_t *ret_partners)
{
	struct wti_edits edits = {0};
	size_t a_count, b_count;
	uint32_t *a = tokens_of(match->lanes[lead], &a_count);
	uint32_t *b = tokens_of(match->lanes[run], &b_count);
	int r = a && b ? wti_align(a, a_count, b, b_count, &edits) : WT_E_NOMEM;

	for (size_t i = 0; i < a_count; i++)
		ret_partners[i] = NONE;
	for (size_t i = 0; !r && i < edits.count; i++) {
		const struct wti_edit *edit = &edits.all[i];

		for (size_t j = 0; edit->is_equal && j < edit->a_count; j++)
			ret_partners[edit->a + j] = (uint32_t)(edit->b + j);
	}
	wti_edits_release(&edits);
	free(a);
	free(b);
	return r;
}

/*
 * How much of the leader's window to take: up to the last place that all have, so that nothing is
 * cut where the windows end; all of it when the runs end, or when there is no such place.
 */
static size_t cut_of(const struct match *match, unsigned lead, uint32_t *const *partner,
		     bool *ret_is_all)
{
	size_t count = wti_lane_count(match->lanes[lead]), cut = 0;
	bool is_end = true;

	for (unsigned run = 0; run < match->runs; run++)
		is_end &= !match->lanes[run] || wti_lane_count(match->lanes[run]) < WINDOW;
	*ret_is_all = is_end;
	if (is_end)
		return count;
	for (size_t i = 0; i < count; i++) {
		bool is_common = true;

		for (unsigned run = 0; run < match->runs; run++)
			is_common &= !has(match, run) || run == lead || partner[run][i] != NONE;
		if (is_common)
			cut = i + 1;
	}
	*ret_is_all = !cut;
	return cut ? cut : count;
}

/* Items [from, to) of the run have no partner. */
static int leave_alone(struct match *match, unsigned run, size_t from, size_t to)
{
	int r = 0;

	match->divergence->unmatched += to - from;
	for (size_t i = from; match->how->lone && i < to && !r; i++) {
		const struct wti_item *item = wti_lane_at(match->lanes[run], i);

		took(match, run, item);
		r = match->how->lone(match->how->cookie, item, run);
	}
	return r;
}

static int take_window(struct match *match, unsigned lead, uint32_t *const *partner)
{
	size_t used[WTI_MERGE_RUNS_MAX] = {0};
	bool is_all;
	size_t cut = cut_of(match, lead, partner, &is_all);
	int r = 0;

	for (size_t i = 0; i < cut && !r; i++) {
		struct wti_matched group = {0};

		group.items[lead] = wti_lane_at(match->lanes[lead], i);
		for (unsigned run = lead + 1; run < match->runs && !r; run++) {
			if (!has(match, run) || partner[run][i] == NONE)
				continue;
			r = leave_alone(match, run, used[run], partner[run][i]);
			group.items[run] = wti_lane_at(match->lanes[run], partner[run][i]);
			used[run] = partner[run][i] + 1;
		}
		r = r ? r : hand_over(match, &group);
		match->divergence->unmatched += group.found < match->runs;
		match->divergence->common += group.found == match->runs;
	}
	for (unsigned run = 0; run < match->runs; run++) {
		size_t drop = run == lead ? cut : used[run];

		if (!has(match, run))
			continue;
		if (is_all && run != lead) { /* nothing of it has a partner any more */
			size_t count = wti_lane_count(match->lanes[run]);
			int failed = leave_alone(match, run, drop, count);

			r = r ? r : failed;
			drop = count;
		}
		wti_lane_drop(match->lanes[run], drop);
	}
	return r;
}

static int realign(struct match *match, unsigned lead)
{
	uint32_t **partner = calloc(match->runs, sizeof(*partner));
	int r = partner ? 0 : WT_E_NOMEM;

	note_divergence(match, lead);
	for (unsigned run = 0; run < match->runs && !r; run++) {
		if (match->lanes[run])
			r = wti_lane_fill(match->lanes[run], WINDOW);
	}
	for (unsigned run = lead + 1; run < match->runs && !r; run++) {
		if (!has(match, run))
			continue;
		partner[run] = malloc(sizeof(uint32_t) * wti_lane_count(match->lanes[lead]));
		r = partner[run] ? partners(match, lead, run, partner[run]) : WT_E_NOMEM;
	}
	if (!r)
		r = take_window(match, lead, partner);
	for (unsigned run = 0; partner && run < match->runs; run++)
		free(partner[run]);
	free(partner);
	return r;
}

/* ---- Tracks ---------------------------------------------------------------------------------- */

static int match_lanes(struct match *match)
{
	int r = 0;

	while (!r) {
		unsigned first, alive = 0;

		for (unsigned run = 0; run < match->runs && !r; run++) {
			if (match->lanes[run])
				r = wti_lane_fill(match->lanes[run], 1);
			alive += has(match, run);
		}
		first = first_alive(match);
		if (r || !alive)
			break;
		for (unsigned run = 0; run < match->runs; run++)
			match->about[run].is_short |= match->lanes[run] && !has(match, run);
		r = heads_agree(match, first) ? take_heads(match, first) : realign(match, first);
	}
	return r;
}

static int match_track(struct match *match, struct wt_trace *const *traces, size_t stream,
		       size_t track, struct wt_err *err)
{
	int r = 0;

	memset(match->lanes, 0, sizeof(match->lanes));
	for (unsigned run = 0; run < match->runs && !r; run++) {
		const struct wt_reader *reader;

		if (!traces[run] || stream >= wt_trace_stream_count(traces[run]))
			continue;
		reader = wt_trace_stream(traces[run], stream);
		if (track >= wt_reader_track_count(reader))
			continue;
		r = wti_lane_open(traces[run], stream, wt_reader_track_at(reader, track)->id,
				  match->how->any_line, match->texts, &match->lanes[run], err);
	}
	if (!r)
		r = match_lanes(match);
	for (unsigned run = 0; run < match->runs; run++) {
		if (match->lanes[run]) {
			match->about[run].unended += wti_lane_unended(match->lanes[run]);
			match->about[run].left_out += wti_lane_left_out(match->lanes[run]);
		}
		wti_lane_free(match->lanes[run]);
	}
	return r;
}

/* Processes and threads correspond by their order. */
static size_t most(struct wt_trace *const *traces, unsigned runs, size_t stream, bool tracks)
{
	size_t count = 0;

	for (unsigned run = 0; run < runs; run++) {
		size_t streams = traces[run] ? wt_trace_stream_count(traces[run]) : 0, n = streams;

		if (tracks)
			n = stream < streams
				    ? wt_reader_track_count(wt_trace_stream(traces[run], stream))
				    : 0;
		count = n > count ? n : count;
	}
	return count;
}

int wti_match(struct wt_trace *const *traces, unsigned runs, struct wti_word_ids *texts,
	      const struct wti_match_how *how, struct wti_divergence *ret_divergence,
	      struct wti_match_run *ret_runs, struct wt_err *err)
{
	struct match *match = calloc(1, sizeof(*match));
	int r = match ? 0 : WT_E_NOMEM;

	memset(ret_divergence, 0, sizeof(*ret_divergence));
	memset(ret_runs, 0, sizeof(*ret_runs) * runs);
	if (match)
		*match = (struct match){.runs = runs,
					.texts = texts,
					.how = how,
					.divergence = ret_divergence,
					.about = ret_runs};
	for (size_t stream = 0; !r && stream < most(traces, runs, 0, false); stream++) {
		for (size_t track = 0; !r && track < most(traces, runs, stream, true); track++)
			r = match_track(match, traces, stream, track, err);
	}
	free(match);
	return r == WT_E_NOMEM ? wti_err(err, r, "out of memory") : r;
}
