/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which calls belong to which part of a step: by their action, or by the part of torch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "inspect/core/label.h"
#include "inspect/core/steps.h"
#include "phases.h"
#include "samples.h"

#define TRACKS_MAX ((size_t)1 << 16)

enum { NESTED_MAX = 16 }; /* phases: what is deeper counts for the one around it */

/* A call that is part of a phase. */
struct nested {
	enum wti_phase phase;
	unsigned depth;
};

struct wti_phase_track {
	size_t stream;
	uint32_t track;
	bool in_step;
	bool has_begun;  /* to load or to train */
	int64_t step_ns; /* when it began */
	unsigned depth;  /* of calls */
	/* Calls inside of one another that each began another phase; time counts for the last. */
	struct nested nested[NESTED_MAX];
	unsigned nested_count;
	int64_t phase_ns; /* since when that counts */
	uint64_t now_ns[WTI_PHASES];
	uint64_t total_ns[WTI_PHASES], step_total_ns;
	struct wti_sketch sketches[WTI_PHASES], steps;
	struct wti_samples samples;
	uint64_t sample_count, sample_ns; /* and the time of the steps that they are of */
};

void wti_phases_init(struct wti_phases *phases)
{
	*phases = (struct wti_phases){0};
	wti_map_init(&phases->index, TRACKS_MAX);
}

void wti_phases_release(struct wti_phases *phases)
{
	for (size_t i = 0; i < phases->count; i++) {
		for (size_t j = 0; j < WTI_PHASES; j++)
			wti_sketch_release(&phases->tracks[i].sketches[j]);
		wti_sketch_release(&phases->tracks[i].steps);
	}
	free(phases->tracks);
	wti_map_release(&phases->index);
}

/* ---- As events go by ------------------------------------------------------------------------- */

/* NULL with *ret_full: too many tracks; without: out of memory. */
static struct wti_phase_track *track_of(struct wti_phases *phases, const struct wt_event *event,
					bool *ret_full)
{
	uint64_t *slot =
		wti_map_number(&phases->index, (uint64_t)event->stream << 32 | event->track);

	*ret_full = !slot && !phases->index.failed;
	if (!slot)
		return NULL;
	if (*slot)
		return &phases->tracks[*slot - 1];
	if (wti_grow(&phases->tracks, phases->count + 1, &phases->capacity, TRACKS_MAX))
		return NULL;
	phases->tracks[phases->count] =
		(struct wti_phase_track){.stream = event->stream, .track = event->track};
	*slot = ++phases->count;
	return &phases->tracks[*slot - 1];
}

/* WTI_PHASES: none. */
static enum wti_phase phase_now(const struct wti_phase_track *track)
{
	return track->nested_count ? track->nested[track->nested_count - 1].phase : WTI_PHASES;
}

/*
 * Whether a call inside of another phase is a phase of its own. A closure that an optimizer calls
 * goes forward and backward; a module may go backward and step. But what a data set calls is
 * loading, whatever it is, and what backward() computes once more is a part of it.
 */
static bool is_own_phase(enum wti_phase inner, enum wti_phase outer)
{
	if (inner == WTI_PHASES || inner == outer)
		return false;
	switch (outer) {
	case WTI_PHASE_DATA:
		return false;
	case WTI_PHASE_BACKWARD:
		return inner == WTI_PHASE_OPTIMIZER;
	default:
		return true;
	}
}

/* What the phase has taken until now counts for the step that is running. */
static void settle(struct wti_phase_track *track, int64_t now_ns)
{
	enum wti_phase phase = phase_now(track);

	if (phase != WTI_PHASES && now_ns > track->phase_ns)
		track->now_ns[phase] += (uint64_t)(now_ns - track->phase_ns);
	track->phase_ns = now_ns;
}

/* An input may be read in some steps only; a batch is described whenever there is one. */
static void count_samples(struct wti_phase_track *track, uint64_t length_ns)
{
	uint64_t rows = wti_samples_step(&track->samples);

	track->sample_count += rows;
	if (rows || track->samples.has_loader)
		track->sample_ns += length_ns;
}

static int end_step(struct wti_phase_track *track, int64_t now_ns)
{
	uint64_t length = now_ns > track->step_ns ? (uint64_t)(now_ns - track->step_ns) : 0;
	uint64_t known = 0;
	int r = wti_sketch_add(&track->steps, length);

	count_samples(track, length);

	for (size_t i = 0; i < WTI_PHASE_OTHER; i++)
		known += track->now_ns[i];
	track->now_ns[WTI_PHASE_OTHER] = length > known ? length - known : 0;
	track->step_total_ns += length;
	for (size_t i = 0; i < WTI_PHASES && !r; i++) {
		track->total_ns[i] += track->now_ns[i];
		r = wti_sketch_add(&track->sketches[i], track->now_ns[i]);
	}
	return r;
}

static int take_context(struct wti_phase_track *track, const struct wt_event *event)
{
	int r = 0;

	if (wti_context_key(event) != WTI_CONTEXT_STEP)
		return 0;
	settle(track, event->time_ns);
	if (track->in_step && track->has_begun)
		r = end_step(track, event->time_ns);
	memset(track->now_ns, 0, sizeof(track->now_ns));
	track->in_step = true;
	track->step_ns = event->time_ns;
	return r;
}

static void take_begin(struct wti_phase_track *track, const struct wt_event *event)
{
	enum wti_phase phase = wti_phase_of(event);

	track->depth++;
	if (track->nested_count == NESTED_MAX || !is_own_phase(phase, phase_now(track)))
		return;
	settle(track, event->time_ns);
	track->nested[track->nested_count++] = (struct nested){phase, track->depth};
	if (!track->has_begun && phase < WTI_PHASE_OPTIMIZER) {
		track->has_begun = true;
		track->step_ns = event->time_ns;
		memset(track->now_ns, 0, sizeof(track->now_ns));
	}
}

static void take_end(struct wti_phase_track *track, const struct wt_event *event)
{
	if (track->nested_count && track->depth <= track->nested[track->nested_count - 1].depth) {
		settle(track, event->time_ns);
		track->nested_count--;
	}
	track->depth -= track->depth > 0;
}

int wti_phases_event(struct wti_phases *phases, const struct wt_event *event)
{
	struct wti_phase_track *track;
	bool is_full;

	if (event->kind->number != WT_KIND_CONTEXT && event->kind->number != WT_KIND_CALL_BEGIN &&
	    event->kind->number != WT_KIND_CALL_END && event->kind->number != WT_KIND_TENSOR)
		return 0;
	track = track_of(phases, event, &is_full);
	if (!track)
		return is_full ? 0 : WT_E_NOMEM;
	wti_samples_event(&track->samples, event);
	if (event->kind->number == WT_KIND_CONTEXT)
		return take_context(track, event);
	if (event->kind->number == WT_KIND_CALL_BEGIN)
		take_begin(track, event);
	else if (event->kind->number == WT_KIND_CALL_END)
		take_end(track, event);
	return 0;
}

/* ---- The table ------------------------------------------------------------------------------- */

static void add_row(struct wt_table *table, struct wt_text who, const char *part, uint64_t total_ns,
		    const struct wti_sketch *sketch, uint64_t all_ns)
{
	static const double shares[] = {0.5, 0.9, 0.99};

	wt_table_row(table);
	wt_table_text(table, who.data, who.bytes);
	wt_table_text(table, part, strlen(part));
	wt_table_count(table, sketch->count);
	wt_table_ns(table, (int64_t)total_ns);
	wt_table_number(table, all_ns ? 100 * (double)total_ns / (double)all_ns : 0);
	wt_table_ns(table, sketch->count ? (int64_t)(total_ns / sketch->count) : 0);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		wt_table_ns(table, (int64_t)wti_sketch_quantile(sketch, shares[i]));
	wt_table_ns(table, (int64_t)sketch->max);
}

static void add_track(struct wt_table *table, const struct wti_phase_track *track,
		      const struct wti_roles *roles)
{
	static const char *const parts[WTI_PHASES] = {"data wait", "forward", "backward",
						      "optimizer", "other"};
	char label[WTI_LABEL_BYTES];
	struct wt_text who = wti_role_label(label, roles, track->stream, track->track);

	add_row(table, who, "whole step", track->step_total_ns, &track->steps,
		track->step_total_ns);
	for (size_t i = 0; i < WTI_PHASES; i++)
		add_row(table, who, parts[i], track->total_ns[i], &track->sketches[i],
			track->step_total_ns);
}

/* Steps in which nothing of training happened are those of some other program. */
static bool trains(const struct wti_phase_track *track)
{
	return track->total_ns[WTI_PHASE_FORWARD] + track->total_ns[WTI_PHASE_BACKWARD] +
		       track->total_ns[WTI_PHASE_OPTIMIZER] >
	       0;
}

static struct wt_table *steps_table(struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "steps", "where a step's time goes");

	wt_table_column(table, "process", "process", WT_CELL_TEXT);
	wt_table_column(table, "part", "part", WT_CELL_TEXT);
	wt_table_column(table, "steps", "steps", WT_CELL_COUNT);
	wt_table_hide(table, 4);
	wt_table_column(table, "total_ns", "total", WT_CELL_NS);
	wt_table_hide(table, 3);
	wt_table_column(table, "share", "share", WT_CELL_PERCENT);
	wt_table_column(table, "mean_ns", "mean", WT_CELL_NS);
	wt_table_column(table, "p50_ns", "p50", WT_CELL_NS);
	wt_table_column(table, "p90_ns", "p90", WT_CELL_NS);
	wt_table_hide(table, 1);
	wt_table_column(table, "p99_ns", "p99", WT_CELL_NS);
	wt_table_hide(table, 2);
	wt_table_column(table, "max_ns", "max", WT_CELL_NS);
	wt_table_hide(table, 5);
	return table;
}

static struct wt_table *speed_table(struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "speed", "how fast it trains");

	wt_table_column(table, "process", "process", WT_CELL_TEXT);
	wt_table_column(table, "steps", "steps", WT_CELL_COUNT);
	wt_table_column(table, "steps_per_s", "steps/s", WT_CELL_NUMBER);
	wt_table_column(table, "samples", "samples", WT_CELL_COUNT);
	wt_table_column(table, "samples_per_s", "samples/s", WT_CELL_NUMBER);
	return table;
}

/* To three digits: more are not meant. */
static double per_second(uint64_t count, uint64_t ns)
{
	double rate = ns ? (double)count * 1e9 / (double)ns : 0;
	char text[32];

	snprintf(text, sizeof(text), "%.3g", rate);
	return strtod(text, NULL);
}

static void add_speed(struct wt_table *table, const struct wti_phase_track *track,
		      const struct wti_roles *roles, struct wt_result *result)
{
	char label[WTI_LABEL_BYTES];
	struct wt_text who = wti_role_label(label, roles, track->stream, track->track);

	wt_table_row(table);
	wt_table_text(table, who.data, who.bytes);
	wt_table_count(table, track->steps.count);
	wt_table_number(table, per_second(track->steps.count, track->step_total_ns));
	if (track->sample_count) {
		wt_table_count(table, track->sample_count);
		wt_table_number(table, per_second(track->sample_count, track->sample_ns));
		return;
	}
	wt_table_empty(table);
	wt_table_empty(table);
	wt_result_note(result,
		       "samples a second of %.*s: not measured, as the trace has no batch of a "
		       "DataLoader and no input of a model",
		       (int)who.bytes, who.data);
}

/* By rank; the order of streams is that in which processes joined. */
static int by_rank(const void *a, const void *b, void *opaque)
{
	const struct wti_phase_track *x = a, *y = b;
	uint32_t x_rank = wti_role_of(opaque, x->stream).rank;
	uint32_t y_rank = wti_role_of(opaque, y->stream).rank;

	if (x_rank != y_rank)
		return x_rank < y_rank ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->track < y->track ? -1 : x->track > y->track;
}

void wti_phases_tables(struct wti_phases *phases, const struct wti_roles *roles,
		       struct wt_result *result)
{
	struct wt_table *steps = NULL, *speed = NULL;

	if (phases->count) /* nothing is looked up any more */
		qsort_r(phases->tracks, phases->count, sizeof(*phases->tracks), by_rank,
			(void *)(uintptr_t)roles);
	for (size_t i = 0; i < phases->count; i++) {
		if (!trains(&phases->tracks[i]))
			continue;
		steps = steps ? steps : steps_table(result);
		add_track(steps, &phases->tracks[i], roles);
	}
	for (size_t i = 0; i < phases->count; i++) {
		if (!trains(&phases->tracks[i]))
			continue;
		speed = speed ? speed : speed_table(result);
		add_speed(speed, &phases->tracks[i], roles, result);
	}
}
