/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points, spans, numbers, lines, context and states. Each function is the same four steps: where am
 * I, what are the names' numbers, open a record, fill and commit it. The four that are called most
 * have a twin for the usual case.
 */
#include "common/agent.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

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
	struct wti_record_mark *record;
	uint32_t id;

	if (!here.ring)
		return false;
	id = wti_name(here, name);
	record = wti_open(here, WT_KIND_MARK, sizeof(*record));
	if (!record)
		return false;
	record->name = id;
	record->flags = 0;
	record->value = value;
	return wti_commit(here, sizeof(*record));
}

bool wt_mark(struct wt_name *name, uint64_t value)
{
	struct wti_record_mark *record;
	struct wti_fast fast;

	record = wti_fast_open(&fast, name, WT_KIND_MARK, sizeof(*record));
	if (wti_unlikely(!record))
		return !wti_is_off() && mark_slow(name, value);
	record->name = fast.id;
	record->flags = 0;
	record->value = value;
	return wti_fast_commit(&fast, sizeof(*record));
}

static __attribute__((noinline)) bool span_begin_slow(struct wt_name *name)
{
	const struct wti_here here = wti_here();
	struct wti_record_span_begin *record;
	uint32_t id;

	if (!here.ring)
		return false;
	id = wti_name(here, name);
	record = wti_open(here, WT_KIND_SPAN_BEGIN, sizeof(*record));
	if (!record)
		return false;
	record->name = id;
	record->flags = 0;
	return wti_commit(here, sizeof(*record));
}

bool wt_span_begin(struct wt_name *name)
{
	struct wti_record_span_begin *record;
	struct wti_fast fast;

	record = wti_fast_open(&fast, name, WT_KIND_SPAN_BEGIN, sizeof(*record));
	if (wti_unlikely(!record))
		return !wti_is_off() && span_begin_slow(name);
	record->name = fast.id;
	record->flags = 0;
	return wti_fast_commit(&fast, sizeof(*record));
}

static __attribute__((noinline)) bool span_end_slow(struct wt_name *name)
{
	const struct wti_here here = wti_here();
	struct wti_record_span_end *record;
	uint32_t id;

	if (!here.ring)
		return false;
	id = wti_name(here, name);
	record = wti_open(here, WT_KIND_SPAN_END, sizeof(*record));
	if (!record)
		return false;
	record->name = id;
	record->flags = 0;
	return wti_commit(here, sizeof(*record));
}

bool wt_span_end(struct wt_name *name)
{
	struct wti_record_span_end *record;
	struct wti_fast fast;

	record = wti_fast_open(&fast, name, WT_KIND_SPAN_END, sizeof(*record));
	if (wti_unlikely(!record))
		return !wti_is_off() && span_end_slow(name);
	record->name = fast.id;
	record->flags = 0;
	return wti_fast_commit(&fast, sizeof(*record));
}

static __attribute__((noinline)) bool counter_slow(struct wt_name *name, double value)
{
	const struct wti_here here = wti_here();
	struct wti_record_counter *record;
	uint32_t id;

	if (!here.ring)
		return false;
	id = wti_name(here, name);
	record = wti_open(here, WT_KIND_COUNTER, sizeof(*record));
	if (!record)
		return false;
	record->name = id;
	record->unit = 0;
	record->value = value;
	return wti_commit(here, sizeof(*record));
}

bool wt_counter(struct wt_name *name, double value)
{
	struct wti_record_counter *record;
	struct wti_fast fast;

	record = wti_fast_open(&fast, name, WT_KIND_COUNTER, sizeof(*record));
	if (wti_unlikely(!record))
		return !wti_is_off() && counter_slow(name, value);
	record->name = fast.id;
	record->unit = 0;
	record->value = value;
	return wti_fast_commit(&fast, sizeof(*record));
}

bool wt_counter_unit(struct wt_name *name, struct wt_name *unit, double value)
{
	const struct wti_here here = wti_here();
	struct wti_record_counter *record;
	uint32_t ids[2];

	if (!here.ring)
		return false;
	ids[0] = wti_name(here, name);
	ids[1] = wti_name(here, unit);
	record = wti_open(here, WT_KIND_COUNTER, sizeof(*record));
	if (!record)
		return false;
	record->name = ids[0];
	record->unit = ids[1];
	record->value = value;
	return wti_commit(here, sizeof(*record));
}

static bool emit_log(struct wti_here here, uint32_t level, const char *text)
{
	struct wti_record_log *record;
	struct wti_kept_text kept;
	uint32_t bytes;

	wti_keep_text(&kept, text);
	bytes = (uint32_t)sizeof(*record) + wti_round8(kept.bytes);
	record = wti_open(here, WT_KIND_LOG, bytes);
	if (!record)
		return false;
	record->level = level;
	record->text_bytes = kept.bytes;
	wti_put_text(record + 1, &kept);
	return wti_commit(here, bytes);
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
	struct wti_record_context *record;
	uint32_t bytes = (uint32_t)sizeof(*record) + wti_round8(kept ? kept->bytes : 0);
	uint32_t id = wti_name(here, key);

	record = wti_open(here, WT_KIND_CONTEXT, bytes);
	if (!record)
		return false;
	record->key = id;
	record->type = type;
	record->value = value;
	record->text_bytes = kept ? kept->bytes : 0;
	if (kept)
		wti_put_text(record + 1, kept);
	return wti_commit(here, bytes);
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
	struct wti_record_rank *record;

	if (!here.ring)
		return false;
	record = wti_open(here, WT_KIND_RANK, sizeof(*record));
	if (!record)
		return false;
	record->rank = rank;
	record->world = world;
	record->local = local;
	record->group = 0;
	return wti_commit(here, sizeof(*record));
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
	struct wti_record_state *record;
	uint32_t text_bytes = state->kept ? state->kept->bytes : 0;
	uint32_t bytes = (uint32_t)sizeof(*record) + wti_round8(text_bytes);
	uint32_t ids[2] = {wti_name(here, owner), wti_name(here, attribute)};

	record = wti_open(here, WT_KIND_STATE, bytes);
	if (!record)
		return false;
	record->owner = ids[0];
	record->attribute = ids[1];
	record->type = state->type;
	record->flags = 0;
	record->old = state->old_value;
	record->new_ = state->new_value;
	record->text_bytes = text_bytes;
	if (state->kept)
		wti_put_text(record + 1, state->kept);
	return wti_commit(here, bytes);
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
