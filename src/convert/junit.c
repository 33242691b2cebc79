/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of XML that goes forward only: a tag at a time, no tree, no recursion. */
#include "junit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"

enum { DEPTH_MAX = 64, NAME_BYTES = 64, VALUE_BYTES = 2048 };

struct xml {
	const char *name, *text;
	size_t bytes, at;
	unsigned depth;
	bool any; /* element */
	struct wt_err *err;
};

struct tag {
	char name[NAME_BYTES];
	bool is_end, is_empty;
	size_t attributes; /* where they begin */
	size_t end;        /* of the tag: behind its '>' */
};

struct case_ {
	bool is_open;
	unsigned depth;  /* of its element */
	bool wants_text; /* of a failure without a message */
	struct wti_test test;
	char name[VALUE_BYTES], file[VALUE_BYTES], detail[VALUE_BYTES];
};

static int fail(struct xml *x, const char *what)
{
	return wti_err_at(x->err, WT_E_FORMAT, (int64_t)x->at, "'%.200s' is no JUnit XML: %s",
			  x->name, what);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static bool begins(const struct xml *x, const char *word)
{
	size_t bytes = strlen(word);

	return x->bytes - x->at >= bytes && !memcmp(x->text + x->at, word, bytes);
}

/* Behind `word`; false: it does not come. */
static bool skip_to(struct xml *x, const char *word)
{
	const char *found = memmem(x->text + x->at, x->bytes - x->at, word, strlen(word));

	if (!found)
		return false;
	x->at = (size_t)(found - x->text) + strlen(word);
	return true;
}

/* One character of UTF-8 into `out`; how many bytes. */
static size_t put_character(char out[4], unsigned long code)
{
	if (code < 0x20 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		code = code == '\n' || code == '\t' ? ' ' : 0xfffd;
	if (code < 0x80)
		return (size_t)(out[0] = (char)code, 1);
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

/* The entity at `text`, which begins with '&': its length, and what it stands for. 0: it is none.
 */
static size_t read_entity(const char *text, size_t bytes, char out[4], size_t *ret_used)
{
	static const struct {
		const char *name;
		char character;
	} known[] = {
		{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
	const char *end = memchr(text, ';', bytes < 12 ? bytes : 12);
	char number[16], *rest;
	unsigned long code;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (bytes >= strlen(known[i].name) &&
		    !memcmp(text, known[i].name, strlen(known[i].name))) {
			out[0] = known[i].character;
			*ret_used = 1;
			return strlen(known[i].name);
		}
	if (!end || bytes < 4 || text[1] != '#')
		return 0;
	snprintf(number, sizeof(number), "%.*s", (int)(end - text - 2), text + 2);
	code = number[0] == 'x' ? strtoul(number + 1, &rest, 16) : strtoul(number, &rest, 10);
	if (*rest)
		return 0;
	*ret_used = put_character(out, code);
	return (size_t)(end - text) + 1;
}

/* With entities replaced, blanks made one, cut to the room. */
static void decode(const char *text, size_t bytes, char *out, size_t room)
{
	size_t used = strlen(out);

	for (size_t i = 0; i < bytes && used + 5 < room;) {
		char character[4];
		size_t wide = 1, length = 1;

		character[0] = text[i];
		if (text[i] == '&')
			length = read_entity(text + i, bytes - i, character, &wide);
		if (!length) {
			length = wide = 1;
			character[0] = '&';
		}
		i += length;
		if (wide == 1 && (unsigned char)character[0] <= ' ')
			character[0] = ' ';
		if (wide == 1 && character[0] == ' ' && (!used || out[used - 1] == ' '))
			continue;
		memcpy(out + used, character, wide);
		used += wide;
	}
	out[used] = 0;
}

/* ---- Tags ------------------------------------------------------------------------------------ */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* At '<'. Values may hold a '>': the end is the first one that no quotes are around. */
static int read_tag(struct xml *x, struct tag *tag)
{
	size_t at = x->at + 1, name;
	char quote = 0;

	*tag = (struct tag){.is_end = at < x->bytes && x->text[at] == '/'};
	at += tag->is_end;
	name = at;
	while (at < x->bytes && !is_blank(x->text[at]) && x->text[at] != '>' && x->text[at] != '/')
		at++;
	if (at == name || at - name >= NAME_BYTES)
		return fail(x, "an element has no name");
	memcpy(tag->name, x->text + name, at - name);
	tag->attributes = at;
	for (; at < x->bytes && (quote || x->text[at] != '>'); at++) {
		if (quote && x->text[at] == quote)
			quote = 0;
		else if (!quote && (x->text[at] == '"' || x->text[at] == '\''))
			quote = x->text[at];
	}
	if (at >= x->bytes)
		return fail(x, "it ends within an element");
	tag->is_empty = at > name && x->text[at - 1] == '/';
	tag->end = at + 1;
	return 0;
}

/* False: the tag has no such attribute. */
static bool attribute(const struct xml *x, const struct tag *tag, const char *name, char *out,
		      size_t room)
{
	size_t at = tag->attributes, bytes = strlen(name);

	out[0] = 0;
	while (at < tag->end) {
		size_t begin, value;
		char quote;

		while (at < tag->end && is_blank(x->text[at]))
			at++;
		begin = at;
		while (at < tag->end && x->text[at] != '=' && x->text[at] != '>')
			at++;
		if (at + 1 >= tag->end || x->text[at] != '=')
			return false;
		quote = x->text[at + 1];
		value = at + 2;
		at = value;
		while (at < tag->end && x->text[at] != quote)
			at++;
		if (at - begin > bytes && !memcmp(x->text + begin, name, bytes) &&
		    x->text[begin + bytes] == '=') {
			decode(x->text + value, at - value, out, room);
			return true;
		}
		at++;
	}
	return false;
}

/* ---- Test cases ------------------------------------------------------------------------------ */

static int end_case(struct case_ *c, struct wti_tests *tests)
{
	bool was_open = c->is_open;

	c->is_open = false;
	return was_open ? wti_tests_add(tests, &c->test) : 0;
}

static void begin_case(const struct xml *x, const struct tag *tag, struct case_ *c)
{
	char classname[VALUE_BYTES / 2], name[VALUE_BYTES / 2], number[NAME_BYTES];
	double seconds;

	*c = (struct case_){.is_open = true, .depth = x->depth};
	attribute(x, tag, "classname", classname, sizeof(classname));
	attribute(x, tag, "name", name, sizeof(name));
	attribute(x, tag, "file", c->file, sizeof(c->file));
	snprintf(c->name, sizeof(c->name), "%s%s%s", classname, *classname ? "." : "", name);
	c->test = (struct wti_test){.name = c->name,
				    .file = c->file,
				    .detail = c->detail,
				    .status = WT_CHECK_STATUS_PASSED,
				    .comparator = WT_COMPARATOR_ASSERTION,
				    .duration_ns = -1};
	if (attribute(x, tag, "line", number, sizeof(number)))
		c->test.line = (uint32_t)(strtoul(number, NULL, 10) & 0xffffffff);
	if (!attribute(x, tag, "time", number, sizeof(number)))
		return;
	seconds = strtod(number, NULL);
	if (seconds >= 0 && seconds < 1e9)
		c->test.duration_ns = (int64_t)(seconds * 1e9);
}

static void take_outcome(const struct xml *x, const struct tag *tag, struct case_ *c)
{
	static const struct {
		const char *element;
		uint32_t status;
	} outcomes[] = {{"failure", WT_CHECK_STATUS_FAILED},
			{"error", WT_CHECK_STATUS_ERROR},
			{"skipped", WT_CHECK_STATUS_SKIPPED}};

	c->wants_text = false;
	for (size_t i = 0; i < sizeof(outcomes) / sizeof(*outcomes); i++) {
		if (strcmp(tag->name, outcomes[i].element) != 0 ||
		    c->test.status != WT_CHECK_STATUS_PASSED)
			continue;
		c->test.status = outcomes[i].status;
		c->wants_text =
			!attribute(x, tag, "message", c->detail, sizeof(c->detail)) || !*c->detail;
	}
}

static int take_tag(struct xml *x, const struct tag *tag, struct case_ *c, struct wti_tests *tests)
{
	bool is_case = !strcmp(tag->name, "testcase");

	if (tag->is_end) {
		if (!x->depth)
			return fail(x, "an element ends that did not begin");
		x->depth--;
		c->wants_text = false;
		return is_case && c->is_open && c->depth == x->depth ? end_case(c, tests) : 0;
	}
	if (!x->depth && strcmp(tag->name, "testsuites") && strcmp(tag->name, "testsuite"))
		return fail(x, "the first element is neither testsuites nor testsuite");
	x->any = true;
	if (is_case && !c->is_open)
		begin_case(x, tag, c);
	else if (c->is_open)
		take_outcome(x, tag, c);
	if (tag->is_empty)
		return is_case && c->depth == x->depth ? end_case(c, tests) : 0;
	return ++x->depth > DEPTH_MAX ? fail(x, "elements are nested too deeply") : 0;
}

/* ---- The document ---------------------------------------------------------------------------- */

static void take_text(struct xml *x, struct case_ *c, size_t end)
{
	if (c->is_open && c->wants_text)
		decode(x->text + x->at, end - x->at, c->detail, sizeof(c->detail));
	x->at = end;
}

/* What stands at a '<'. */
static int take_markup(struct xml *x, struct case_ *c, struct wti_tests *tests)
{
	struct tag tag;
	size_t begin;
	int r;

	if (begins(x, "<!--"))
		return skip_to(x, "-->") ? 0 : fail(x, "a comment does not end");
	if (begins(x, "<?"))
		return skip_to(x, "?>") ? 0 : fail(x, "a processing instruction does not end");
	if (begins(x, "<![CDATA[")) {
		begin = x->at += 9;
		if (!skip_to(x, "]]>"))
			return fail(x, "a CDATA section does not end");
		if (c->is_open && c->wants_text)
			decode(x->text + begin, x->at - 3 - begin, c->detail, sizeof(c->detail));
		return 0;
	}
	if (begins(x, "<!"))
		return fail(x, "it has a document type, which is not read");
	r = read_tag(x, &tag);
	if (!r)
		r = take_tag(x, &tag, c, tests);
	if (!r)
		x->at = tag.end;
	return r;
}

int wti_junit_parse(const char *name, const char *text, size_t bytes, struct wti_tests *tests,
		    struct wt_err *err)
{
	struct xml x = {.name = name, .text = text, .bytes = bytes, .err = err};
	struct case_ *c = calloc(1, sizeof(*c));
	int r = c ? 0 : wti_err(err, WT_E_NOMEM, "out of memory");

	while (!r && x.at < x.bytes) {
		const char *markup = memchr(text + x.at, '<', bytes - x.at);

		take_text(&x, c, markup ? (size_t)(markup - text) : bytes);
		if (markup)
			r = take_markup(&x, c, tests);
	}
	if (!r && (x.depth || !x.any))
		r = fail(&x, x.any ? "it ends within an element" : "it has no testsuite");
	free(c);
	return r;
}
