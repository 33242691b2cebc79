/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the lines of TAP. Nothing is kept of a text but the test that its lines may still be about.
 */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"

enum { NAME_BYTES = 512, TEXT_BYTES = 1024, WORD_BYTES = 64 };

struct line {
	const char *text;
	size_t bytes;
};

/* The test that was read last, until the next one: what follows may describe it. */
struct reading {
	struct wti_tests *tests; /* NULL: only looks */
	bool has_test;
	bool in_yaml;
	bool has_plan, has_version, has_result;
	bool is_over; /* bailed out */
	uint64_t planned, seen;
	struct wti_test test;
	char name[NAME_BYTES], detail[TEXT_BYTES], expected[TEXT_BYTES], actual[TEXT_BYTES],
		file[TEXT_BYTES];
	int status;
};

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool skip_word(struct line *line, const char *word)
{
	size_t bytes = strlen(word);

	if (line->bytes < bytes || memcmp(line->text, word, bytes) != 0)
		return false;
	line->text += bytes;
	line->bytes -= bytes;
	return true;
}

static void skip_blanks(struct line *line)
{
	while (line->bytes && (*line->text == ' ' || *line->text == '\t')) {
		line->text++;
		line->bytes--;
	}
}

static void cut_blanks(struct line *line)
{
	while (line->bytes && strchr(" \t\r", line->text[line->bytes - 1]))
		line->bytes--;
}

/* False: there is none; what is too large stays at the end of its range. */
static bool skip_number(struct line *line, uint64_t *ret_number)
{
	uint64_t number = 0;
	size_t digits = 0;

	for (; digits < line->bytes && line->text[digits] >= '0' && line->text[digits] <= '9';
	     digits++)
		number = number > UINT64_MAX / 20
				 ? number
				 : number * 10 + (uint64_t)(line->text[digits] - '0');
	if (!digits)
		return false;
	line->text += digits;
	line->bytes -= digits;
	*ret_number = number;
	return true;
}

static void copy(char *out, size_t room, struct line line)
{
	size_t bytes = line.bytes < room - 1 ? line.bytes : room - 1;

	for (size_t i = 0; i < bytes; i++)
		out[i] = line.text[i] ? line.text[i] : '?';
	out[bytes] = 0;
}

static bool is_word(struct line line, const char *word)
{
	size_t bytes = strlen(word);

	return line.bytes >= bytes && !strncasecmp(line.text, word, bytes);
}

/* ---- A test ---------------------------------------------------------------------------------- */

static void end_test(struct reading *r)
{
	if (r->has_test && r->tests && !r->status)
		r->status = wti_tests_add(r->tests, &r->test);
	r->has_test = r->in_yaml = false;
}

static void begin_test(struct reading *r, uint32_t status)
{
	end_test(r);
	r->has_test = true;
	r->name[0] = r->detail[0] = r->expected[0] = r->actual[0] = r->file[0] = 0;
	r->test = (struct wti_test){.name = r->name,
				    .detail = r->detail,
				    .expected = r->expected,
				    .actual = r->actual,
				    .file = r->file,
				    .status = status,
				    .comparator = WT_COMPARATOR_ASSERTION,
				    .duration_ns = -1};
}

/* "# SKIP no device", "# TODO not yet", "# time=12ms" */
static void take_directive(struct reading *r, struct line line)
{
	double ms;

	skip_blanks(&line);
	if (is_word(line, "skip")) {
		r->test.status = WT_CHECK_STATUS_SKIPPED;
		for (; line.bytes && *line.text != ' '; line.bytes--)
			line.text++;
	} else if (is_word(line, "todo")) {
		/* Its failure is expected, and its success proves nothing. */
		r->test.status = WT_CHECK_STATUS_SKIPPED;
	} else if (is_word(line, "time=")) {
		char number[WORD_BYTES];

		copy(number, sizeof(number), (struct line){line.text + 5, line.bytes - 5});
		ms = strtod(number, NULL);
		if (ms >= 0 && ms < 1e12)
			r->test.duration_ns = (int64_t)(ms * 1e6);
		return;
	} else {
		return;
	}
	skip_blanks(&line);
	copy(r->detail, sizeof(r->detail), line);
}

/* Where the directive begins: a '#' that is not quoted; the end if there is none. */
static size_t directive_at(struct line line)
{
	for (size_t i = 0; i < line.bytes; i++) {
		if (line.text[i] == '\\')
			i++;
		else if (line.text[i] == '#' && (!i || line.text[i - 1] == ' '))
			return i;
	}
	return line.bytes;
}

static void take_result(struct reading *r, struct line line, bool ok)
{
	uint64_t number = ++r->seen;
	size_t at;
	struct line name;

	r->has_result = true;
	begin_test(r, ok ? WT_CHECK_STATUS_PASSED : WT_CHECK_STATUS_FAILED);
	skip_blanks(&line);
	skip_number(&line, &number);
	skip_blanks(&line);
	if (skip_word(&line, "-"))
		skip_blanks(&line);
	at = directive_at(line);
	name = (struct line){line.text, at};
	cut_blanks(&name);
	if (name.bytes)
		copy(r->name, sizeof(r->name), name);
	else
		snprintf(r->name, sizeof(r->name), "test %llu", (unsigned long long)number);
	if (at < line.bytes)
		take_directive(r, (struct line){line.text + at + 1, line.bytes - at - 1});
}

/* The first comment after a failure says why. */
static void take_comment(struct reading *r, struct line line)
{
	skip_blanks(&line);
	if (r->has_test && r->test.status == WT_CHECK_STATUS_FAILED && !*r->detail)
		copy(r->detail, sizeof(r->detail), line);
}

/* ---- YAML blocks ----------------------------------------------------------------------------- */

static void unquote(struct line *line)
{
	if (line->bytes >= 2 && (*line->text == '"' || *line->text == '\'') &&
	    line->text[line->bytes - 1] == *line->text) {
		line->text++;
		line->bytes -= 2;
	}
}

/* Only what stands as "key: value" on a line. */
static void take_yaml(struct reading *r, struct line line)
{
	const char *colon = memchr(line.text, ':', line.bytes);
	struct line key = {line.text, colon ? (size_t)(colon - line.text) : 0};
	struct line value = {colon ? colon + 1 : line.text, colon ? line.bytes - key.bytes - 1 : 0};
	char number[WORD_BYTES];

	skip_blanks(&value);
	unquote(&value);
	copy(number, sizeof(number), value);
#define IS(word) (key.bytes == sizeof(word) - 1 && is_word(key, word))
	if (IS("message"))
		copy(r->detail, sizeof(r->detail), value);
	else if (IS("expected") || IS("wanted"))
		copy(r->expected, sizeof(r->expected), value);
	else if (IS("actual") || IS("found"))
		copy(r->actual, sizeof(r->actual), value);
	else if (IS("file"))
		copy(r->file, sizeof(r->file), value);
	else if (IS("line"))
		r->test.line = (uint32_t)(strtoul(number, NULL, 10) & 0xffffffff);
	else if (IS("duration_ms") && strtod(number, NULL) >= 0 && strtod(number, NULL) < 1e12)
		r->test.duration_ns = (int64_t)(strtod(number, NULL) * 1e6);
#undef IS
}

/* ---- Plan and end ---------------------------------------------------------------------------- */

static void add_row(struct reading *r, const char *name, uint32_t status, struct line detail)
{
	begin_test(r, status);
	snprintf(r->name, sizeof(r->name), "%s", name);
	copy(r->detail, sizeof(r->detail), detail);
	end_test(r);
}

static void take_plan(struct reading *r, struct line line)
{
	size_t at;

	if (r->has_plan || !skip_number(&line, &r->planned))
		return;
	r->has_plan = true;
	at = directive_at(line);
	if (r->planned || at == line.bytes)
		return;
	r->has_result = true; /* of a program that skips all it has */
	line.text += at + 1;
	line.bytes -= at + 1;
	skip_blanks(&line);
	add_row(r, "all", WT_CHECK_STATUS_SKIPPED, line);
}

static void take_line(struct reading *r, struct line line)
{
	struct line inner = line;

	cut_blanks(&line);
	inner.bytes = line.bytes;
	skip_blanks(&inner);
	if (r->in_yaml && inner.bytes == 3 && !memcmp(inner.text, "...", 3))
		r->in_yaml = false;
	else if (r->in_yaml)
		take_yaml(r, inner);
	else if (r->has_test && inner.text > line.text && inner.bytes == 3 &&
		 !memcmp(inner.text, "---", 3))
		r->in_yaml = true;
	else if (skip_word(&line, "TAP version "))
		r->has_version = true;
	else if (skip_word(&line, "1.."))
		take_plan(r, line);
	else if (skip_word(&line, "ok") && (!line.bytes || *line.text == ' '))
		take_result(r, line, true);
	else if (skip_word(&line, "not ok") && (!line.bytes || *line.text == ' '))
		take_result(r, line, false);
	else if (skip_word(&line, "#"))
		take_comment(r, line);
	else if (skip_word(&line, "Bail out!")) {
		skip_blanks(&line);
		r->is_over = true;
		add_row(r, "bail out", WT_CHECK_STATUS_ERROR, line);
	}
}

static void finish(struct reading *r)
{
	char text[WORD_BYTES];

	end_test(r);
	if (!r->has_plan || r->is_over || r->planned == r->seen)
		return;
	snprintf(text, sizeof(text), "planned %llu, seen %llu", (unsigned long long)r->planned,
		 (unsigned long long)r->seen);
	add_row(r, "plan", WT_CHECK_STATUS_ERROR, (struct line){text, strlen(text)});
}

static void read_all(struct reading *r, const char *text, size_t bytes)
{
	while (bytes) {
		const char *end = memchr(text, '\n', bytes);
		size_t used = end ? (size_t)(end - text) : bytes;

		take_line(r, (struct line){text, used});
		used += end != NULL;
		text += used;
		bytes -= used;
	}
	finish(r);
}

int wti_tap_parse(const char *text, size_t bytes, struct wti_tests *tests, bool *ret_is_tap)
{
	struct reading *r = calloc(1, sizeof(*r));
	int status;

	if (!r)
		return WT_E_NOMEM;
	read_all(r, text, bytes);
	*ret_is_tap = r->has_result && (r->has_plan || r->has_version);
	if (*ret_is_tap) {
		*r = (struct reading){.tests = tests};
		read_all(r, text, bytes);
	}
	status = r->status;
	free(r);
	return status;
}

int wti_tap_console(const char *path, struct wti_tests *tests)
{
	struct wti_buf text;
	bool is_tap;
	int r;

	wti_buf_init(&text, WTI_TAP_BYTES_MAX);
	r = wti_file_read(path, WTI_TAP_BYTES_MAX, &text, NULL);
	if (!r)
		r = wti_tap_parse((const char *)text.data, text.bytes, tests, &is_tap);
	else if (r != WT_E_NOMEM)
		r = 0;
	wti_buf_release(&text);
	return r;
}
