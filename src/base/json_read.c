/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the grammar of JSON. Nesting is kept on a stack of its own: nothing recurses. */
#include "json_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "scan.h"

struct parser {
	struct wti_scan scan;
	struct wti_doc_index index;
	struct wti_doc *open[WTI_DOC_DEPTH_MAX]; /* tables and arrays around the current value */
	unsigned open_count;
};

/* ---- Characters ---- */

static void skip_space(struct wti_scan *scan)
{
	while (scan->at < scan->end) {
		if (wti_scan_newline(scan))
			continue;
		if (*scan->at != ' ' && *scan->at != '\t' && *scan->at != '\r')
			return;
		scan->at++;
	}
}

static bool take(struct wti_scan *scan, char c)
{
	skip_space(scan);
	if (scan->at == scan->end || *scan->at != c)
		return false;
	scan->at++;
	return true;
}

static int expected(struct wti_scan *scan, const char *what)
{
	if (scan->at == scan->end)
		return wti_scan_fail(scan, WT_E_FORMAT, scan->at,
				     "the file ends where %s should be", what);
	return wti_scan_fail(scan, WT_E_FORMAT, scan->at, "%s should be here", what);
}

/* ---- Strings ---- */

/* \u1234; one beyond 16 bits is a pair of them. */
static int unicode_escape(struct wti_scan *scan)
{
	const char *start = scan->at - 2;
	uint32_t point, low;

	if (!wti_scan_hex(scan, 4, &point))
		return wti_scan_fail(scan, WT_E_FORMAT, start, "escape needs 4 hexadecimal digits");
	if (point >= 0xd800 && point < 0xdc00 && scan->end - scan->at >= 6 && scan->at[0] == '\\' &&
	    scan->at[1] == 'u') {
		scan->at += 2;
		if (!wti_scan_hex(scan, 4, &low) || low < 0xdc00 || low > 0xdfff)
			return wti_scan_fail(scan, WT_E_FORMAT, start,
					     "escape is half a character");
		point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
	}
	if (point >= 0xd800 && point < 0xe000)
		return wti_scan_fail(scan, WT_E_FORMAT, start, "escape is half a character");
	wti_scan_put(scan, point);
	return 0;
}

/* `at` is behind the backslash. */
static int escape(struct wti_scan *scan)
{
	static const char letters[] = "b\bt\tn\nf\fr\r\"\"\\\\//";
	char c = scan->at < scan->end ? *scan->at : 0;

	for (size_t i = 0; c && letters[i]; i += 2) {
		if (letters[i] == c) {
			scan->at++;
			wti_scan_put(scan, (uint8_t)letters[i + 1]);
			return 0;
		}
	}
	if (c != 'u')
		return wti_scan_fail(scan, WT_E_FORMAT, scan->at - 1,
				     "unknown escape; write '\\\\' for a backslash");
	scan->at++;
	return unicode_escape(scan);
}

/* Takes over what stands for itself. */
static void take_plain(struct wti_scan *scan)
{
	const char *at = scan->at;

	while (at < scan->end && (uint8_t)*at >= ' ' && *at != '"' && *at != '\\')
		at++;
	wti_buf_append(&scan->scratch, scan->at, (size_t)(at - scan->at));
	scan->at = at;
}

/* The string whose opening quote is next. */
static int parse_string(struct wti_scan *scan, const char **ret_data, size_t *ret_bytes)
{
	const char *start = scan->at++;
	int r = 0;

	wti_buf_clear(&scan->scratch);
	for (take_plain(scan); !r && scan->at < scan->end && *scan->at != '"'; take_plain(scan)) {
		if (*scan->at != '\\')
			return wti_scan_fail(
				scan, WT_E_FORMAT, start,
				"string has no end in its line; write \\n for a new line");
		scan->at++;
		r = escape(scan);
	}
	if (r)
		return r;
	if (scan->at == scan->end)
		return wti_scan_fail(scan, WT_E_FORMAT, start, "string has no end");
	scan->at++;
	*ret_bytes = scan->scratch.bytes;
	*ret_data = wti_buf_status(&scan->scratch)
			    ? NULL
			    : wti_arena_text(scan->arena, scan->scratch.data, scan->scratch.bytes);
	return *ret_data ? 0 : wti_scan_no_memory(scan);
}

/* ---- Numbers and words ---- */

static size_t digits(const char *at, const char *end)
{
	size_t count = 0;

	while (at + count < end && at[count] >= '0' && at[count] <= '9')
		count++;
	return count;
}

/* Bytes of the number that is next, 0 if it is none; whether it is a whole one. */
static size_t number_bytes(const struct wti_scan *scan, bool *ret_whole)
{
	const char *at = scan->at + (scan->at < scan->end && *scan->at == '-');
	size_t count = digits(at, scan->end);

	*ret_whole = true;
	if (!count || (*at == '0' && count > 1))
		return 0;
	at += count;
	if (at < scan->end && *at == '.') {
		count = digits(at + 1, scan->end);
		if (!count)
			return 0;
		at += 1 + count;
		*ret_whole = false;
	}
	if (at < scan->end && (*at == 'e' || *at == 'E')) {
		at++;
		at += at < scan->end && (*at == '+' || *at == '-');
		count = digits(at, scan->end);
		if (!count)
			return 0;
		at += count;
		*ret_whole = false;
	}
	return (size_t)(at - scan->at);
}

static int parse_number(struct wti_scan *scan, struct wti_doc *ret)
{
	char text[WTI_SCAN_NUMBER_MAX + 1];
	bool whole;
	size_t bytes = number_bytes(scan, &whole);

	if (!bytes)
		return wti_scan_fail(scan, WT_E_FORMAT, scan->at, "this is not a number");
	if (bytes > WTI_SCAN_NUMBER_MAX)
		return wti_scan_fail(scan, WT_E_LIMIT, scan->at, "number of more than %d digits",
				     WTI_SCAN_NUMBER_MAX);
	memcpy(text, scan->at, bytes);
	text[bytes] = 0;
	errno = 0;
	ret->type = WTI_DOC_INT;
	ret->integer = strtoll(text, NULL, 10);
	if (!whole || errno) {
		ret->type = WTI_DOC_FLOAT;
		if (!wti_scan_double(text, &ret->number))
			return wti_scan_no_memory(scan);
		if (!isfinite(ret->number))
			return wti_scan_fail(scan, WT_E_FORMAT, scan->at, "number is too large");
	}
	scan->at += bytes;
	return 0;
}

static bool take_word(struct wti_scan *scan, const char *word)
{
	size_t bytes = strlen(word);

	if ((size_t)(scan->end - scan->at) < bytes || memcmp(scan->at, word, bytes) != 0)
		return false;
	scan->at += bytes;
	return true;
}

static int parse_scalar(struct wti_scan *scan, struct wti_doc *ret)
{
	if (scan->at < scan->end && *scan->at == '"') {
		ret->type = WTI_DOC_STRING;
		return parse_string(scan, &ret->string.data, &ret->string.bytes);
	}
	if (scan->at < scan->end && (*scan->at == '-' || (*scan->at >= '0' && *scan->at <= '9')))
		return parse_number(scan, ret);
	ret->type = WTI_DOC_BOOL;
	ret->boolean = true;
	if (take_word(scan, "true"))
		return 0;
	ret->boolean = false;
	if (take_word(scan, "false"))
		return 0;
	ret->type = WTI_DOC_NULL;
	return take_word(scan, "null") ? 0 : expected(scan, "a value");
}

/* ---- Tables and arrays ---- */

/* What stands at `at`: a scalar, or the beginning of a table or an array. */
static int begin_value(struct parser *parser, struct wti_doc *value)
{
	struct wti_scan *scan = &parser->scan;

	skip_space(scan);
	value->line = scan->line;
	value->column = wti_scan_column(scan, scan->at);
	if (scan->at == scan->end || (*scan->at != '{' && *scan->at != '['))
		return parse_scalar(scan, value);
	if (parser->open_count == WTI_DOC_DEPTH_MAX)
		return wti_scan_fail(scan, WT_E_LIMIT, scan->at, "nested deeper than %d levels",
				     WTI_DOC_DEPTH_MAX);
	value->type = *scan->at++ == '{' ? WTI_DOC_TABLE : WTI_DOC_ARRAY;
	parser->open[parser->open_count++] = value;
	return 0;
}

static struct wti_doc *add_child(struct parser *parser, struct wti_doc *parent)
{
	struct wti_doc *child = wti_arena_alloc(parser->scan.arena, sizeof(*child));

	if (child)
		wti_doc_add(parent, child);
	else
		wti_scan_no_memory(&parser->scan);
	return child;
}

static int parse_key(struct parser *parser, struct wti_doc *table, struct wti_doc *child)
{
	struct wti_scan *scan = &parser->scan;
	const char *start;
	uint64_t *slot;
	size_t bytes;
	int r;

	skip_space(scan);
	if (scan->at == scan->end || *scan->at != '"')
		return expected(scan, "a key in double quotes");
	start = scan->at;
	child->line = scan->line;
	child->column = wti_scan_column(scan, start);
	r = parse_string(scan, &child->key, &bytes);
	if (r)
		return r;
	if (memchr(child->key, 0, bytes))
		return wti_scan_fail(scan, WT_E_FORMAT, start, "key contains a NUL");
	slot = wti_doc_slot(&parser->index, table, child->key, bytes);
	if (!slot)
		return wti_scan_no_memory(scan);
	if (*slot)
		return wti_scan_fail(scan, WT_E_FORMAT, start,
				     "key '%.64s' is given twice; the first is in line %u",
				     child->key, ((const struct wti_doc *)(uintptr_t)*slot)->line);
	*slot = (uintptr_t)child;
	return take(scan, ':') ? 0 : expected(scan, "':'");
}

/* The next value of the innermost table or array, or its end. */
static int next_value(struct parser *parser)
{
	struct wti_scan *scan = &parser->scan;
	struct wti_doc *around = parser->open[parser->open_count - 1];
	bool table = around->type == WTI_DOC_TABLE;
	struct wti_doc *child;
	unsigned line, column;
	int r = 0;

	if (take(scan, table ? '}' : ']')) {
		parser->open_count--;
		return 0;
	}
	if (around->first && !take(scan, ','))
		return expected(scan, table ? "',' or '}'" : "',' or ']'");
	child = add_child(parser, around);
	if (!child)
		return WT_E_NOMEM;
	if (table)
		r = parse_key(parser, around, child);
	if (r)
		return r;
	line = child->line;
	column = child->column;
	r = begin_value(parser, child);
	if (table) { /* what a person looks for is the key */
		child->line = line;
		child->column = column;
	}
	return r;
}

static int parse_document(struct parser *parser, struct wti_doc *root)
{
	int r = wti_scan_begin(&parser->scan, true);

	if (!r)
		r = begin_value(parser, root);
	while (!r && parser->open_count)
		r = next_value(parser);
	if (r)
		return r;
	skip_space(&parser->scan);
	if (parser->scan.at < parser->scan.end)
		return expected(&parser->scan, "the end of the file");
	return 0;
}

int wti_json_parse(const char *name, const char *text, size_t bytes, struct wti_doc **ret_root,
		   struct wt_err *err)
{
	return wti_json_parse_line(name, 1, text, bytes, ret_root, err);
}

int wti_json_parse_line(const char *name, unsigned line, const char *text, size_t bytes,
			struct wti_doc **ret_root, struct wt_err *err)
{
	struct parser parser = {.scan = {.name = name,
					 .text = text,
					 .end = text + bytes,
					 .lines_before = line - 1,
					 .err = err}};
	struct wti_doc *root;
	int r;

	if (bytes > WTI_DOC_TEXT_MAX)
		return wti_err(err, WT_E_LIMIT, "'%s' is larger than %zu bytes", name,
			       WTI_DOC_TEXT_MAX);
	/* Each byte of text makes at most one node and, in keys and strings, one small copy. */
	if (wti_doc_new(sizeof(*root), (bytes + 1) * (sizeof(*root) + 32), &root))
		return wti_err(err, WT_E_NOMEM, "out of memory reading '%s'", name);
	parser.scan.arena = root->arena;
	wti_doc_index_init(&parser.index, bytes);
	wti_buf_init(&parser.scan.scratch, bytes);
	r = parse_document(&parser, root);
	wti_doc_index_release(&parser.index);
	wti_buf_release(&parser.scan.scratch);
	if (r)
		wti_doc_free(root);
	else
		*ret_root = root;
	return r;
}
