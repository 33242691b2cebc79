/* SPDX-License-Identifier: Apache-2.0 */
/* Step, epoch, stage and rank by track; and whose steps are those of the run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/number.h"
#include "phase.h"
#include "steps.h"

#define ENTRIES_MAX (1u << 21) /* tracks, and a process for each stream */
#define WHOLE_PROCESS UINT32_MAX

static const struct wti_scope nowhere = {.step = -1, .epoch = -1, .rank = -1, .world = -1};

static bool is(struct wt_text text, const char *word)
{
	return text.bytes == strlen(word) && !memcmp(text.data, word, text.bytes);
}

static enum wti_context_key key_by_text(struct wt_text key)
{
	return is(key, "step")    ? WTI_CONTEXT_STEP
	       : is(key, "epoch") ? WTI_CONTEXT_EPOCH
	       : is(key, "stage") ? WTI_CONTEXT_STAGE
				  : WTI_CONTEXT_OTHER;
}

enum wti_context_key wti_context_key(const struct wt_event *event)
{
	return key_by_text(wt_event_text(event, WT_CONTEXT_FIELD_KEY));
}

/* ---- Where a track is ----------------------------------------------------------------------- */

void wti_steps_init(struct wti_steps *steps, struct wti_symbols *symbols)
{
	*steps = (struct wti_steps){.symbols = symbols};
	wti_map_init(&steps->index, ENTRIES_MAX);
}

void wti_steps_release(struct wti_steps *steps)
{
	free(steps->entries);
	wti_map_release(&steps->index);
	*steps = (struct wti_steps){0};
}

static uint64_t key_of(size_t stream, uint32_t track)
{
	return (uint64_t)stream << 32 | track;
}

static struct wti_step *entry_of(struct wti_steps *steps, size_t stream, uint32_t track)
{
	uint64_t *slot = wti_map_number(&steps->index, key_of(stream, track));

	if (!slot)
		return NULL;
	if (*slot)
		return &steps->entries[*slot - 1];
	if (wti_grow(&steps->entries, steps->count + 1, &steps->capacity, ENTRIES_MAX))
		return NULL;
	steps->entries[steps->count] = (struct wti_step){.stream = stream,
							 .track = track,
							 .scope = nowhere,
							 .is_process = track == WHOLE_PROCESS};
	*slot = ++steps->count;
	return &steps->entries[*slot - 1];
}

static const struct wti_step *find(const struct wti_steps *steps, size_t stream, uint32_t track)
{
	const uint64_t *slot = wti_map_find_number(&steps->index, key_of(stream, track));

	return slot && *slot ? &steps->entries[*slot - 1] : NULL;
}

/* By its symbol, where there are any: those of names that were seen before are kept. */
static enum wti_context_key key_in(const struct wti_steps *steps, const struct wt_event *event)
{
	const char *text;

	if (!steps->symbols)
		return wti_context_key(event);
	text = wti_symbol_text(steps->symbols,
			       wti_symbol_of(steps->symbols, event, WT_CONTEXT_FIELD_KEY));
	return key_by_text((struct wt_text){text, strlen(text)});
}

static void take_context(const struct wti_steps *steps, struct wti_step *entry,
			 const struct wt_event *event)
{
	enum wti_context_key key = key_in(steps, event);
	int64_t value = wti_bounded(wt_event_i64(event, WT_CONTEXT_FIELD_VALUE));

	entry->has_context = true;
	entry->time_ns = event->time_ns;
	if (key == WTI_CONTEXT_STEP) {
		entry->has_step = true;
		entry->scope.step = value;
	} else if (key == WTI_CONTEXT_EPOCH) {
		entry->has_epoch = true;
		entry->scope.epoch = value;
	} else if (key == WTI_CONTEXT_STAGE && steps->symbols) {
		entry->scope.stage = wti_symbol_of(steps->symbols, event, WT_CONTEXT_FIELD_TEXT);
	}
}

static void take_rank(struct wti_scope *scope, const struct wt_event *event)
{
	scope->rank = (int32_t)wt_event_u64(event, WT_RANK_FIELD_RANK);
	scope->world = (int32_t)wt_event_u64(event, WT_RANK_FIELD_WORLD);
}

int wti_steps_event(struct wti_steps *steps, const struct wt_event *event, struct wt_err *err)
{
	const uint32_t tracks[] = {event->track, WHOLE_PROCESS};

	for (size_t i = 0; i < 2; i++) {
		struct wti_step *entry = entry_of(steps, event->stream, tracks[i]);

		if (!entry)
			return wti_map_failed(&steps->index, err, "tracks to follow their steps");
		if (event->kind->number == WT_KIND_CONTEXT)
			take_context(steps, entry, event);
		else
			take_rank(&entry->scope, event);
	}
	return 0;
}

struct wti_scope wti_steps_scope(const struct wti_steps *steps, size_t stream, uint32_t track)
{
	const struct wti_step *of_track = find(steps, stream, track);
	const struct wti_step *of_all = find(steps, stream, WHOLE_PROCESS);
	struct wti_scope scope = of_all ? of_all->scope : nowhere;

	if (of_track && of_track->has_context) {
		struct wti_scope own = of_track->scope;

		own.rank = scope.rank;
		own.world = scope.world;
		return own;
	}
	return scope;
}

struct wt_text wti_steps_label(const struct wti_steps *steps, char out[WTI_LABEL_BYTES],
			       const struct wt_event *event)
{
	const struct wti_step *entry = find(steps, event->stream, event->track);

	if (!entry || !entry->has_step)
		return (struct wt_text){"(no step)", 9};
	return (struct wt_text){
		out, (size_t)snprintf(out, WTI_LABEL_BYTES, "%lld", (long long)entry->scope.step)};
}

const struct wti_step *wti_steps_last(const struct wti_steps *steps)
{
	const struct wti_step *last = NULL;

	for (size_t i = 0; i < steps->count; i++) {
		const struct wti_step *entry = &steps->entries[i];

		if (entry->has_context && !entry->is_process &&
		    (!last || entry->time_ns > last->time_ns))
			last = entry;
	}
	return last;
}

void wti_steps_widen(int64_t *first, int64_t *last, int64_t step, bool is_first_time)
{
	if (is_first_time || (step >= 0 && step < *first))
		*first = step;
	if (is_first_time || step > *last)
		*last = step;
}

/* ---- The steps of the run ------------------------------------------------------------------- */

static void take_leaders_rank(struct wti_leader *leader, const struct wt_event *event)
{
	if (!leader->saw_rank)
		leader->rank_stream = event->stream;
	leader->saw_rank = true;
	if (leader->is_known && leader->stream == event->stream)
		leader->is_rank = true;
}

/* Who leads has to give way to the track of this event; only if it made no whole step. */
static bool yields(const struct wti_leader *leader, const struct wt_event *event)
{
	return leader->is_known && !leader->whole_count && leader->saw_rank && !leader->is_rank &&
	       event->stream == leader->rank_stream;
}

static void set(struct wti_leader *leader, const struct wt_event *event)
{
	*leader = (struct wti_leader){.is_known = true,
				      .saw_rank = leader->saw_rank,
				      .rank_stream = leader->rank_stream,
				      .stream = event->stream,
				      .track = event->track};
	leader->is_rank = leader->saw_rank && event->stream == leader->rank_stream;
}

bool wti_may_lead(const struct wti_leader *leader, const struct wt_event *event)
{
	return !leader->is_known ||
	       (leader->stream == event->stream && leader->track == event->track);
}

/* After the agent's own 0: the end of the first step, or the program says where a step begins. */
static unsigned take_first(struct wti_leader *leader, int64_t step)
{
	unsigned change = WTI_STEP_BEGINS;

	leader->at_ends = leader->has_trained && step != leader->step;
	if (leader->at_ends && leader->in_step)
		change |= WTI_STEP_ENDS;
	else if (leader->in_step)
		change |= WTI_STEP_FORGET;
	leader->is_start = false;
	return change;
}

static unsigned take_step(struct wti_leader *leader, const struct wt_event *event)
{
	int64_t step = wti_bounded(wt_event_i64(event, WT_CONTEXT_FIELD_VALUE));
	unsigned change = 0;

	if (yields(leader, event)) {
		change = leader->in_step ? WTI_STEP_FORGET : 0;
		leader->is_known = false;
	}
	if (!leader->is_known)
		set(leader, event);
	if (!wti_may_lead(leader, event))
		return change;
	if (leader->is_start)
		change |= take_first(leader, step);
	else if (!leader->in_step)
		change |= WTI_STEP_BEGINS;
	else if (leader->step != step)
		change |= WTI_STEP_ENDS | WTI_STEP_BEGINS;
	leader->whole_count += (change & WTI_STEP_ENDS) != 0;
	leader->in_step = true;
	leader->step = step;
	return change;
}

/* An agent begins with the stage `init`: its step 0 is where the run begins, and no step yet. */
static unsigned take_init(struct wti_leader *leader)
{
	if (!leader->in_step || leader->whole_count || leader->step || leader->at_ends)
		return 0;
	leader->is_start = leader->had_start = true;
	leader->in_step = false;
	return WTI_STEP_FORGET;
}

static unsigned take_call(struct wti_leader *leader, const struct wt_event *event)
{
	enum wti_phase phase = wti_phase_of(event);
	struct wt_text callee = wt_event_text(event, WT_CALL_BEGIN_FIELD_CALLEE);
	bool begins = !leader->in_step && phase < WTI_PHASE_OPTIMIZER;

	leader->has_trained |= phase == WTI_PHASE_BACKWARD ||
			       (phase == WTI_PHASE_OPTIMIZER && callee.bytes > 5 &&
				is((struct wt_text){callee.data + callee.bytes - 5, 5}, ".step"));
	leader->in_step |= begins;
	return begins ? WTI_STEP_BEGINS : 0;
}

static unsigned take_leaders_context(struct wti_leader *leader, const struct wt_event *event)
{
	enum wti_context_key key = wti_context_key(event);

	if (key == WTI_CONTEXT_STEP)
		return take_step(leader, event);
	if (leader->is_known && wti_may_lead(leader, event) && key == WTI_CONTEXT_STAGE &&
	    is(wt_event_text(event, WT_CONTEXT_FIELD_TEXT), "init"))
		return take_init(leader);
	return 0;
}

unsigned wti_leader_event(struct wti_leader *leader, const struct wt_event *event)
{
	switch (event->kind->number) {
	case WT_KIND_CALL_BEGIN:
		return leader->is_start && wti_may_lead(leader, event) ? take_call(leader, event)
								       : 0;
	case WT_KIND_CONTEXT:
		return take_leaders_context(leader, event);
	case WT_KIND_RANK:
		take_leaders_rank(leader, event);
		return 0;
	default:
		return 0;
	}
}

uint64_t wti_leader_steps(const struct wti_leader *leader)
{
	return leader->whole_count + (leader->in_step && !leader->is_start && !leader->at_ends);
}
