/* SPDX-License-Identifier: Apache-2.0 */
/* Events of one track become what it computed: see course.h. */
#include "course.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/grow.h"
#include "inspect/core/library.h"
#include "inspect/digits/lane.h"

#define PATH_BYTES 1024u
#define OBJECTS_MAX ((size_t)1 << 20)
#define ITEMS_MAX (4 * WTI_COURSE_WINDOW) /* with what is dropped and not yet moved away */

struct wti_course {
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

const char *wti_course_text(const struct wti_course *course, uint32_t symbol)
{
	return wti_symbol_text(&course->symbols, symbol);
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
static uint32_t path_of(struct wti_course *course, uint32_t outer, uint32_t callee)
{
	const char *around = wti_course_text(course, outer);
	char path[PATH_BYTES];
	int bytes = snprintf(path, sizeof(path), "%s%s%s", around, *around ? " > " : "",
			     wti_course_text(course, callee));

	if (bytes < 0 || (size_t)bytes >= sizeof(path))
		return outer;
	return wti_symbol(&course->symbols, path, (size_t)bytes);
}

static const struct wt_site *site_of(const struct wti_course *course, const struct wti_call *call)
{
	return call->site ? wt_reader_site(course->reader, call->site) : NULL;
}

/* ---- Tokens ---------------------------------------------------------------------------------- */

static uint64_t line_token(const struct wti_course *course, const struct wti_call *call,
			   uint64_t outer)
{
	const struct wt_site *site = site_of(course, call);
	struct wt_text file =
		site ? wt_reader_string(course->reader, site->file) : (struct wt_text){"", 0};
	uint64_t token = mix(outer, wti_course_text(course, call->callee));

	/* A file is known by its name: another checkout has it in another folder. */
	token = mix(token, file.bytes ? wti_file_name(file.data) : "");
	return mix_number(token, site ? site->line : 0);
}

static uint64_t shapes_token(const struct wti_course *course, const struct wti_call *call,
			     uint64_t token)
{
	for (uint32_t i = 0; i < call->value_count; i++)
		if (call->values[i].type == WTI_VALUE_TENSOR && call->values[i].position >= 0)
			token = mix(token, wti_course_text(course, call->values[i].digest.shape));
	return mix_number(token, call->value_count);
}

static void make_tokens(const struct wti_course *course, const struct wti_call *call,
			const struct wti_call *parent, struct wti_computed *item)
{
	const char *callee = wti_course_text(course, call->callee);

	item->tokens[WTI_LIKE_NAME] = mix(item->kind, callee);
	item->tokens[WTI_LIKE_CALLEE] =
		mix(mix(item->tokens[WTI_LIKE_NAME],
			parent ? wti_course_text(course, parent->callee) : ""),
		    wti_course_text(course, call->object));
	item->tokens[WTI_LIKE_LINE] = call->tag;
	item->tokens[WTI_LIKE_SHAPES] = shapes_token(course, call, call->tag);
}

/* ---- Items ----------------------------------------------------------------------------------- */

static void push(struct wti_course *course, const struct wti_computed *item,
		 const struct wti_value_row *values, uint32_t count)
{
	struct wti_value_row *copy = malloc(sizeof(*copy) * (count ? count : 1));
	int r = copy ? wti_grow(&course->items, course->first + course->count + 1,
				&course->capacity, ITEMS_MAX)
		     : WT_E_NOMEM;

	if (r) {
		free(copy);
		course->status = r;
		return;
	}
	if (count)
		memcpy(copy, values, sizeof(*copy) * count);
	course->items[course->first + course->count] = *item;
	course->items[course->first + course->count].values = copy;
	course->items[course->first + course->count++].value_count = count;
}

static void set_place(struct wti_course *course, struct wti_computed *item, uint32_t id)
{
	const struct wt_site *site = id ? wt_reader_site(course->reader, id) : NULL;

	if (!site)
		return;
	item->file = wti_symbol(&course->symbols, wt_reader_string(course->reader, site->file).data,
				wt_reader_string(course->reader, site->file).bytes);
	item->line = site->line;
}

/* What a library does inside is the doing of the line that called it. */
static void find_place(struct wti_course *course, struct wti_computed *item,
		       const struct wti_call_track *track)
{
	for (uint32_t i = track->open_count; i-- > 0;) {
		set_place(course, item, track->open[i].site);
		if (item->file && !wti_is_library(wti_course_text(course, item->file)))
			return;
	}
}

/* ---- Arguments ------------------------------------------------------------------------------- */

/* A small tuple of numbers is recorded as text, and is a value all the same. */
static void read_tuples(struct wti_course *course, struct wti_call *call)
{
	for (uint32_t i = 0; i < call->value_count; i++) {
		struct wti_value_row *value = &call->values[i];
		const char *text = wti_course_text(course, value->text);

		if (value->type == WT_VALUE_TYPE_TEXT)
			value->bits = *text == '(' ? mix(0, text) | 1 : 0;
	}
}

/* How many of its elements follow. */
static uint32_t elements_of(const struct wti_course *course, const struct wti_call *call,
			    uint32_t i)
{
	uint32_t count = 0;

	for (uint32_t j = i + 1; j < call->value_count; j++)
		count += call->values[j].position == call->values[i].position &&
			 strchr(wti_course_text(course, call->values[j].name), '[') != NULL;
	return count;
}

/* "<list of 8>", "<torch._C.Generator>" */
static uint32_t count_opaque(const struct wti_course *course, const struct wti_call *call)
{
	uint32_t count = 0, size;

	for (uint32_t i = 0; i < call->value_count; i++) {
		const struct wti_value_row *value = &call->values[i];
		const char *text = wti_course_text(course, value->text);
		const char *of = strstr(text, " of ");

		if (value->position < 0 || value->type != WT_VALUE_TYPE_NONE || *text != '<')
			continue;
		size = of ? (uint32_t)strtoul(of + 4, NULL, 10) : UINT32_MAX;
		count += elements_of(course, call, i) < size;
	}
	return count;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void begun(void *self, struct wti_call *call, const struct wti_call *parent)
{
	struct wti_course *course = self;

	call->tag = line_token(course, call, parent ? parent->tag : 0);
	call->what = path_of(course, parent ? parent->what : WTI_SYMBOL_NONE, call->callee);
}

static void ended(void *self, struct wti_call *call, const struct wti_call *parent)
{
	struct wti_course *course = self;
	struct wti_computed item = {
		.kind = call->is_operator ? WTI_COMPUTED_OPERATOR : WTI_COMPUTED_CALL,
		.callee = call->callee,
		.module = call->module,
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
	item.opaque = count_opaque(course, call);
	read_tuples(course, call);
	make_tokens(course, call, parent, &item);
	find_place(course, &item, &course->calls.tracks[0]);
	push(course, &item, call->values, call->value_count);
}

/* ---- Values of no call ----------------------------------------------------------------------- */

/* "Net.fc1.weight" */
static uint32_t name_of(struct wti_course *course, struct wt_text owner, struct wt_text name)
{
	char text[PATH_BYTES];
	int bytes = snprintf(text, sizeof(text), "%.*s%s%.*s", (int)(owner.bytes % PATH_BYTES),
			     owner.data, owner.bytes && name.bytes ? "." : "",
			     (int)(name.bytes % PATH_BYTES), name.data);

	if (bytes < 0)
		return WTI_SYMBOL_NONE;
	return wti_symbol(&course->symbols, text,
			  (size_t)bytes < sizeof(text) ? (size_t)bytes : sizeof(text) - 1);
}

static void push_value(struct wti_course *course, const struct wt_event *event, uint32_t name,
		       uint32_t owner, const struct wti_value_row *value,
		       const struct wti_call *inside)
{
	struct wti_scope scope = wti_steps_scope(&course->calls.steps, event->stream, event->track);
	struct wti_computed item = {
		.kind = WTI_COMPUTED_VALUE,
		.callee = name,
		.path = path_of(course, inside ? inside->what : WTI_SYMBOL_NONE, name),
		.stage = scope.stage,
		.depth = inside ? inside->depth + 1 : 0,
		.step = scope.step,
		.time_ns = event->time_ns,
		.is_random = !strncmp(wti_course_text(course, name), "random.", 7),
		.is_setting = value->type != WT_VALUE_TYPE_HASH &&
			      value->type != WTI_VALUE_TENSOR &&
			      !strcmp(wti_course_text(course, owner), "torch"),
	};
	/* A parameter is read as a digest and as a hash, under one name. */
	uint64_t token = mix(mix_number(WTI_COMPUTED_VALUE, value->type == WTI_VALUE_TENSOR),
			     wti_course_text(course, name));

	for (size_t i = 0; i < WTI_LIKENESSES; i++)
		item.tokens[i] = token;
	if (inside)
		find_place(course, &item, &course->calls.tracks[0]);
	else /* what is first read of an object is what its maker left there */
		set_place(course, &item, (uint32_t)wti_map_get(&course->made, owner));
	push(course, &item, value, 1);
}

static void take_state(struct wti_course *course, const struct wt_event *event,
		       const struct wti_call *inside)
{
	const struct wti_value_row value = {
		.position = -1,
		.type = (uint32_t)wt_event_u64(event, WT_STATE_FIELD_TYPE),
		.bits = wt_event_u64(event, WT_STATE_FIELD_NEW),
		.text = wti_symbol_of(&course->symbols, event, WT_STATE_FIELD_TEXT),
	};

	push_value(course, event,
		   name_of(course, wt_event_text(event, WT_STATE_FIELD_OWNER),
			   wt_event_text(event, WT_STATE_FIELD_ATTRIBUTE)),
		   wti_symbol_of(&course->symbols, event, WT_STATE_FIELD_OWNER), &value, inside);
}

static void take_counter(struct wti_course *course, const struct wt_event *event,
			 const struct wti_call *inside)
{
	const struct wti_value_row value = {
		.position = -1,
		.type = WT_VALUE_TYPE_FLOAT,
		.bits = wt_event_u64(event, WT_COUNTER_FIELD_VALUE),
	};

	push_value(course, event,
		   name_of(course, (struct wt_text){"", 0},
			   wt_event_text(event, WT_COUNTER_FIELD_NAME)),
		   WTI_SYMBOL_NONE, &value, inside);
}

static void take_tensor(struct wti_course *course, const struct wt_event *event,
			const struct wti_call *inside)
{
	struct wti_value_row value = {.position = -1, .type = WTI_VALUE_TENSOR};

	wti_digest_read(&value.digest, &course->symbols, event);
	push_value(course, event,
		   name_of(course, wt_event_text(event, WT_TENSOR_FIELD_OWNER),
			   wt_event_text(event, WT_TENSOR_FIELD_NAME)),
		   wti_symbol_of(&course->symbols, event, WT_TENSOR_FIELD_OWNER), &value, inside);
}

static void take_event(void *self, const struct wt_event *event, const struct wti_call *inside)
{
	struct wti_course *course = self;

	switch (event->kind->number) {
	case WT_KIND_TENSOR:
		take_tensor(course, event, inside);
		break;
	case WT_KIND_STATE:
		take_state(course, event, inside);
		break;
	case WT_KIND_COUNTER:
		take_counter(course, event, inside);
		break;
	case WT_KIND_OBJECT:
		wti_map_put(&course->made,
			    wti_symbol_of(&course->symbols, event, WT_OBJECT_FIELD_NAME),
			    wt_event_u64(event, WT_OBJECT_FIELD_SITE));
		break;
	}
}

/* ---- The window ------------------------------------------------------------------------------ */

static int open_cursor(const struct wt_trace *trace, size_t stream, uint32_t track,
		       struct wti_course *course, struct wt_err *err)
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
	return wt_cursor_open(trace, &query, &course->cursor, err);
}

int wti_course_open(const struct wt_trace *trace, size_t stream, uint32_t track,
		    struct wti_course **ret_flow, struct wt_err *err)
{
	struct wti_course *course = calloc(1, sizeof(*course));
	int r;

	if (!course)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	wti_symbols_init(&course->symbols);
	wti_calls_init(&course->calls, &course->symbols);
	wti_map_init(&course->made, OBJECTS_MAX);
	course->calls.with_operators = true;
	course->reader = wt_trace_stream(trace, stream);
	r = open_cursor(trace, stream, track, course, err);
	if (r)
		wti_course_free(course);
	else
		*ret_flow = course;
	return r;
}

void wti_course_free(struct wti_course *course)
{
	if (!course)
		return;
	wti_course_drop(course, course->count);
	free(course->items);
	wti_calls_release(&course->calls);
	wti_map_release(&course->made);
	wti_symbols_release(&course->symbols);
	wt_cursor_free(course->cursor);
	free(course);
}

/* What is damaged is noted by whoever opened the run: all before it counts. */
int wti_course_fill(struct wti_course *course, size_t wanted)
{
	const struct wti_listener listener = {course, begun, ended, take_event};
	struct wt_event event;

	while (!course->is_over && !course->status && course->count < wanted) {
		int next = wt_cursor_next(course->cursor, &event, NULL);

		course->is_over = next <= 0;
		if (next == WT_E_NOMEM)
			course->status = WT_E_NOMEM;
		else if (next > 0 && (wti_calls_event(&course->calls, &event, &listener, NULL) ||
				      course->symbols.texts.failed || course->made.failed))
			course->status = WT_E_NOMEM; /* without its names nothing corresponds */
	}
	return course->status;
}

size_t wti_course_count(const struct wti_course *course)
{
	return course->count;
}

struct wti_computed *wti_course_at(const struct wti_course *course, size_t index)
{
	return &course->items[course->first + index];
}

/* The room at the beginning is used again once it is as much as what is left. */
void wti_course_drop(struct wti_course *course, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(course->items[course->first + i].values);
	course->first += count;
	course->count -= count;
	if (course->first < course->count)
		return;
	if (course->count)
		memmove(course->items, course->items + course->first,
			course->count * sizeof(*course->items));
	course->first = 0;
}

uint64_t wti_course_unended(const struct wti_course *course)
{
	uint64_t open = course->calls.track_count ? course->calls.tracks[0].open_count : 0;

	return (course->is_over ? open : 0) + course->calls.unclosed_count +
	       course->calls.unopened_count;
}
