/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values are aligned by their names and steps, not by how often they were emitted: at some levels
 * an agent reads a value in some steps only. A name that several processes of a run emit, as ranks
 * do, has no order between them, and is not compared.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/text.h"
#include "inspect/core/steps.h"
#include "parting.h"
#include "trace/query.h"

#define MOMENTS_MAX ((size_t)1 << 20)
#define STREAMS_MAX ((size_t)1 << 20)
#define NAME_BYTES 4096u
#define ROWS_MAX 12u

/* All that was emitted under one name in one step. */
struct moment {
	int64_t step;
	size_t stream;
	bool is_mixed; /* of several processes */
	uint64_t count;
	uint64_t hash; /* of all values in their order */
	uint64_t type;
	uint64_t first, last;
};

struct values {
	struct wti_map index; /* "step name": moment plus one */
	struct moment *moments;
	size_t count, capacity;
	struct wti_map steps; /* stream: its step plus two, 0: none yet */
	struct wti_buf key;
	bool is_cut;
};

static void init(struct values *values)
{
	*values = (struct values){0};
	wti_map_init(&values->index, MOMENTS_MAX);
	wti_map_init(&values->steps, STREAMS_MAX);
	wti_buf_init(&values->key, NAME_BYTES);
}

static void release(struct values *values)
{
	wti_map_release(&values->index);
	wti_map_release(&values->steps);
	wti_buf_release(&values->key);
	free(values->moments);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int take_context(struct values *values, const struct wt_event *event)
{
	uint64_t *slot;

	if (wti_context_key(event) != WTI_CONTEXT_STEP ||
	    wt_event_u64(event, WT_CONTEXT_FIELD_TYPE) != WT_VALUE_TYPE_INT)
		return 0;
	slot = wti_map_number(&values->steps, event->stream);
	if (!slot)
		return WT_E_NOMEM;
	*slot = wt_event_u64(event, WT_CONTEXT_FIELD_VALUE) + 2;
	return 0;
}

static int64_t step_of(const struct values *values, size_t stream)
{
	const uint64_t *slot = wti_map_find_number(&values->steps, stream);

	return slot && *slot ? (int64_t)(*slot - 2) : WTI_PART_BEFORE;
}

static struct moment *moment_of(struct values *values, const struct wt_event *event, int64_t step)
{
	uint64_t *slot =
		wti_map_text(&values->index, (const char *)values->key.data, values->key.bytes);

	if (!slot)
		return NULL;
	if (*slot)
		return &values->moments[*slot - 1];
	if (wti_grow(&values->moments, values->count + 1, &values->capacity, MOMENTS_MAX))
		return NULL;
	values->moments[values->count] = (struct moment){.step = step, .stream = event->stream};
	*slot = ++values->count;
	return &values->moments[*slot - 1];
}

static int add(struct values *values, const struct wt_event *event, uint64_t type, uint64_t bits,
	       int64_t step)
{
	struct moment *moment;

	if (wti_buf_status(&values->key)) { /* longer than any name that a person gives */
		wti_buf_clear(&values->key);
		return 0;
	}
	moment = moment_of(values, event, step);
	if (!moment && values->index.count >= MOMENTS_MAX) {
		values->is_cut = true;
		return 0;
	}
	if (!moment)
		return WT_E_NOMEM;
	if (!moment->count++) {
		moment->type = type;
		moment->first = bits;
	}
	moment->last = bits;
	moment->is_mixed |= moment->stream != event->stream;
	moment->hash = XXH3_64bits_withSeed(&bits, sizeof(bits), moment->hash + type);
	return 0;
}

static int take_counter(struct values *values, const struct wt_event *event)
{
	struct wt_text name = wt_event_text(event, WT_COUNTER_FIELD_NAME);
	int64_t step = step_of(values, event->stream);

	wti_buf_clear(&values->key);
	wti_buf_printf(&values->key, "%" PRId64 " ", step);
	wti_buf_append(&values->key, name.data, name.bytes);
	return add(values, event, WT_VALUE_TYPE_FLOAT, wt_event_u64(event, WT_COUNTER_FIELD_VALUE),
		   step);
}

/* Random generators that are neither seeded nor used differ in every run: they are left out. */
static int take_state(struct values *values, const struct wt_event *event)
{
	struct wt_text owner = wt_event_text(event, WT_STATE_FIELD_OWNER);
	struct wt_text name = wt_event_text(event, WT_STATE_FIELD_ATTRIBUTE);
	uint64_t type = wt_event_u64(event, WT_STATE_FIELD_TYPE);
	int64_t step = step_of(values, event->stream);

	if ((type != WT_VALUE_TYPE_INT && type != WT_VALUE_TYPE_FLOAT &&
	     type != WT_VALUE_TYPE_BOOL && type != WT_VALUE_TYPE_HASH) ||
	    (owner.bytes == 6 && !memcmp(owner.data, "random", 6)))
		return 0;
	wti_buf_clear(&values->key);
	wti_buf_printf(&values->key, "%" PRId64 " ", step);
	wti_buf_append(&values->key, owner.data, owner.bytes);
	wti_buf_byte(&values->key, '.');
	wti_buf_append(&values->key, name.data, name.bytes);
	return add(values, event, type, wt_event_u64(event, WT_STATE_FIELD_NEW), step);
}

static int take(struct values *values, const struct wt_event *event)
{
	switch (event->kind->number) {
	case WT_KIND_CONTEXT:
		return take_context(values, event);
	case WT_KIND_COUNTER:
		return take_counter(values, event);
	case WT_KIND_STATE:
		return take_state(values, event);
	default:
		return 0;
	}
}

/* What is damaged has been noted by whoever opened the run; all before it is compared. */
static int read_values(const struct wt_trace *trace, struct values *values, struct wt_err *err)
{
	static const char *const kinds[] = {"context", "counter", "state", NULL};
	struct wt_cursor *cursor;
	struct wt_event event;
	int r = wti_cursor_of(trace, kinds, NULL, WT_ALL_FIELDS, &cursor, err);

	if (r)
		return r;
	while (!r && wt_cursor_next(cursor, &event, NULL) > 0)
		r = take(values, &event);
	wt_cursor_free(cursor);
	return r ? wti_err(err, r, "out of memory") : 0;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* The same value of the same step in the other run; NULL: it cannot be compared. */
static const struct moment *partner(const struct values *b, const struct wti_map_entry *entry,
				    const struct moment *a)
{
	const uint64_t *slot = wti_map_find_text(&b->index, entry->text, entry->bytes);
	const struct moment *other = slot && *slot ? &b->moments[*slot - 1] : NULL;

	return other && !other->is_mixed && !a->is_mixed && other->count == a->count ? other : NULL;
}

static void find(const struct values *a, const struct values *b, struct wti_parting *parting)
{
	for (size_t i = 0; i < a->index.count; i++) {
		const struct wti_map_entry *entry = &a->index.entries[i];
		const struct moment *mine = entry->value ? &a->moments[entry->value - 1] : NULL;
		const struct moment *other = mine ? partner(b, entry, mine) : NULL;

		parting->compared += other != NULL;
		if (!other || other->hash == mine->hash)
			continue;
		if (parting->is_parted && mine->step > parting->step)
			continue;
		if (!parting->is_parted || mine->step < parting->step)
			parting->count = 0;
		parting->is_parted = true;
		parting->step = mine->step;
		parting->count++;
	}
}

static void add_bits(struct wt_table *table, uint64_t type, uint64_t bits)
{
	char text[40];
	double number;
	int bytes;

	memcpy(&number, &bits, sizeof(number));
	if (type == WT_VALUE_TYPE_FLOAT)
		bytes = snprintf(text, sizeof(text), "%.9g", number);
	else if (type == WT_VALUE_TYPE_HASH)
		bytes = snprintf(text, sizeof(text), "%016" PRIx64, bits);
	else
		bytes = snprintf(text, sizeof(text), "%" PRId64, (int64_t)bits);
	wt_table_text(table, text, (size_t)bytes);
}

/* Those that differ from the step's beginning on come first: they are nearer to the cause. */
static void fill(const struct values *a, const struct values *b, const struct wti_parting *parting,
		 bool is_first, struct wt_table *table)
{
	for (size_t i = 0; i < a->index.count && table->row_count < ROWS_MAX; i++) {
		const struct wti_map_entry *entry = &a->index.entries[i];
		const struct moment *mine = entry->value ? &a->moments[entry->value - 1] : NULL;
		const struct moment *other = mine ? partner(b, entry, mine) : NULL;
		const char *name = strchr(entry->text, ' ');

		if (!other || other->hash == mine->hash || mine->step != parting->step || !name ||
		    (mine->first != other->first) != is_first)
			continue;
		wt_table_row(table);
		wt_table_number(table, (double)mine->step);
		wt_table_text(table, name + 1, entry->bytes - (size_t)(name + 1 - entry->text));
		add_bits(table, mine->type, is_first ? mine->first : mine->last);
		add_bits(table, other->type, is_first ? other->first : other->last);
	}
}

static void show(const struct values *a, const struct values *b, const struct wti_parting *parting,
		 struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "parting", "first values that differ");

	wt_table_column(table, "step", "step", WT_CELL_NUMBER);
	wt_table_column(table, "name", "value", WT_CELL_TEXT);
	wt_table_column(table, "a", "in A", WT_CELL_TEXT);
	wt_table_column(table, "b", "in B", WT_CELL_TEXT);
	if (parting->is_parted) {
		fill(a, b, parting, true, table);
		fill(a, b, parting, false, table);
	}
	if (a->is_cut || b->is_cut)
		wt_result_note(result,
			       "the runs have more values than can be compared step by step: "
			       "only the first %zu of each were",
			       MOMENTS_MAX);
}

int wti_part(const struct wt_trace *a, const struct wt_trace *b, struct wt_result *result,
	     struct wti_parting *ret_parting, struct wt_err *err)
{
	struct wti_parting parting = {.step = WTI_PART_BEFORE};
	struct values mine, other;
	int r;

	init(&mine);
	init(&other);
	r = read_values(a, &mine, err);
	r = r ? r : read_values(b, &other, err);
	if (!r) {
		find(&mine, &other, &parting);
		show(&mine, &other, &parting, result);
		*ret_parting = parting;
	}
	release(&mine);
	release(&other);
	return r;
}
