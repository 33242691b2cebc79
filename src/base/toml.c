/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The structure of a TOML document: keys, tables, arrays. Knows which tables may still be added to,
 * and rejects keys given twice. Nesting is kept on a stack of its own: nothing recurses, and no
 * part of the document is deeper than WTI_DOC_DEPTH_MAX.
 */
#include "toml.h"

#include <string.h>

#include "err.h"
#include "file.h"
#include "toml_value.h"

enum made_by {
	BY_PATH,         /* on the way to another: [made.other] */
	BY_HEADER,       /* [made] */
	BY_KEY,          /* made.other = 1 */
	BY_VALUE,        /* made = {...}, and all that is no table */
	BY_ARRAY_HEADER, /* [[made]]: the array */
};

struct node {
	struct wti_doc value; /* first: what the user sees is what we hold */
	enum made_by made_by;
	unsigned section; /* that a table BY_KEY was made in: it may grow no longer than that */
	unsigned depth;
};

struct parser {
	struct wti_scan scan;
	struct node *root;
	struct wti_doc_index index;
	unsigned section;
	struct node
		*open[WTI_DOC_DEPTH_MAX]; /* arrays and inline tables around the current value */
	unsigned open_count;
};

struct key {
	const char *text;
	size_t bytes;
	const char *at;
};

/* ---- Blank space ---- */

static void skip_blanks(struct wti_scan *scan)
{
	while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
		scan->at++;
}

static void skip_comment(struct wti_scan *scan)
{
	skip_blanks(scan);
	if (scan->at == scan->end || *scan->at != '#')
		return;
	while (scan->at < scan->end && *scan->at != '\n' && *scan->at != '\r')
		scan->at++;
}

static void skip_lines(struct wti_scan *scan)
{
	do
		skip_comment(scan);
	while (wti_scan_newline(scan));
}

static bool take(struct wti_scan *scan, char c)
{
	if (scan->at == scan->end || *scan->at != c)
		return false;
	scan->at++;
	return true;
}

/* ---- Nodes ---- */

static struct node *add_node(struct parser *parser, struct node *parent, const struct key *key,
			     const char *at)
{
	struct wti_scan *scan = &parser->scan;
	struct node *node;

	if (parent->depth + 1 >= WTI_DOC_DEPTH_MAX) {
		wti_scan_fail(scan, WT_E_LIMIT, at, "nested deeper than %d levels",
			      WTI_DOC_DEPTH_MAX);
		return NULL;
	}
	node = wti_arena_alloc(scan->arena, sizeof(*node));
	if (!node) {
		wti_scan_no_memory(scan);
		return NULL;
	}
	node->value.line = scan->line;
	node->value.column = wti_scan_column(scan, at);
	node->value.key = key ? key->text : NULL;
	node->depth = parent->depth + 1;
	node->section = parser->section;
	wti_doc_add(&parent->value, &node->value);
	return node;
}

/* The child of that name; made, as an empty table, if there is none. NULL on failure. */
static struct node *get_child(struct parser *parser, struct node *parent, const struct key *key,
			      enum made_by made_by, bool *ret_new)
{
	uint64_t *slot = wti_doc_slot(&parser->index, &parent->value, key->text, key->bytes);
	struct node *node;

	if (!slot) {
		wti_scan_no_memory(&parser->scan);
		return NULL;
	}
	*ret_new = !*slot;
	if (*slot)
		return (struct node *)(uintptr_t)*slot;
	node = add_node(parser, parent, key, key->at);
	if (!node)
		return NULL;
	node->made_by = made_by;
	*slot = (uintptr_t)node;
	return node;
}

static int twice(struct parser *parser, const struct key *key, const struct node *first)
{
	return wti_scan_fail(&parser->scan, WT_E_FORMAT, key->at,
			     "key '%.64s' is given twice; the first is in line %u", key->text,
			     first->value.line);
}

/* ---- Keys ---- */

static bool is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

static int parse_key(struct wti_scan *scan, struct key *ret)
{
	const char *start = scan->at;
	int status = 0;

	ret->at = start;
	if (start < scan->end && (*start == '"' || *start == '\'')) {
		status = wti_toml_string(scan, true, &ret->text, &ret->bytes);
		if (!status && memchr(ret->text, 0, ret->bytes))
			return wti_scan_fail(scan, WT_E_FORMAT, start, "key contains a NUL");
		return status;
	}
	while (scan->at < scan->end && is_bare(*scan->at))
		scan->at++;
	ret->bytes = (size_t)(scan->at - start);
	if (!ret->bytes)
		return wti_scan_fail(scan, WT_E_FORMAT, start, "a key is missing");
	ret->text = wti_arena_text(scan->arena, start, ret->bytes);
	return ret->text ? 0 : wti_scan_no_memory(scan);
}

/* Into a table on the way to another one, `[way.to.it]`. */
static int enter_by_header(struct parser *parser, struct node **table, const struct key *key)
{
	bool is_new;
	struct node *child = get_child(parser, *table, key, BY_PATH, &is_new);

	if (!child)
		return parser->scan.err->code;
	if (child->made_by == BY_ARRAY_HEADER)
		child = (struct node *)child->value.last;
	if (child->made_by == BY_VALUE)
		return twice(parser, key, child);
	*table = child;
	return 0;
}

/* Into a table on the way to a value, `way.to.it = 1`. */
static int enter_by_key(struct parser *parser, struct node **table, const struct key *key)
{
	bool is_new;
	struct node *child = get_child(parser, *table, key, BY_KEY, &is_new);

	if (!child)
		return parser->scan.err->code;
	if (child->made_by == BY_PATH) {
		child->made_by = BY_KEY;
		child->section = parser->section;
	}
	if (child->made_by != BY_KEY || child->section != parser->section)
		return twice(parser, key, child);
	*table = child;
	return 0;
}

/* A key with dots: enters all tables but for the last key, which it returns. */
static int parse_path(struct parser *parser,
		      int (*enter)(struct parser *, struct node **, const struct key *),
		      struct node **table, struct key *ret_key)
{
	struct wti_scan *scan = &parser->scan;

	for (;;) {
		int status;

		skip_blanks(scan);
		status = parse_key(scan, ret_key);
		if (status)
			return status;
		skip_blanks(scan);
		if (!take(scan, '.'))
			return 0;
		status = enter(parser, table, ret_key);
		if (status)
			return status;
	}
}

/* ---- Values ---- */

/* `key = ` and the empty node for what follows. */
static int begin_pair(struct parser *parser, struct node *table, struct node **ret_node)
{
	struct wti_scan *scan = &parser->scan;
	struct node *node;
	struct key key = {0};
	bool is_new;
	int status = parse_path(parser, enter_by_key, &table, &key);

	if (status)
		return status;
	if (!take(scan, '='))
		return wti_scan_fail(scan, WT_E_FORMAT, scan->at, "'=' is missing after the key");
	skip_blanks(scan);
	node = get_child(parser, table, &key, BY_VALUE, &is_new);
	if (!node)
		return scan->err->code;
	if (!is_new)
		return twice(parser, &key, node);
	*ret_node = node;
	return 0;
}

static int begin_value(struct parser *parser, struct node *node)
{
	struct wti_scan *scan = &parser->scan;

	node->made_by = BY_VALUE;
	if (take(scan, '['))
		node->value.type = WTI_DOC_ARRAY;
	else if (take(scan, '{'))
		node->value.type = WTI_DOC_TABLE;
	else
		return wti_toml_scalar(scan, &node->value);
	/* add_node() has refused what is too deep, so there is room. */
	parser->open[parser->open_count++] = node;
	return 0;
}

/* The next element in *ret_node, or NULL there when the array ends. */
static int next_element(struct parser *parser, struct node *array, struct node **ret_node)
{
	struct wti_scan *scan = &parser->scan;

	*ret_node = NULL;
	skip_lines(scan);
	if (take(scan, ']'))
		return 0;
	if (array->value.first && !take(scan, ','))
		return wti_scan_fail(scan, WT_E_FORMAT, scan->at,
				     "array of line %u needs ',' or ']' here", array->value.line);
	skip_lines(scan);
	if (array->value.first && take(scan, ']'))
		return 0;
	*ret_node = add_node(parser, array, NULL, scan->at);
	return *ret_node ? 0 : scan->err->code;
}

static int next_pair(struct parser *parser, struct node *table, struct node **ret_node)
{
	struct wti_scan *scan = &parser->scan;

	*ret_node = NULL;
	skip_blanks(scan);
	if (take(scan, '}'))
		return 0;
	if (table->value.first && !take(scan, ','))
		return wti_scan_fail(scan, WT_E_FORMAT, scan->at,
				     "inline table needs ',' or '}' here, on the same line");
	return begin_pair(parser, table, ret_node);
}

static int parse_value(struct parser *parser, struct node *node)
{
	int status = begin_value(parser, node);

	while (!status && parser->open_count) {
		struct node *around = parser->open[parser->open_count - 1];

		if (around->value.type == WTI_DOC_ARRAY)
			status = next_element(parser, around, &node);
		else
			status = next_pair(parser, around, &node);
		if (status)
			return status;
		if (node)
			status = begin_value(parser, node);
		else
			parser->open_count--;
	}
	return status;
}

/* ---- Headers ---- */

static int open_array_table(struct parser *parser, struct node *parent, const struct key *key,
			    struct node **ret_table)
{
	bool is_new;
	struct node *array = get_child(parser, parent, key, BY_ARRAY_HEADER, &is_new);
	struct node *table;

	if (!array)
		return parser->scan.err->code;
	if (array->made_by != BY_ARRAY_HEADER)
		return twice(parser, key, array);
	array->value.type = WTI_DOC_ARRAY;
	table = add_node(parser, array, NULL, key->at);
	if (!table)
		return parser->scan.err->code;
	table->made_by = BY_HEADER;
	*ret_table = table;
	return 0;
}

static int open_table(struct parser *parser, struct node *parent, const struct key *key,
		      struct node **ret_table)
{
	bool is_new;
	struct node *table = get_child(parser, parent, key, BY_PATH, &is_new);

	if (!table)
		return parser->scan.err->code;
	if (table->made_by != BY_PATH)
		return twice(parser, key, table);
	table->made_by = BY_HEADER;
	*ret_table = table;
	return 0;
}

/* `[table]` or `[[array of tables]]`; the first bracket has been taken. */
static int parse_header(struct parser *parser, struct node **ret_table)
{
	struct wti_scan *scan = &parser->scan;
	struct node *parent = parser->root;
	bool is_array = take(scan, '[');
	struct key key = {0};
	int status;

	parser->section++;
	status = parse_path(parser, enter_by_header, &parent, &key);
	if (status)
		return status;
	if (!take(scan, ']') || (is_array && !take(scan, ']')))
		return wti_scan_fail(scan, WT_E_FORMAT, scan->at, "'%s' is missing",
				     is_array ? "]]" : "]");
	if (is_array)
		return open_array_table(parser, parent, &key, ret_table);
	return open_table(parser, parent, &key, ret_table);
}

static int parse_line(struct parser *parser, struct node **table)
{
	struct node *node;
	int status;

	if (take(&parser->scan, '['))
		return parse_header(parser, table);
	status = begin_pair(parser, *table, &node);
	return status ? status : parse_value(parser, node);
}

static int parse_lines(struct parser *parser)
{
	struct wti_scan *scan = &parser->scan;
	struct node *table = parser->root;

	for (;;) {
		int status;

		skip_lines(scan);
		if (scan->at == scan->end)
			return 0;
		status = parse_line(parser, &table);
		if (status)
			return status;
		skip_comment(scan);
		if (scan->at < scan->end && !wti_scan_newline(scan))
			return wti_scan_fail(scan, WT_E_FORMAT, scan->at,
					     "the line should end here");
	}
}

/* ---- The document ---- */

static int parse_document(struct node *root, const char *name, const char *text, size_t bytes,
			  struct wt_err *err)
{
	struct parser parser = {
		.root = root,
		.scan = {.name = name,
			 .text = text,
			 .end = text + bytes,
			 .arena = root->value.arena,
			 .err = err},
	};
	int status;

	wti_doc_index_init(&parser.index, bytes);
	wti_buf_init(&parser.scan.scratch, bytes);
	status = wti_scan_begin(&parser.scan, false);
	if (!status)
		status = parse_lines(&parser);
	wti_doc_index_release(&parser.index);
	wti_buf_release(&parser.scan.scratch);
	return status;
}

int wti_toml_parse(const char *name, const char *text, size_t bytes, struct wti_doc **ret_root,
		   struct wt_err *err)
{
	struct wt_err unseen;
	struct wti_doc *root;
	int status;

	if (bytes > WTI_DOC_TEXT_MAX)
		return wti_err(err, WT_E_LIMIT, "'%s' is larger than %zu bytes", name,
			       WTI_DOC_TEXT_MAX);
	/* Each byte of text makes at most one node and, in keys and strings, one small copy. */
	if (wti_doc_new(sizeof(struct node), (bytes + 1) * (sizeof(struct node) + 32), &root))
		return wti_err(err, WT_E_NOMEM, "out of memory reading '%s'", name);
	((struct node *)root)->made_by = BY_HEADER;
	/* Always one: the parser looks at the code that was set where it failed. */
	status = parse_document((struct node *)root, name, text, bytes, err ? err : &unseen);
	if (status) {
		wti_doc_free(root);
		return status;
	}
	*ret_root = root;
	return 0;
}

int wti_toml_load(const char *path, struct wti_doc **ret_root, struct wt_err *err)
{
	struct wti_buf text;
	int status;

	wti_buf_init(&text, WTI_DOC_FILE_MAX);
	status = wti_file_read(path, WTI_DOC_FILE_MAX, &text, err);
	if (!status)
		status = wti_toml_parse(path, (char *)text.data, text.bytes, ret_root, err);
	wti_buf_release(&text);
	/* It is somebody's own words that are wrong, as on the command line. */
	if (status == WT_E_FORMAT) {
		status = WT_E_ARG;
		if (err)
			err->code = WT_E_ARG;
	}
	return status;
}
