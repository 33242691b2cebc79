/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From libyaml's events to a tree. Hides libyaml. Nesting is kept on a stack of its own: nothing
 * recurses.
 */
#include "yaml_read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "err.h"
#include "scan.h"

struct reader {
	const char *name;
	struct wt_err *err;
	struct wti_arena *arena;
	struct wti_doc *root;
	bool root_filled;
	struct wti_doc_index index;
	struct wti_doc *open[WTI_DOC_DEPTH_MAX]; /* mappings and lists around the current value */
	unsigned open_count;
	struct wti_doc *keyed; /* the child whose key has been read and whose value is next */
};

static int fail(const struct reader *reader, int code, yaml_mark_t at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int fail(const struct reader *reader, int code, yaml_mark_t at, const char *format, ...)
{
	char message[256];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return wti_err_at(reader->err, code, (int64_t)at.index, "%.200s:%zu:%zu: %s", reader->name,
			  at.line + 1, at.column + 1, message);
}

static int no_memory(const struct reader *reader)
{
	return wti_err(reader->err, WT_E_NOMEM, "out of memory reading '%.200s'", reader->name);
}

/* ---- Words ---- */

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(word, *words))
			return true;
	return false;
}

static bool read_constant(const char *word, struct wti_doc *value)
{
	static const char *const nothing[] = {"", "~", "null", "Null", "NULL", NULL};
	static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes",
					  "YES",  "on",   "On",   "ON",  NULL};
	static const char *const no[] = {"false", "False", "FALSE", "no",  "No",
					 "NO",    "off",   "Off",   "OFF", NULL};

	value->type = WTI_DOC_NULL;
	if (is_one_of(word, nothing))
		return true;
	value->type = WTI_DOC_BOOL;
	value->boolean = is_one_of(word, yes);
	return value->boolean || is_one_of(word, no);
}

static bool read_number(const char *word, struct wti_doc *value)
{
	const char *digits = word + (*word == '-' || *word == '+');
	char *end;

	if (!strchr("0123456789.", *digits) || strlen(word) > WTI_SCAN_NUMBER_MAX)
		return false;
	errno = 0;
	value->type = WTI_DOC_INT;
	value->integer = strtoll(word, &end, digits[0] == '0' && digits[1] == 'x' ? 16 : 10);
	if (!*end && end != word && !errno)
		return true;
	/* With a point or an exponent, or too large. */
	value->type = WTI_DOC_FLOAT;
	return !digits[strspn(digits, "0123456789.eE+-")] && wti_scan_double(word, &value->number);
}

static int read_scalar(struct reader *reader, const yaml_event_t *event, struct wti_doc *value)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t bytes = event->data.scalar.length;

	if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strlen(text) == bytes &&
	    (read_constant(text, value) || read_number(text, value)))
		return 0;
	value->type = WTI_DOC_STRING;
	value->string.bytes = bytes;
	value->string.data = wti_arena_text(reader->arena, text, bytes);
	return value->string.data ? 0 : no_memory(reader);
}

/* ---- Structure ---- */

static int read_key(struct reader *reader, struct wti_doc *table, const yaml_event_t *event)
{
	struct wti_doc *child = wti_arena_alloc(reader->arena, sizeof(*child));
	const char *text = (const char *)event->data.scalar.value;
	size_t bytes = event->data.scalar.length;
	uint64_t *slot;

	if (event->type != YAML_SCALAR_EVENT)
		return fail(reader, WT_E_FORMAT, event->start_mark, "a key has to be a word");
	if (strlen(text) != bytes)
		return fail(reader, WT_E_FORMAT, event->start_mark, "key contains a NUL");
	slot = child ? wti_doc_slot(&reader->index, table, text, bytes) : NULL;
	if (!slot)
		return no_memory(reader);
	if (*slot)
		return fail(reader, WT_E_FORMAT, event->start_mark,
			    "key '%.64s' is given twice; the first is in line %u", text,
			    ((const struct wti_doc *)(uintptr_t)*slot)->line);
	*slot = (uintptr_t)child;
	child->line = (unsigned)event->start_mark.line + 1;
	child->column = (unsigned)event->start_mark.column + 1;
	child->key = wti_arena_text(reader->arena, text, bytes);
	if (!child->key)
		return no_memory(reader);
	wti_doc_add(table, child);
	reader->keyed = child;
	return 0;
}

/* The node that the event is the value of. */
static struct wti_doc *place(struct reader *reader, const yaml_event_t *event)
{
	struct wti_doc *value = reader->keyed;

	reader->keyed = NULL;
	if (value)
		return value;
	value = reader->open_count ? wti_arena_alloc(reader->arena, sizeof(*value)) : reader->root;
	if (!value)
		return NULL;
	value->line = (unsigned)event->start_mark.line + 1;
	value->column = (unsigned)event->start_mark.column + 1;
	if (reader->open_count)
		wti_doc_add(reader->open[reader->open_count - 1], value);
	return value;
}

static int refuse_names(const struct reader *reader, const yaml_event_t *event)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (event->type == YAML_SCALAR_EVENT) {
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
	} else if (event->type == YAML_MAPPING_START_EVENT) {
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
	} else if (event->type == YAML_SEQUENCE_START_EVENT) {
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
	}
	if (anchor || event->type == YAML_ALIAS_EVENT)
		return fail(reader, WT_E_FORMAT, event->start_mark,
			    "anchors and aliases are not supported; write the value out");
	if (tag)
		return fail(reader, WT_E_FORMAT, event->start_mark,
			    "the tag '%.64s' is not supported; write the value without it", tag);
	return 0;
}

static int begin_value(struct reader *reader, const yaml_event_t *event)
{
	struct wti_doc *around = reader->open_count ? reader->open[reader->open_count - 1] : NULL;
	struct wti_doc *value;
	int r = refuse_names(reader, event);

	if (r)
		return r;
	if (around && around->type == WTI_DOC_TABLE && !reader->keyed)
		return read_key(reader, around, event);
	value = place(reader, event);
	if (!value)
		return no_memory(reader);
	if (event->type == YAML_SCALAR_EVENT)
		return read_scalar(reader, event, value);
	if (reader->open_count == WTI_DOC_DEPTH_MAX)
		return fail(reader, WT_E_LIMIT, event->start_mark, "nested deeper than %d levels",
			    WTI_DOC_DEPTH_MAX);
	value->type = event->type == YAML_MAPPING_START_EVENT ? WTI_DOC_TABLE : WTI_DOC_ARRAY;
	reader->open[reader->open_count++] = value;
	return 0;
}

static int take_event(struct reader *reader, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (reader->root_filled)
			return fail(reader, WT_E_FORMAT, event->start_mark,
				    "a second document begins here; there may be one");
		reader->root_filled = true;
		return 0;
	case YAML_ALIAS_EVENT:
	case YAML_SCALAR_EVENT:
	case YAML_MAPPING_START_EVENT:
	case YAML_SEQUENCE_START_EVENT:
		return begin_value(reader, event);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		reader->open_count--;
		return 0;
	default:
		return 0;
	}
}

static int parser_failed(const struct reader *reader, const yaml_parser_t *parser)
{
	if (parser->error == YAML_MEMORY_ERROR)
		return no_memory(reader);
	if (parser->error == YAML_READER_ERROR) /* it knows no line for that */
		return wti_err_at(reader->err, WT_E_FORMAT, (int64_t)parser->problem_offset,
				  "'%.200s' is not YAML: %s at byte %zu", reader->name,
				  parser->problem ? parser->problem : "unreadable",
				  parser->problem_offset);
	return fail(reader, WT_E_FORMAT, parser->problem_mark, "%s%s%s",
		    parser->problem ? parser->problem : "not YAML", parser->context ? " " : "",
		    parser->context ? parser->context : "");
}

static int read_events(struct reader *reader, yaml_parser_t *parser)
{
	yaml_event_type_t type = YAML_NO_EVENT;
	yaml_event_t event;
	int r = 0;

	while (!r && type != YAML_STREAM_END_EVENT) {
		if (!yaml_parser_parse(parser, &event))
			return parser_failed(reader, parser);
		type = event.type;
		r = take_event(reader, &event);
		yaml_event_delete(&event);
	}
	return r;
}

static int read_document(struct reader *reader, const char *text, size_t bytes)
{
	yaml_parser_t parser;
	int r;

	if (!yaml_parser_initialize(&parser))
		return no_memory(reader);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	r = read_events(reader, &parser);
	yaml_parser_delete(&parser);
	return r;
}

int wti_yaml_parse(const char *name, const char *text, size_t bytes, struct wti_doc **ret_root,
		   struct wt_err *err)
{
	struct reader reader = {.name = name, .err = err};
	int r;

	if (bytes > WTI_DOC_TEXT_MAX)
		return wti_err(err, WT_E_LIMIT, "'%s' is larger than %zu bytes", name,
			       WTI_DOC_TEXT_MAX);
	/* Each byte of text makes at most a few nodes (`-` one, `{` two) and one small copy. */
	if (wti_doc_new(sizeof(*reader.root), (bytes + 1) * 2 * (sizeof(*reader.root) + 32),
			&reader.root))
		return no_memory(&reader);
	reader.arena = reader.root->arena;
	wti_doc_index_init(&reader.index, 4 * bytes);
	r = read_document(&reader, text, bytes);
	wti_doc_index_release(&reader.index);
	if (r)
		wti_doc_free(reader.root);
	else
		*ret_root = reader.root;
	return r;
}
