/* SPDX-License-Identifier: Apache-2.0 */
/* Calls put together from their rows, track by track. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "calls.h"

#define TRACKS_MAX (1u << 20)
#define DEPTH_MAX 4096u
#define VALUES_MAX (1u << 20) /* of one call: the entries of a checkpoint */
#define POSITION_MAX (1 << 20)
#define CALLEE 0 /* the first field of whatever begins or ends: call, operator, span */

void wti_calls_init(struct wti_calls *calls, struct wti_symbols *symbols)
{
	*calls = (struct wti_calls){.symbols = symbols};
	wti_steps_init(&calls->steps, symbols);
	wti_map_init(&calls->index, TRACKS_MAX);
}

void wti_calls_release(struct wti_calls *calls)
{
	for (size_t i = 0; i < calls->track_count; i++) {
		for (uint32_t j = 0; j < calls->tracks[i].capacity; j++)
			free(calls->tracks[i].open[j].values);
		free(calls->tracks[i].open);
	}
	free(calls->tracks);
	wti_map_release(&calls->index);
	wti_steps_release(&calls->steps);
	*calls = (struct wti_calls){0};
}

static struct wti_call_track *track_of(struct wti_calls *calls, const struct wt_event *event)
{
	uint64_t *slot =
		wti_map_number(&calls->index, (uint64_t)event->stream << 32 | event->track);

	if (!slot)
		return NULL;
	if (*slot)
		return &calls->tracks[*slot - 1];
	if (wti_grow(&calls->tracks, calls->track_count + 1, &calls->track_capacity, TRACKS_MAX))
		return NULL;
	calls->tracks[calls->track_count] =
		(struct wti_call_track){.stream = event->stream, .track = event->track};
	*slot = ++calls->track_count;
	return &calls->tracks[*slot - 1];
}

static struct wti_call *innermost(const struct wti_call_track *track)
{
	return track->open_count ? &track->open[track->open_count - 1] : NULL;
}

static const struct wti_call *parent_of(const struct wti_call_track *track)
{
	return track->open_count > 1 ? &track->open[track->open_count - 2] : NULL;
}

/* ---- Begin ---------------------------------------------------------------------------------- */

static void announce(struct wti_call_track *track, const struct wti_listener *listener)
{
	struct wti_call *call = innermost(track);

	if (!call || call->is_announced)
		return;
	call->is_announced = true;
	listener->begun(listener->self, call, parent_of(track));
}

/* What an operator and a span have none of. */
static void describe(struct wti_calls *calls, struct wti_call *call, const struct wt_event *event)
{
	call->module = wti_symbol_of(calls->symbols, event, WT_CALL_BEGIN_FIELD_MODULE);
	call->object = wti_symbol_of(calls->symbols, event, WT_CALL_BEGIN_FIELD_OBJECT);
	call->site = (uint32_t)wt_event_u64(event, WT_CALL_BEGIN_FIELD_SITE);
	call->flags = (uint32_t)wt_event_u64(event, WT_CALL_BEGIN_FIELD_FLAGS);
	call->is_recorded = wti_action_is_recorded(event);
	call->action = wti_action_recorded(event);
}

static bool begin(struct wti_calls *calls, struct wti_call_track *track,
		  const struct wt_event *event)
{
	struct wti_value_row *values;
	struct wti_call *call;
	size_t capacity;

	if (track->open_count >= DEPTH_MAX) {
		track->too_deep_count++;
		return true;
	}
	if (wti_grow_zeroed(&track->open, track->open_count + 1, &track->capacity, DEPTH_MAX))
		return false;
	call = &track->open[track->open_count++];
	values = call->values; /* memory of earlier calls at this depth */
	capacity = call->value_capacity;
	*call = (struct wti_call){
		.stream = event->stream,
		.track = event->track,
		.callee = wti_symbol_of(calls->symbols, event, CALLEE),
		.is_operator = event->kind->number != WT_KIND_CALL_BEGIN,
		.seq = (uint32_t)event->seq,
		.depth = track->open_count - 1,
		.ordinal = track->ordinal++,
		.begin_ns = event->time_ns,
		.scope = wti_steps_scope(&calls->steps, event->stream, event->track),
		.values = values,
		.value_capacity = capacity,
	};
	if (!call->is_operator)
		describe(calls, call, event);
	return true;
}

/* ---- Values --------------------------------------------------------------------------------- */

void wti_digest_read(struct wti_digest_row *ret, struct wti_symbols *symbols,
		     const struct wt_event *event)
{
	*ret = (struct wti_digest_row){
		.dtype = (uint32_t)wt_event_u64(event, WT_TENSOR_FIELD_DTYPE),
		.shape = wti_symbol_of(symbols, event, WT_TENSOR_FIELD_SHAPE),
		.flags = (uint32_t)wt_event_u64(event, WT_TENSOR_FIELD_FLAGS),
		.count = wt_event_u64(event, WT_TENSOR_FIELD_COUNT),
		.hash = wt_event_u64(event, WT_TENSOR_FIELD_HASH),
		.nan = wt_event_u64(event, WT_TENSOR_FIELD_NAN),
		.inf = wt_event_u64(event, WT_TENSOR_FIELD_INF),
		.zeros = wt_event_u64(event, WT_TENSOR_FIELD_ZEROS),
		.min = wt_event_f64(event, WT_TENSOR_FIELD_MIN),
		.max = wt_event_f64(event, WT_TENSOR_FIELD_MAX),
		.mean = wt_event_f64(event, WT_TENSOR_FIELD_MEAN),
		.m2 = wt_event_f64(event, WT_TENSOR_FIELD_M2),
	};
}

/* Below 0: what a call returned. No call has so many arguments that the ends matter. */
static int32_t position_of(const struct wt_event *event, int field)
{
	int64_t position = wt_event_i64(event, field);

	return position < -POSITION_MAX  ? -POSITION_MAX
	       : position > POSITION_MAX ? POSITION_MAX
					 : (int32_t)position;
}

static void read_value(struct wti_value_row *ret, struct wti_symbols *symbols,
		       const struct wt_event *event)
{
	if (event->kind->number == WT_KIND_TENSOR) {
		*ret = (struct wti_value_row){
			.position = position_of(event, WT_TENSOR_FIELD_POSITION),
			.name = wti_symbol_of(symbols, event, WT_TENSOR_FIELD_NAME),
			.type = WTI_VALUE_TENSOR,
		};
		wti_digest_read(&ret->digest, symbols, event);
		return;
	}
	*ret = (struct wti_value_row){
		.position = position_of(event, WT_ARGUMENT_FIELD_POSITION),
		.name = wti_symbol_of(symbols, event, WT_ARGUMENT_FIELD_NAME),
		.type = (uint32_t)wt_event_u64(event, WT_ARGUMENT_FIELD_TYPE),
		.text = wti_symbol_of(symbols, event, WT_ARGUMENT_FIELD_TEXT),
		.bits = wt_event_u64(event, WT_ARGUMENT_FIELD_VALUE),
	};
}

static uint32_t call_field_of(const struct wt_event *event)
{
	if (event->kind->number == WT_KIND_ARGUMENT)
		return (uint32_t)wt_event_u64(event, WT_ARGUMENT_FIELD_CALL);
	return (uint32_t)wt_event_u64(event, WT_TENSOR_FIELD_CALL);
}

static struct wti_call *open_call(struct wti_call_track *track, uint32_t seq)
{
	for (uint32_t i = track->open_count; i-- > 0;)
		if (track->open[i].seq == seq)
			return &track->open[i];
	return NULL;
}

/* An agent that stops in the midst of a container says so (docs/events.md, argument). */
static bool is_mark_of_cut(const struct wti_calls *calls, const struct wti_value_row *value)
{
	return value->type == WT_VALUE_TYPE_NONE && value->name &&
	       !strcmp(wti_symbol_text(calls->symbols, value->name), "...");
}

static bool add_value(struct wti_calls *calls, struct wti_call_track *track,
		      const struct wt_event *event)
{
	struct wti_call *call = open_call(track, call_field_of(event));

	struct wti_value_row value;

	if (!call || call->value_count >= VALUES_MAX) {
		calls->dropped_values++;
		if (call)
			call->is_cut = true;
		return true;
	}
	read_value(&value, calls->symbols, event);
	if (is_mark_of_cut(calls, &value)) {
		call->is_cut = true;
		return true;
	}
	if (wti_grow(&call->values, call->value_count + 1, &call->value_capacity, VALUES_MAX))
		return false;
	call->values[call->value_count++] = value;
	return true;
}

/* They follow the value that they are of. */
static void add_attributes(struct wti_calls *calls, struct wti_call_track *track,
			   const struct wt_event *event)
{
	uint32_t seq = (uint32_t)wt_event_u64(event, WT_ATTRIBUTES_FIELD_CALL);
	struct wti_call *call = open_call(track, seq);

	if (call && call->value_count)
		call->values[call->value_count - 1].attributes =
			wti_symbol_of(calls->symbols, event, WT_ATTRIBUTES_FIELD_TEXT);
}

/* ---- End ------------------------------------------------------------------------------------ */

/* Where events were lost an end closes the innermost call of its name. */
static void end(struct wti_calls *calls, struct wti_call_track *track, const struct wt_event *event,
		const struct wti_listener *listener)
{
	uint32_t callee = wti_symbol_of(calls->symbols, event, CALLEE);
	uint32_t at = track->open_count;
	struct wti_call *call;

	if (track->too_deep_count) {
		track->too_deep_count--;
		return;
	}
	while (at > 0 && track->open[at - 1].callee != callee)
		at--;
	if (!at) {
		calls->unopened_count++;
		return;
	}
	calls->unclosed_count += track->open_count - at;
	track->open_count = at;
	call = innermost(track);
	if (!call->is_operator)
		call->exception = wti_symbol_of(calls->symbols, event, WT_CALL_END_FIELD_EXCEPTION);
	call->end_ns = event->time_ns;
	listener->ended(listener->self, call, parent_of(track));
	track->open_count--;
}

/* ---- The stream of events ------------------------------------------------------------------- */

static bool is_of_a_call(const struct wt_event *event)
{
	return event->kind->number == WT_KIND_ARGUMENT ||
	       (event->kind->number == WT_KIND_TENSOR && call_field_of(event));
}

/* Reported among the arguments of the call that is being begun. */
static bool is_row_of_a_call(const struct wti_call_track *track, const struct wt_event *event)
{
	const struct wti_call *call = innermost(track);

	return event->kind->number == WT_KIND_ROW && call && !call->is_announced &&
	       (uint32_t)wt_event_u64(event, WT_ROW_FIELD_CALL) == call->seq;
}

/* As what an event counts: operators and spans as calls, where they are wanted. */
static uint16_t kind_of(const struct wti_calls *calls, const struct wt_event *event)
{
	switch (event->kind->number) {
	case WT_KIND_OPERATOR_BEGIN:
	case WT_KIND_SPAN_BEGIN:
		return calls->with_operators ? WT_KIND_CALL_BEGIN : event->kind->number;
	case WT_KIND_OPERATOR_END:
	case WT_KIND_SPAN_END:
		return calls->with_operators ? WT_KIND_CALL_END : event->kind->number;
	default:
		return event->kind->number;
	}
}

int wti_calls_event(struct wti_calls *calls, const struct wt_event *event,
		    const struct wti_listener *listener, struct wt_err *err)
{
	struct wti_call_track *track = track_of(calls, event);
	bool done = track != NULL;

	if (done && is_of_a_call(event)) {
		done = add_value(calls, track, event);
	} else if (done && event->kind->number == WT_KIND_ATTRIBUTES &&
		   wt_event_u64(event, WT_ATTRIBUTES_FIELD_CALL)) {
		add_attributes(calls, track, event);
	} else if (done && is_row_of_a_call(track, event)) {
		listener->event(listener->self, event, innermost(track));
	} else if (done) {
		announce(track, listener);
		switch (kind_of(calls, event)) {
		case WT_KIND_CALL_BEGIN:
			done = begin(calls, track, event);
			break;
		case WT_KIND_CALL_END:
			end(calls, track, event, listener);
			break;
		case WT_KIND_CONTEXT:
		case WT_KIND_RANK:
			done = !wti_steps_event(&calls->steps, event, err);
			listener->event(listener->self, event, innermost(track));
			break;
		default:
			listener->event(listener->self, event, innermost(track));
		}
	}
	return done ? 0 : wti_err(err, WT_E_NOMEM, "out of memory");
}

void wti_calls_finish(struct wti_calls *calls, const struct wti_listener *listener)
{
	for (size_t i = 0; i < calls->track_count; i++)
		announce(&calls->tracks[i], listener);
}

/* ---- Asking --------------------------------------------------------------------------------- */

struct wti_call wti_call_without_values(const struct wti_call *call)
{
	struct wti_call kept = *call;

	kept.values = NULL;
	kept.value_count = 0;
	kept.value_capacity = 0;
	return kept;
}

const struct wti_value_row *wti_call_argument(const struct wti_call *call, uint32_t name,
					      int32_t position)
{
	const struct wti_value_row *by_position = NULL;

	for (uint32_t i = 0; i < call->value_count; i++) {
		const struct wti_value_row *value = &call->values[i];

		if (value->position < 0)
			continue;
		if (name && value->name == name)
			return value;
		if (!value->name && value->position == position)
			by_position = value;
	}
	return by_position;
}

const struct wti_value_row *wti_call_tensor(const struct wti_call *call, bool is_return, uint32_t n)
{
	for (uint32_t i = 0; i < call->value_count; i++) {
		const struct wti_value_row *value = &call->values[i];

		if (value->type == WTI_VALUE_TENSOR && (value->position < 0) == is_return && !n--)
			return value;
	}
	return NULL;
}

const struct wti_value_row *wti_call_next_tensor(const struct wti_call *call, bool is_return,
						 const struct wti_value_row *after)
{
	uint32_t i = after ? (uint32_t)(after - call->values) + 1 : 0;

	for (; i < call->value_count; i++)
		if (call->values[i].type == WTI_VALUE_TENSOR &&
		    (call->values[i].position < 0) == is_return)
			return &call->values[i];
	return NULL;
}

bool wti_value_as_number(const struct wti_value_row *value, double *ret)
{
	union {
		uint64_t bits;
		double number;
	} as;

	as.bits = value->bits;
	switch (value->type) {
	case WT_VALUE_TYPE_FLOAT:
		*ret = as.number;
		return true;
	case WT_VALUE_TYPE_BOOL:
	case WT_VALUE_TYPE_INT:
		*ret = (double)(int64_t)value->bits;
		return true;
	case WTI_VALUE_TENSOR:
		*ret = value->digest.mean;
		return value->digest.count == 1 && !(value->digest.flags & WT_TENSOR_NO_STATISTICS);
	default:
		return false;
	}
}

bool wti_call_as_number(const struct wti_call *call, uint32_t name, int32_t position, double *ret)
{
	const struct wti_value_row *value = wti_call_argument(call, name, position);

	return value && wti_value_as_number(value, ret);
}

uint64_t wti_call_hash(const struct wti_call *call, bool is_return)
{
	const struct wti_value_row *value = NULL;
	uint64_t hash = 0;

	if (call->is_cut)
		return 0;
	while ((value = wti_call_next_tensor(call, is_return, value))) {
		if (value->digest.flags & WT_TENSOR_NO_HASH)
			return 0;
		hash = (hash ^ value->digest.hash) * 0x9e3779b97f4a7c15u + 1;
	}
	return hash;
}
