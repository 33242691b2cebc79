/* SPDX-License-Identifier: Apache-2.0 */
/* Events of one track become what it computed: see flow.h. */
#include "flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/grow.h"
#include "inspect/digits/lane.h"

#define PATH_BYTES 1024u
#define OBJECTS_MAX ((size_t)1 << 20)
#define ITEMS_MAX (4 * WTI_FLOW_WINDOW) /* with what is dropped and not yet moved away */

struct wti_flow {
	struct wt_cursor *cursor;
	struct wti_symbols symbols;
	struct wti_calls calls;
	const struct wt_reader *reader;
	struct wti_map made;        /* symbol of an object: the site that made it */
	struct wti_computed *items; /* from `first` on */
	size_t first, count, capacity;
	bool is_over;
	int status;
};

/* ---- Names ----------------------------------------------------------------------------------- */

const char *wti_flow_text(const struct wti_flow *flow, uint32_t symbol)
{
	return wti_symbol_text(&flow->symbols, symbol);
}

static uint64_t mix(uint64_t seed, const char *text)
{
	return XXH3_64bits_withSeed(text, strlen(text), seed);
}

static uint64_t mix_number(uint64_t seed, uint64_t number)
{
	return XXH3_64bits_withSeed(&number, sizeof(number), seed);
}

/* "Net.forward > linear" */
static uint32_t path_of(struct wti_flow *flow, uint32_t outer, uint32_t callee)
{
	const char *around = wti_flow_text(flow, outer);
	char path[PATH_BYTES];
	int bytes = snprintf(path, sizeof(path), "%s%s%s", around, *around ? " > " : "",
			     wti_flow_text(flow, callee));

	if (bytes < 0 || (size_t)bytes >= sizeof(path))
		return outer;
	return wti_symbol(&flow->symbols, path, (size_t)bytes);
}

static const struct wt_site *site_of(const struct wti_flow *flow, const struct wti_call *call)
{
	return call->site ? wt_reader_site(flow->reader, call->site) : NULL;
}

/* ---- Tokens ---------------------------------------------------------------------------------- */

static uint64_t line_token(const struct wti_flow *flow, const struct wti_call *call, uint64_t outer)
{
	const struct wt_site *site = site_of(flow, call);
	struct wt_text file =
		site ? wt_reader_string(flow->reader, site->file) : (struct wt_text){"", 0};
	uint64_t token = mix(outer, wti_flow_text(flow, call->callee));

	/* A file is known by its name: another checkout has it in another folder. */
	token = mix(token, file.bytes ? wti_file_name(file.data) : "");
	return mix_number(token, site ? site->line : 0);
}

static uint64_t shapes_token(const struct wti_flow *flow, const struct wti_call *call,
			     uint64_t token)
{
	for (uint32_t i = 0; i < call->value_count; i++)
		if (call->values[i].type == WTI_VALUE_TENSOR && call->values[i].position >= 0)
			token = mix(token, wti_flow_text(flow, call->values[i].digest.shape));
	return mix_number(token, call->value_count);
}

static void make_tokens(const struct wti_flow *flow, const struct wti_call *call,
			const struct wti_call *parent, struct wti_computed *item)
{
	const char *callee = wti_flow_text(flow, call->callee);

	item->tokens[WTI_LIKE_NAME] = mix(item->kind, callee);
	item->tokens[WTI_LIKE_CALLEE] = mix(
		mix(item->tokens[WTI_LIKE_NAME], parent ? wti_flow_text(flow, parent->callee) : ""),
		wti_flow_text(flow, call->object));
	item->tokens[WTI_LIKE_LINE] = call->tag;
	item->tokens[WTI_LIKE_SHAPES] = shapes_token(flow, call, call->tag);
}

/* ---- Items ----------------------------------------------------------------------------------- */

static void push(struct wti_flow *flow, const struct wti_computed *item,
		 const struct wti_value_row *values, uint32_t count)
{
	struct wti_value_row *copy = malloc(sizeof(*copy) * (count ? count : 1));
	int r = copy ? wti_grow(&flow->items, flow->first + flow->count + 1, &flow->capacity,
				ITEMS_MAX)
		     : WT_E_NOMEM;

	if (r) {
		free(copy);
		flow->status = r;
		return;
	}
	if (count)
		memcpy(copy, values, sizeof(*copy) * count);
	flow->items[flow->first + flow->count] = *item;
	flow->items[flow->first + flow->count].values = copy;
	flow->items[flow->first + flow->count++].value_count = count;
}

static void set_place(struct wti_flow *flow, struct wti_computed *item, uint32_t id)
{
	const struct wt_site *site = id ? wt_reader_site(flow->reader, id) : NULL;

	if (!site)
		return;
	item->file = wti_symbol(&flow->symbols, wt_reader_string(flow->reader, site->file).data,
				wt_reader_string(flow->reader, site->file).bytes);
	item->line = site->line;
}

/* What a library does inside is the doing of the line that called it. */
static void find_place(struct wti_flow *flow, struct wti_computed *item,
		       const struct wti_call_track *track)
{
	for (uint32_t i = track->open_count; i-- > 0;) {
		set_place(flow, item, track->open[i].site);
		if (item->file && !wti_is_library(wti_flow_text(flow, item->file)))
			return;
	}
}

static void begun(void *self, struct wti_call *call, const struct wti_call *parent)
{
	struct wti_flow *flow = self;

	call->tag = line_token(flow, call, parent ? parent->tag : 0);
	call->what = path_of(flow, parent ? parent->what : WTI_SYMBOL_NONE, call->callee);
}

static void ended(void *self, struct wti_call *call, const struct wti_call *parent)
{
	struct wti_flow *flow = self;
	struct wti_computed item = {
		.kind = call->is_operator ? WTI_COMPUTED_OPERATOR : WTI_COMPUTED_CALL,
		.callee = call->callee,
		.object = call->object,
		.stage = call->scope.stage,
		.action = call->action,
		.depth = call->depth,
		.step = call->scope.step,
		.time_ns = call->end_ns,
		.raised = call->exception != WTI_SYMBOL_NONE,
		.is_cut = call->is_cut,
	};

	if (!call->is_announced) /* its end came before anything else */
		begun(self, call, parent);
	item.path = call->what;
	make_tokens(flow, call, parent, &item);
	find_place(flow, &item, &flow->calls.tracks[0]);
	push(flow, &item, call->values, call->value_count);
}

/* ---- Values of no call ----------------------------------------------------------------------- */

/* "Net.fc1.weight" */
static uint32_t name_of(struct wti_flow *flow, struct wt_text owner, struct wt_text name)
{
	char text[PATH_BYTES];
	int bytes = snprintf(text, sizeof(text), "%.*s%s%.*s", (int)(owner.bytes % PATH_BYTES),
			     owner.data, owner.bytes && name.bytes ? "." : "",
			     (int)(name.bytes % PATH_BYTES), name.data);

	if (bytes < 0)
		return WTI_SYMBOL_NONE;
	return wti_symbol(&flow->symbols, text,
			  (size_t)bytes < sizeof(text) ? (size_t)bytes : sizeof(text) - 1);
}

static void push_value(struct wti_flow *flow, const struct wt_event *event, uint32_t name,
		       uint32_t owner, const struct wti_value_row *value,
		       const struct wti_call *inside)
{
	struct wti_scope scope = wti_steps_scope(&flow->calls.steps, event->stream, event->track);
	struct wti_computed item = {
		.kind = WTI_COMPUTED_VALUE,
		.callee = name,
		.path = path_of(flow, inside ? inside->what : WTI_SYMBOL_NONE, name),
		.stage = scope.stage,
		.depth = inside ? inside->depth + 1 : 0,
		.step = scope.step,
		.time_ns = event->time_ns,
		.is_random = !strncmp(wti_flow_text(flow, name), "random.", 7),
	};
	uint64_t token = mix(WTI_COMPUTED_VALUE, wti_flow_text(flow, name));

	for (size_t i = 0; i < WTI_LIKENESSES; i++)
		item.tokens[i] = token;
	if (inside)
		find_place(flow, &item, &flow->calls.tracks[0]);
	else /* what is first read of an object is what its maker left there */
		set_place(flow, &item, (uint32_t)wti_map_get(&flow->made, owner));
	push(flow, &item, value, 1);
}

static void take_state(struct wti_flow *flow, const struct wt_event *event,
		       const struct wti_call *inside)
{
	const struct wti_value_row value = {
		.position = -1,
		.type = (uint32_t)wt_event_u64(event, WT_STATE_FIELD_TYPE),
		.bits = wt_event_u64(event, WT_STATE_FIELD_NEW),
		.text = wti_symbol_of(&flow->symbols, event, WT_STATE_FIELD_TEXT),
	};

	push_value(flow, event,
		   name_of(flow, wt_event_text(event, WT_STATE_FIELD_OWNER),
			   wt_event_text(event, WT_STATE_FIELD_ATTRIBUTE)),
		   wti_symbol_of(&flow->symbols, event, WT_STATE_FIELD_OWNER), &value, inside);
}

static void take_counter(struct wti_flow *flow, const struct wt_event *event,
			 const struct wti_call *inside)
{
	const struct wti_value_row value = {
		.position = -1,
		.type = WT_VALUE_TYPE_FLOAT,
		.bits = wt_event_u64(event, WT_COUNTER_FIELD_VALUE),
	};

	push_value(
		flow, event,
		name_of(flow, (struct wt_text){"", 0}, wt_event_text(event, WT_COUNTER_FIELD_NAME)),
		WTI_SYMBOL_NONE, &value, inside);
}

static void take_tensor(struct wti_flow *flow, const struct wt_event *event,
			const struct wti_call *inside)
{
	struct wti_value_row value = {.position = -1, .type = WTI_VALUE_TENSOR};

	wti_digest_read(&value.digest, &flow->symbols, event);
	push_value(flow, event,
		   name_of(flow, wt_event_text(event, WT_TENSOR_FIELD_OWNER),
			   wt_event_text(event, WT_TENSOR_FIELD_NAME)),
		   wti_symbol_of(&flow->symbols, event, WT_TENSOR_FIELD_OWNER), &value, inside);
}

static void take_event(void *self, const struct wt_event *event, const struct wti_call *inside)
{
	struct wti_flow *flow = self;

	switch (event->kind->number) {
	case WT_KIND_TENSOR:
		take_tensor(flow, event, inside);
		break;
	case WT_KIND_STATE:
		take_state(flow, event, inside);
		break;
	case WT_KIND_COUNTER:
		take_counter(flow, event, inside);
		break;
	case WT_KIND_OBJECT:
		wti_map_put(&flow->made, wti_symbol_of(&flow->symbols, event, WT_OBJECT_FIELD_NAME),
			    wt_event_u64(event, WT_OBJECT_FIELD_SITE));
		break;
	}
}

/* ---- The window ------------------------------------------------------------------------------ */

static int open_cursor(const struct wt_trace *trace, size_t stream, uint32_t track,
		       struct wti_flow *flow, struct wt_err *err)
{
	static const char *const kinds[] = {
		"call_begin", "call_end",       "argument",     "tensor",     "state",
		"counter",    "operator_begin", "operator_end", "span_begin", "span_end",
		"context",    "rank",           "object"};
	struct wt_query query;
	char name[48];

	snprintf(name, sizeof(name), "%zu:%u", stream, track);
	wt_query_init(&query);
	query.kinds = kinds;
	query.kind_count = sizeof(kinds) / sizeof(kinds[0]);
	query.track = name;
	return wt_cursor_open(trace, &query, &flow->cursor, err);
}

int wti_flow_open(const struct wt_trace *trace, size_t stream, uint32_t track,
		  struct wti_flow **ret_flow, struct wt_err *err)
{
	struct wti_flow *flow = calloc(1, sizeof(*flow));
	int r;

	if (!flow)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	wti_symbols_init(&flow->symbols);
	wti_calls_init(&flow->calls, &flow->symbols);
	wti_map_init(&flow->made, OBJECTS_MAX);
	flow->calls.with_operators = true;
	flow->reader = wt_trace_stream(trace, stream);
	r = open_cursor(trace, stream, track, flow, err);
	if (r)
		wti_flow_free(flow);
	else
		*ret_flow = flow;
	return r;
}

void wti_flow_free(struct wti_flow *flow)
{
	if (!flow)
		return;
	wti_flow_drop(flow, flow->count);
	free(flow->items);
	wti_calls_release(&flow->calls);
	wti_map_release(&flow->made);
	wti_symbols_release(&flow->symbols);
	wt_cursor_free(flow->cursor);
	free(flow);
}

/* What is damaged is noted by whoever opened the run: all before it counts. */
int wti_flow_fill(struct wti_flow *flow, size_t wanted)
{
	const struct wti_listener listener = {flow, begun, ended, take_event};
	struct wt_event event;

	while (!flow->is_over && !flow->status && flow->count < wanted) {
		if (wt_cursor_next(flow->cursor, &event, NULL) <= 0)
			flow->is_over = true;
		else if (wti_calls_event(&flow->calls, &event, &listener, NULL))
			flow->status = WT_E_NOMEM;
	}
	return flow->status;
}

size_t wti_flow_count(const struct wti_flow *flow)
{
	return flow->count;
}

struct wti_computed *wti_flow_at(const struct wti_flow *flow, size_t index)
{
	return &flow->items[flow->first + index];
}

/* The room at the beginning is used again once it is as much as what is left. */
void wti_flow_drop(struct wti_flow *flow, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(flow->items[flow->first + i].values);
	flow->first += count;
	flow->count -= count;
	if (flow->first < flow->count)
		return;
	if (flow->count)
		memmove(flow->items, flow->items + flow->first, flow->count * sizeof(*flow->items));
	flow->first = 0;
}

uint64_t wti_flow_unended(const struct wti_flow *flow)
{
	uint64_t open = flow->calls.track_count ? flow->calls.tracks[0].open_count : 0;

	return (flow->is_over ? open : 0) + flow->calls.unclosed_count + flow->calls.unopened_count;
}
