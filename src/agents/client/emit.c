/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points, spans, numbers, lines, context and states. Each function is the same three steps: where
 * am I, what are the names' numbers, emit a record (generated). The four that are called most have
 * a twin for the usual case.
 */
#include "common/agent.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "emit.h"

struct wt_name *wt_name_of(const char *text)
{
	return wti_name_find(text ? text : "", text ? strlen(text) : 0);
}

bool wt_recording(void)
{
	return wti_recording();
}

uint64_t wt_now(void)
{
	return wti_ticks(wti_agent.ring_flags);
}

static __attribute__((noinline)) bool mark_slow(struct wt_name *name, uint64_t value)
{
	const struct wti_here here = wti_here();

	return here.ring &&
	       wti_emit_mark(here, &(struct wti_record_mark){.name = wti_name(here, name),
							     .value = value});
}

bool wt_mark(struct wt_name *name, uint64_t value)
{
	if (wti_likely(wti_fast_mark(name, &(struct wti_record_mark){.value = value})))
		return true;
	return !wti_is_off() && mark_slow(name, value);
}

static __attribute__((noinline)) bool span_begin_slow(struct wt_name *name)
{
	const struct wti_here here = wti_here();

	return here.ring && wti_emit_span_begin(here, &(struct wti_record_span_begin){
							      .name = wti_name(here, name)});
}

bool wt_span_begin(struct wt_name *name)
{
	if (wti_likely(wti_fast_span_begin(name, &(struct wti_record_span_begin){0})))
		return true;
	return !wti_is_off() && span_begin_slow(name);
}

static __attribute__((noinline)) bool span_end_slow(struct wt_name *name)
{
	const struct wti_here here = wti_here();

	return here.ring &&
	       wti_emit_span_end(here, &(struct wti_record_span_end){.name = wti_name(here, name)});
}

bool wt_span_end(struct wt_name *name)
{
	if (wti_likely(wti_fast_span_end(name, &(struct wti_record_span_end){0})))
		return true;
	return !wti_is_off() && span_end_slow(name);
}

static __attribute__((noinline)) bool counter_slow(struct wt_name *name, double value)
{
	const struct wti_here here = wti_here();

	return here.ring &&
	       wti_emit_counter(here, &(struct wti_record_counter){.name = wti_name(here, name),
								   .value = value});
}

bool wt_counter(struct wt_name *name, double value)
{
	if (wti_likely(wti_fast_counter(name, &(struct wti_record_counter){.value = value})))
		return true;
	return !wti_is_off() && counter_slow(name, value);
}

bool wt_counter_unit(struct wt_name *name, struct wt_name *unit, double value)
{
	const struct wti_here here = wti_here();

	return here.ring &&
	       wti_emit_counter(here, &(struct wti_record_counter){.name = wti_name(here, name),
								   .unit = wti_name(here, unit),
								   .value = value});
}

static bool emit_log(struct wti_here here, uint32_t level, const char *text)
{
	struct wti_kept_text kept;

	wti_keep_text(&kept, text);
	return wti_emit_log(here, &(struct wti_record_log){.level = level}, &kept);
}

bool wt_log(uint32_t level, const char *text)
{
	const struct wti_here here = wti_here();

	return here.ring && emit_log(here, level, text);
}

bool wt_logf(uint32_t level, const char *format, ...)
{
	const struct wti_here here = wti_here();
	char text[WTI_TEXT_MAX + 8]; /* more than is kept, so that the cut sees what it cuts */
	va_list values;

	if (!here.ring)
		return false;
	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	return emit_log(here, level, text);
}

/* ---- Context --------------------------------------------------------------------------------- */

static bool emit_context(struct wti_here here, struct wt_name *key, uint32_t type, uint64_t value,
			 const struct wti_kept_text *kept)
{
	struct wti_record_context context = {
		.key = wti_name(here, key), .type = type, .value = value};

	return wti_emit_context(here, &context, kept);
}

bool wt_context_int(struct wt_name *key, int64_t value)
{
	const struct wti_here here = wti_here();

	return here.ring && emit_context(here, key, WT_VALUE_TYPE_INT, (uint64_t)value, NULL);
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

bool wt_context_float(struct wt_name *key, double value)
{
	const struct wti_here here = wti_here();

	return here.ring && emit_context(here, key, WT_VALUE_TYPE_FLOAT, bits_of(value), NULL);
}

bool wt_context_text(struct wt_name *key, const char *value)
{
	const struct wti_here here = wti_here();
	struct wti_kept_text kept;

	if (!here.ring)
		return false;
	wti_keep_text(&kept, value);
	return emit_context(here, key, WT_VALUE_TYPE_TEXT, 0, &kept);
}

bool wt_step(int64_t step)
{
	return wt_context_int(WT_NAME("step"), step);
}

bool wt_epoch(int64_t epoch)
{
	return wt_context_int(WT_NAME("epoch"), epoch);
}

bool wt_stage(const char *stage)
{
	return wt_context_text(WT_NAME("stage"), stage);
}

bool wt_rank(uint32_t rank, uint32_t world, uint32_t local)
{
	const struct wti_here here = wti_here();

	return here.ring &&
	       wti_emit_rank(here, &(struct wti_record_rank){
					   .rank = rank, .world = world, .local = local});
}

/* ---- States ---------------------------------------------------------------------------------- */

struct state {
	uint32_t type; /* enum wt_value_type */
	uint64_t old_value;
	uint64_t new_value;
	const struct wti_kept_text *kept;
};

static bool emit_state(struct wti_here here, struct wt_name *owner, struct wt_name *attribute,
		       const struct state *state)
{
	struct wti_record_state changed = {.owner = wti_name(here, owner),
					   .attribute = wti_name(here, attribute),
					   .type = state->type,
					   .old = state->old_value,
					   .new_ = state->new_value};

	return wti_emit_state(here, &changed, state->kept);
}

bool wt_state_int(struct wt_name *owner, struct wt_name *attribute, int64_t old_value,
		  int64_t new_value)
{
	const struct wti_here here = wti_here();
	const struct state state = {WT_VALUE_TYPE_INT, (uint64_t)old_value, (uint64_t)new_value};

	return here.ring && emit_state(here, owner, attribute, &state);
}

bool wt_state_float(struct wt_name *owner, struct wt_name *attribute, double old_value,
		    double new_value)
{
	const struct wti_here here = wti_here();
	const struct state state = {WT_VALUE_TYPE_FLOAT, bits_of(old_value), bits_of(new_value)};

	return here.ring && emit_state(here, owner, attribute, &state);
}

bool wt_state_text(struct wt_name *owner, struct wt_name *attribute, const char *new_value)
{
	const struct wti_here here = wti_here();
	struct wti_kept_text kept;
	const struct state state = {WT_VALUE_TYPE_TEXT, 0, 0, &kept};

	if (!here.ring)
		return false;
	wti_keep_text(&kept, new_value);
	return emit_state(here, owner, attribute, &state);
}
