/* SPDX-License-Identifier: Apache-2.0 */
/* Events of one track become items: see lane.h. */
#include "lane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/grow.h"
#include "inspect/core/library.h"
#include "element.h"
#include "inspect/core/steps.h"
#include "known.h"

#define TEXTS_MAX ((size_t)1 << 20)
#define DEPTH_MAX 1000u
#define PATH_BYTES 1024u
#define SAMPLE_MAX ((size_t)1 << 22) /* reals of one value that are kept */

struct open_call {
	struct wti_item item;
	uint64_t first; /* number of the first item that ends inside */
};

struct wti_side {
	struct wt_cursor *cursor;
	struct wti_word_ids *texts;
	struct wti_item *items; /* a ring would save copying: windows are mostly one item */
	size_t count, capacity;
	size_t bytes;
	struct open_call *open;
	size_t depth, open_capacity;
	uint64_t deeper; /* open calls beyond DEPTH_MAX */
	uint64_t ended_count, left_out;
	int64_t step;
	struct wti_sampled *last; /* that samples may belong to */
	struct wti_sampled_before known;
	bool any_line;
	bool is_over;
	int status;
};

/* ---- Texts ----------------------------------------------------------------------------------- */

void wti_texts_init(struct wti_word_ids *texts)
{
	wti_map_init(&texts->map, TEXTS_MAX);
}

void wti_texts_release(struct wti_word_ids *texts)
{
	wti_map_release(&texts->map);
}

uint32_t wti_texts_id(struct wti_word_ids *texts, const char *text, size_t bytes)
{
	uint64_t *slot;

	if (!bytes)
		return 0;
	slot = wti_map_text(&texts->map, text, bytes);
	if (slot && !*slot)
		*slot = texts->map.count;
	return slot ? (uint32_t)*slot : 0;
}

const char *wti_texts_at(const struct wti_word_ids *texts, uint32_t id)
{
	return id && id <= texts->map.count ? texts->map.entries[id - 1].text : "";
}

static uint32_t id_of(struct wti_side *lane, struct wt_text text)
{
	return wti_texts_id(lane->texts, text.data, text.bytes);
}

/* ---- Items ----------------------------------------------------------------------------------- */

static void item_release(struct wti_item *item)
{
	for (size_t i = 0; i < item->value_count; i++) {
		free(item->values[i].reals);
		free(item->values[i].sketch);
	}
	free(item->values);
}

static void push(struct wti_side *lane, const struct wti_item *item)
{
	int r = wti_grow(&lane->items, lane->count + 1, &lane->capacity, WTI_LANE_ITEMS_MAX + 64);

	lane->ended_count++;
	if (r) {
		struct wti_item gone = *item;

		item_release(&gone);
		lane->status = r == WT_E_NOMEM ? r : lane->status;
		return;
	}
	lane->items[lane->count++] = *item;
	lane->bytes += item->bytes + sizeof(*item);
}

static uint64_t token_of(const struct wti_side *lane, const struct wti_item *item, uint64_t parent)
{
	const char *file = wti_file_name(wti_texts_at(lane->texts, item->file));
	const uint32_t words[] = {item->callee, (uint32_t)XXH3_64bits(file, strlen(file)),
				  lane->any_line ? 0 : item->line, item->is_call};

	return XXH3_64bits_withSeed(words, sizeof(words), parent);
}

static struct wti_sampled *add_value(struct wti_side *lane, struct wti_item *item)
{
	if (item->value_count >= WTI_LANE_VALUES_MAX) {
		lane->left_out++;
		return NULL;
	}
	if (wti_grow_zeroed(&item->values, item->value_count + 1, &item->value_capacity,
			    WTI_LANE_VALUES_MAX)) {
		lane->status = WT_E_NOMEM;
		return NULL;
	}
	item->bytes += sizeof(struct wti_sampled);
	return &item->values[item->value_count++];
}

static struct wti_item *item_of(struct wti_side *lane, uint32_t call)
{
	for (size_t i = lane->depth; i > 0; i--) {
		if (lane->open[i - 1].item.seq == call)
			return &lane->open[i - 1].item;
	}
	return NULL;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void place_of(struct wti_side *lane, const struct wt_event *event, struct wti_item *item)
{
	uint32_t id = (uint32_t)wt_event_u64(event, WT_CALL_BEGIN_FIELD_SITE);
	const struct wt_site *site = id ? wt_reader_site(event->reader, id) : NULL;

	if (!site)
		return;
	item->file = id_of(lane, wt_reader_string(event->reader, site->file));
	item->line = site->line;
}

static uint32_t path_of(struct wti_side *lane, uint32_t callee)
{
	const char *outer =
		lane->depth ? wti_texts_at(lane->texts, lane->open[lane->depth - 1].item.path) : "";
	char path[PATH_BYTES];
	int bytes = snprintf(path, sizeof(path), "%s%s%s", outer, *outer ? " > " : "",
			     wti_texts_at(lane->texts, callee));

	if (bytes < 0 || (size_t)bytes >= sizeof(path))
		return lane->depth ? lane->open[lane->depth - 1].item.path : callee;
	return wti_texts_id(lane->texts, path, (size_t)bytes);
}

const char *wti_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What a library does inside is the doing of the line that called it. */
static void move_out(const struct wti_side *lane, struct wti_item *item)
{
	const struct wti_item *outer = lane->depth ? &lane->open[lane->depth - 1].item : NULL;

	if (!outer || !outer->file || !item->file ||
	    !wti_is_library(wti_texts_at(lane->texts, item->file)))
		return;
	item->file = outer->file;
	item->line = outer->line;
}

static void call_begins(struct wti_side *lane, const struct wt_event *event)
{
	bool is_operator = event->kind->number == WT_KIND_OPERATOR_BEGIN;
	struct open_call *call;

	if (lane->depth >= DEPTH_MAX ||
	    wti_grow(&lane->open, lane->depth + 1, &lane->open_capacity, DEPTH_MAX)) {
		lane->deeper++;
		return;
	}
	call = &lane->open[lane->depth];
	*call = (struct open_call){.first = lane->ended_count};
	call->item.is_call = true;
	call->item.seq = (uint32_t)event->seq;
	call->item.step = lane->step;
	call->item.callee =
		id_of(lane, wt_event_text(event, 0)); /* of both kinds it is the first */
	if (!is_operator) {
		place_of(lane, event, &call->item);
		call->item.is_inner =
			wt_event_u64(event, WT_CALL_BEGIN_FIELD_FLAGS) & WT_CALL_INNER;
		call->item.action = (uint32_t)wt_event_u64(event, WT_CALL_BEGIN_FIELD_ACTION);
	} else if (lane->depth) { /* what runs below a line belongs to it */
		call->item.file = lane->open[lane->depth - 1].item.file;
		call->item.line = lane->open[lane->depth - 1].item.line;
	}
	call->item.path = path_of(lane, call->item.callee);
	call->item.token = token_of(lane, &call->item,
				    lane->depth ? lane->open[lane->depth - 1].item.token : 0);
	move_out(lane, &call->item);
	lane->depth++;
}

static void call_ends(struct wti_side *lane, const struct wt_event *event)
{
	struct open_call *call;

	if (lane->deeper) {
		lane->deeper--;
		return;
	}
	if (!lane->depth)
		return;
	call = &lane->open[--lane->depth];
	call->item.below = (uint32_t)(lane->ended_count - call->first);
	if (event->kind->number == WT_KIND_CALL_END)
		call->item.raised = wt_event_text(event, WT_CALL_END_FIELD_EXCEPTION).bytes != 0;
	push(lane, &call->item);
	lane->last = NULL;
}

/* "net.fc1.weight" */
static uint32_t name_of(struct wti_side *lane, struct wt_text owner, struct wt_text name)
{
	char text[PATH_BYTES];
	int bytes;

	if (!owner.bytes)
		return id_of(lane, name);
	bytes = snprintf(text, sizeof(text), "%.*s%s%.*s", (int)(owner.bytes % 4096), owner.data,
			 name.bytes ? "." : "", (int)(name.bytes % 4096), name.data);
	if (bytes < 0)
		return 0;
	return wti_texts_id(lane->texts, text,
			    (size_t)bytes < sizeof(text) ? (size_t)bytes : sizeof(text) - 1);
}

static void tensor_of(struct wti_side *lane, const struct wt_event *event,
		      struct wti_sampled *value)
{
	*value = (struct wti_sampled){
		.seq = (uint32_t)event->seq,
		.name = name_of(lane, wt_event_text(event, WT_TENSOR_FIELD_OWNER),
				wt_event_text(event, WT_TENSOR_FIELD_NAME)),
		.shape = id_of(lane, wt_event_text(event, WT_TENSOR_FIELD_SHAPE)),
		.dtype = (uint32_t)wt_event_u64(event, WT_TENSOR_FIELD_DTYPE),
		.position = -1,
		.flags = (uint32_t)wt_event_u64(event, WT_TENSOR_FIELD_FLAGS),
		.count = wt_event_u64(event, WT_TENSOR_FIELD_COUNT),
		.hash = wt_event_u64(event, WT_TENSOR_FIELD_HASH),
		.nan = wt_event_u64(event, WT_TENSOR_FIELD_NAN),
		.inf = wt_event_u64(event, WT_TENSOR_FIELD_INF),
		.zeros = wt_event_u64(event, WT_TENSOR_FIELD_ZEROS),
		.min = wt_event_f64(event, WT_TENSOR_FIELD_MIN),
		.max = wt_event_f64(event, WT_TENSOR_FIELD_MAX),
	};
}

/* Its samples may have been read before. */
static void refer(struct wti_side *lane, struct wti_sampled *value)
{
	if (!(value->flags & WT_TENSOR_SAMPLED))
		return;
	if (wti_known_take(&lane->known, value))
		lane->status = WT_E_NOMEM;
	lane->bytes += value->kept_bytes;
}

/* A tensor of no call is an item of its own, told apart by its name. */
static void take_tensor(struct wti_side *lane, const struct wt_event *event)
{
	uint32_t call = (uint32_t)wt_event_u64(event, WT_TENSOR_FIELD_CALL);
	struct wti_item own = {.step = lane->step}, *item = call ? item_of(lane, call) : NULL;
	struct wti_sampled *value = add_value(lane, item ? item : &own);

	lane->last = NULL;
	if (!value)
		return;
	tensor_of(lane, event, value);
	refer(lane, value);
	if (item) {
		value->position = (int32_t)wt_event_i64(event, WT_TENSOR_FIELD_POSITION);
		lane->last = value;
		return;
	}
	own.callee = value->name;
	own.path = value->name;
	own.seq = (uint32_t)event->seq;
	own.token = token_of(lane, &own, 0);
	push(lane, &own);
	if (lane->count)
		lane->last = lane->items[lane->count - 1].values;
}

static void take_number(struct wti_side *lane, struct wti_item *item, uint32_t name,
			int32_t position, double number, const struct wt_event *event)
{
	struct wti_sampled *value = add_value(lane, item);

	if (!value)
		return;
	*value = (struct wti_sampled){.seq = (uint32_t)event->seq,
				      .name = name,
				      .dtype = WT_DTYPE_F64,
				      .position = position,
				      .count = 1,
				      .nan = number != number,
				      .inf = number - number != 0 && number == number,
				      .zeros = number == 0,
				      .min = number,
				      .max = number,
				      .elements = 1,
				      .filled = 1};
	value->hash = XXH3_64bits(&number, sizeof(number));
	value->reals = malloc(sizeof(double));
	if (value->reals)
		value->reals[0] = number;
	else
		lane->status = WT_E_NOMEM;
}

/* A number of no call. */
static void take_named(struct wti_side *lane, const struct wt_event *event, struct wt_text name,
		       double number)
{
	struct wti_item item = {.step = lane->step, .seq = (uint32_t)event->seq};

	item.callee = id_of(lane, name);
	item.path = item.callee;
	item.token = token_of(lane, &item, 1);
	take_number(lane, &item, item.callee, -1, number, event);
	push(lane, &item);
}

static void take_argument(struct wti_side *lane, const struct wt_event *event)
{
	uint32_t call = (uint32_t)wt_event_u64(event, WT_ARGUMENT_FIELD_CALL);
	struct wti_item *item = item_of(lane, call);

	if (wt_event_u64(event, WT_ARGUMENT_FIELD_TYPE) != WT_VALUE_TYPE_FLOAT)
		return;
	if (!call) {
		take_named(lane, event, wt_event_text(event, WT_ARGUMENT_FIELD_NAME),
			   wt_event_f64(event, WT_ARGUMENT_FIELD_VALUE));
		return;
	}
	if (!item)
		return;
	take_number(lane, item, id_of(lane, wt_event_text(event, WT_ARGUMENT_FIELD_NAME)),
		    (int32_t)wt_event_i64(event, WT_ARGUMENT_FIELD_POSITION),
		    wt_event_f64(event, WT_ARGUMENT_FIELD_VALUE), event);
}

static void take_counter(struct wti_side *lane, const struct wt_event *event)
{
	take_named(lane, event, wt_event_text(event, WT_COUNTER_FIELD_NAME),
		   wt_event_f64(event, WT_COUNTER_FIELD_VALUE));
}

static void keep_known(struct wti_side *lane, const struct wti_sampled *value)
{
	if (wti_known_keep(&lane->known, value))
		lane->status = WT_E_NOMEM;
}

/* Samples come in pieces, in order; what does not fit its tensor is not believed. */
static void take_sample(struct wti_side *lane, const struct wt_event *event)
{
	struct wt_text raw = wt_event_text(event, WT_SAMPLE_FIELD_VALUES);
	uint64_t elements = wt_event_u64(event, WT_SAMPLE_FIELD_ELEMENTS);
	uint64_t first = wt_event_u64(event, WT_SAMPLE_FIELD_FIRST);
	struct wti_sampled *value = lane->last;
	struct wti_element element;
	size_t count, reals;

	if (!value || value->seq != (uint32_t)wt_event_u64(event, WT_SAMPLE_FIELD_TENSOR))
		return;
	element = wti_element_of(value->dtype);
	if (!element.bytes || elements > value->count || elements * element.parts > SAMPLE_MAX)
		return;
	count = raw.bytes / element.bytes;
	reals = elements * element.parts;
	if (first * element.parts != value->filled || first + count > elements)
		return;
	if (!value->reals)
		value->reals = malloc(sizeof(double) * (reals ? reals : 1));
	if (!value->reals) {
		lane->status = WT_E_NOMEM;
		return;
	}
	value->elements = (uint32_t)reals;
	wti_element_read(value->dtype, raw.data, count * element.parts,
			 value->reals + value->filled);
	value->filled += (uint32_t)(count * element.parts);
	value->kept_bytes += (uint32_t)(count * element.parts * sizeof(double));
	lane->bytes += count * element.parts * sizeof(double);
	keep_known(lane, value);
}

static void take_sketch(struct wti_side *lane, const struct wt_event *event)
{
	struct wt_text raw = wt_event_text(event, WT_SKETCH_FIELD_VALUES);
	struct wti_sampled *value = lane->last;

	if (!value || value->seq != (uint32_t)wt_event_u64(event, WT_SKETCH_FIELD_TENSOR) ||
	    raw.bytes != WTI_SKETCH_BUCKETS * sizeof(double) || value->sketch)
		return;
	value->sketch = malloc(raw.bytes);
	if (value->sketch)
		memcpy(value->sketch, raw.data, raw.bytes);
	else
		lane->status = WT_E_NOMEM;
	keep_known(lane, value);
}

static void take(struct wti_side *lane, const struct wt_event *event)
{
	switch (event->kind->number) {
	case WT_KIND_CALL_BEGIN:
	case WT_KIND_OPERATOR_BEGIN:
		call_begins(lane, event);
		break;
	case WT_KIND_CALL_END:
	case WT_KIND_OPERATOR_END:
		call_ends(lane, event);
		break;
	case WT_KIND_TENSOR:
		take_tensor(lane, event);
		break;
	case WT_KIND_ARGUMENT:
		take_argument(lane, event);
		break;
	case WT_KIND_COUNTER:
		take_counter(lane, event);
		break;
	case WT_KIND_SAMPLE:
		take_sample(lane, event);
		break;
	case WT_KIND_SKETCH:
		take_sketch(lane, event);
		break;
	case WT_KIND_CONTEXT:
		if (wti_context_key(event) == WTI_CONTEXT_STEP &&
		    wt_event_u64(event, WT_CONTEXT_FIELD_TYPE) == WT_VALUE_TYPE_INT)
			lane->step = wt_event_i64(event, WT_CONTEXT_FIELD_VALUE);
		break;
	}
}

/* ---- The window ------------------------------------------------------------------------------ */

int wti_lane_open(const struct wt_trace *trace, size_t stream, uint32_t track, bool any_line,
		  struct wti_word_ids *texts, struct wti_side **ret_lane, struct wt_err *err)
{
	static const char *const kinds[] = {"call_begin",   "call_end", "tensor",  "argument",
					    "sample",       "sketch",   "context", "operator_begin",
					    "operator_end", "counter"};
	struct wti_side *lane = calloc(1, sizeof(*lane));
	struct wt_query query;
	char name[48];
	int r;

	if (!lane)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	snprintf(name, sizeof(name), "%zu:%u", stream, track);
	wt_query_init(&query);
	query.kinds = kinds;
	query.kind_count = sizeof(kinds) / sizeof(kinds[0]);
	query.track = name;
	lane->texts = texts;
	lane->any_line = any_line;
	lane->step = -1;
	r = wt_cursor_open(trace, &query, &lane->cursor, err);
	if (r) {
		free(lane);
		return r;
	}
	*ret_lane = lane;
	return 0;
}

void wti_lane_free(struct wti_side *lane)
{
	if (!lane)
		return;
	for (size_t i = 0; i < lane->count; i++)
		item_release(&lane->items[i]);
	for (size_t i = 0; i < lane->depth; i++)
		item_release(&lane->open[i].item);
	wti_known_release(&lane->known);
	free(lane->items);
	free(lane->open);
	wt_cursor_free(lane->cursor);
	free(lane);
}

/* One item more than asked for: samples of the last one may still come. */
int wti_lane_fill(struct wti_side *lane, size_t wanted)
{
	struct wt_event event;

	while (!lane->is_over && !lane->status && lane->count <= wanted &&
	       lane->count < WTI_LANE_ITEMS_MAX &&
	       (lane->count < 2 || lane->bytes < WTI_LANE_BYTES_MAX)) {
		/* What is damaged is noted by whoever opened the run: all before it counts. */
		if (wt_cursor_next(lane->cursor, &event, NULL) <= 0)
			lane->is_over = true;
		else
			take(lane, &event);
	}
	return lane->status;
}

size_t wti_lane_count(const struct wti_side *lane)
{
	return lane->count;
}

struct wti_item *wti_lane_at(const struct wti_side *lane, size_t index)
{
	return &lane->items[index];
}

void wti_lane_drop(struct wti_side *lane, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (lane->last >= lane->items[i].values &&
		    lane->last < lane->items[i].values + lane->items[i].value_count)
			lane->last = NULL;
		lane->bytes -= lane->items[i].bytes + sizeof(struct wti_item);
		for (size_t j = 0; j < lane->items[i].value_count; j++)
			lane->bytes -= lane->items[i].values[j].kept_bytes;
		item_release(&lane->items[i]);
	}
	lane->count -= count;
	memmove(lane->items, lane->items + count, lane->count * sizeof(*lane->items));
}

bool wti_lane_ended(const struct wti_side *lane)
{
	return lane->is_over && !lane->count;
}

uint64_t wti_lane_unended(const struct wti_side *lane)
{
	return lane->is_over ? lane->depth : 0;
}

uint64_t wti_lane_left_out(const struct wti_side *lane)
{
	return lane->left_out;
}
