/* SPDX-License-Identifier: Apache-2.0 */
/* Context events of a stream become intervals; whoever asks finds them by bisection. */
#include "context.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define TRACKS_MAX ((size_t)1 << 20)

struct change {
	uint64_t ticks;
	uint64_t seq;
	uint64_t track;
	bool matches;
};

struct changes {
	struct change *items;
	size_t count;
	size_t capacity;
};

void wti_context_release(struct wti_context *context)
{
	for (size_t i = 0; i < context->track_count; i++)
		free(context->of_track[i].items);
	free(context->of_track);
	free(context->of_stream.items);
	wti_map_release(&context->tracks);
	*context = (struct wti_context){0};
}

static int add_change(struct changes *changes, const struct change *change)
{
	if (wti_grow(&changes->items, changes->count + 1, &changes->capacity, WTI_NO_CEILING))
		return WT_E_NOMEM;
	changes->items[changes->count++] = *change;
	return 0;
}

/* "3", or "3-5", which no number is. */
static bool is_integer(int64_t have, const char *value)
{
	char *end;
	long long first = strtoll(value, &end, 10), last = first;

	if (end == value)
		return false;
	if (*end == '-') {
		const char *second = end + 1;

		last = strtoll(second, &end, 10);
		if (end == second)
			return false;
	}
	return !*end && have >= first && have <= last;
}

/* Whether row `row` sets the variable to `value`, whatever its type. */
static bool is_value(const struct wt_batch *batch, uint32_t row, const char *value)
{
	uint64_t bits = batch->values[WT_CONTEXT_FIELD_VALUE][row];
	const uint32_t *text_at = batch->text_at[WT_CONTEXT_FIELD_TEXT];
	uint32_t bytes = text_at[row + 1] - text_at[row];
	char *end;
	double have;

	switch (batch->values[WT_CONTEXT_FIELD_TYPE][row]) {
	case WT_VALUE_TYPE_INT:
		return is_integer((int64_t)bits, value);
	case WT_VALUE_TYPE_BOOL:
		return !strcmp(bits ? "true" : "false", value);
	case WT_VALUE_TYPE_FLOAT:
		memcpy(&have, &bits, sizeof(have));
		return strtod(value, &end) == have && end != value && !*end;
	default:
		return strlen(value) == bytes &&
		       !memcmp(batch->text[WT_CONTEXT_FIELD_TEXT] + text_at[row], value, bytes);
	}
}

static int take_batch(struct changes *changes, const struct wt_batch *batch, const char *key,
		      const char *value)
{
	size_t key_bytes = strlen(key);
	int status = 0;

	for (uint32_t i = 0; i < batch->rows && !status; i++) {
		struct wt_text name = wt_reader_string(
			batch->reader, (uint32_t)batch->values[WT_CONTEXT_FIELD_KEY][i]);
		struct change change = {batch->time[i], batch->seq[i], batch->track[i], false};

		if (name.bytes != key_bytes || memcmp(name.data, key, key_bytes))
			continue;
		change.matches = is_value(batch, i, value);
		status = add_change(changes, &change);
	}
	return status;
}

static int by_time(const void *a, const void *b)
{
	const struct change *x = a;
	const struct change *y = b;

	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int apply(struct wti_intervals *intervals, const struct change *change)
{
	if (change->matches == intervals->open)
		return 0;
	intervals->open = change->matches;
	if (!change->matches) {
		intervals->items[intervals->count - 1].to = change->ticks;
		return 0;
	}
	if (wti_grow(&intervals->items, intervals->count + 1, &intervals->capacity, WTI_NO_CEILING))
		return WT_E_NOMEM;
	intervals->items[intervals->count++] = (struct wti_interval){change->ticks, UINT64_MAX};
	return 0;
}

static struct wti_intervals *intervals_of(struct wti_context *context, uint64_t track)
{
	uint64_t *slot = wti_map_number(&context->tracks, track);

	if (!slot)
		return NULL;
	if (*slot)
		return &context->of_track[*slot - 1];
	if (wti_grow(&context->of_track, context->track_count + 1, &context->track_capacity,
		     TRACKS_MAX))
		return NULL;
	context->of_track[context->track_count] = (struct wti_intervals){0};
	*slot = ++context->track_count;
	return &context->of_track[*slot - 1];
}

static int apply_all(struct wti_context *context, struct changes *changes)
{
	int status = 0;

	if (changes->count)
		qsort(changes->items, changes->count, sizeof(*changes->items), by_time);
	for (size_t i = 0; i < changes->count && !status; i++) {
		struct wti_intervals *of_track = intervals_of(context, changes->items[i].track);

		if (!of_track)
			return WT_E_NOMEM;
		status = apply(of_track, &changes->items[i]);
		if (!status)
			status = apply(&context->of_stream, &changes->items[i]);
	}
	return status;
}

int wti_context_read(struct wti_context *context, const struct wt_reader *reader, const char *key,
		     const char *value)
{
	struct wt_batch batch = {0};
	struct changes changes = {0};
	int status = 0;

	*context = (struct wti_context){0};
	wti_map_init(&context->tracks, TRACKS_MAX);
	for (size_t i = 0; i < wt_reader_block_count(reader) && !status; i++) {
		if (wt_reader_block(reader, i)->kind != WT_KIND_CONTEXT)
			continue;
		status = wt_reader_decode(reader, i, WT_ALL_FIELDS, &batch, NULL);
		if (status == WT_E_NOMEM)
			break;
		/* A damaged block, or a context of another shape, is as good as none. */
		if (status || batch.kind->field_count <= WT_CONTEXT_FIELD_TEXT ||
		    !batch.text_at[WT_CONTEXT_FIELD_TEXT]) {
			status = 0;
			continue;
		}
		status = take_batch(&changes, &batch, key, value);
	}
	if (!status)
		status = apply_all(context, &changes);
	free(changes.items);
	wt_batch_release(&batch);
	return status;
}

/* The last interval that begins at or before `ticks`, or NULL. */
static const struct wti_interval *interval_at(const struct wti_intervals *intervals, uint64_t ticks)
{
	size_t low = 0;
	size_t high = intervals->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (intervals->items[middle].from <= ticks)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &intervals->items[low - 1] : NULL;
}

static bool holds(const struct wti_intervals *intervals, uint64_t ticks)
{
	const struct wti_interval *interval = interval_at(intervals, ticks);

	return interval && (ticks < interval->to || interval->to == UINT64_MAX);
}

bool wti_context_holds(const struct wti_context *context, uint64_t track, uint64_t ticks)
{
	const uint64_t *slot = wti_map_find_number(&context->tracks, track);

	return holds(slot ? &context->of_track[*slot - 1] : &context->of_stream, ticks);
}

static bool overlaps(const struct wti_intervals *intervals, uint64_t from, uint64_t to)
{
	const struct wti_interval *interval = interval_at(intervals, to);

	return interval && (interval->to > from || interval->to == UINT64_MAX);
}

bool wti_context_overlaps(const struct wti_context *context, uint64_t from, uint64_t to)
{
	if (overlaps(&context->of_stream, from, to))
		return true;
	for (size_t i = 0; i < context->track_count; i++) {
		if (overlaps(&context->of_track[i], from, to))
			return true;
	}
	return false;
}
