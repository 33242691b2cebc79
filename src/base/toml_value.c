/* SPDX-License-Identifier: Apache-2.0 */
/* The values of TOML that hold no others: four kinds of strings, numbers, booleans. */
#include "toml_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_next(const struct wti_scan *scan, const char *text)
{
	size_t bytes = strlen(text);

	return (size_t)(scan->end - scan->at) >= bytes && !memcmp(scan->at, text, bytes);
}

static bool in_set(char c, const char *set)
{
	return c && strchr(set, c);
}

/* ---- Strings ---- */

/* \u1234 or \U12345678; `at` is at the first digit. */
static int unicode_escape(struct wti_scan *scan, size_t digits)
{
	const char *start = scan->at - 2;
	uint32_t point;

	if (!wti_scan_hex(scan, digits, &point))
		return wti_scan_fail(scan, WT_E_FORMAT, start,
				     "escape needs %zu hexadecimal digits", digits);
	if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
		return wti_scan_fail(scan, WT_E_FORMAT, start, "escape is not a character");
	wti_scan_put(scan, point);
	return 0;
}

/* A backslash at the end of a line swallows it and all blank space after it. */
static bool swallow_line_end(struct wti_scan *scan)
{
	const char *start = scan->at;

	while (scan->at < scan->end && in_set(*scan->at, " \t"))
		scan->at++;
	if (!wti_scan_newline(scan)) {
		scan->at = start;
		return false;
	}
	while (scan->at < scan->end && (wti_scan_newline(scan) || in_set(*scan->at, " \t")))
		scan->at += scan->at < scan->end && in_set(*scan->at, " \t");
	return true;
}

/* `at` is behind the backslash. */
static int escape(struct wti_scan *scan, bool multi_line)
{
	static const char letters[] = "b\bt\tn\nf\fr\r\"\"\\\\";
	char c = scan->at < scan->end ? *scan->at : 0;

	if (multi_line && swallow_line_end(scan))
		return 0;
	for (size_t i = 0; letters[i]; i += 2) {
		if (letters[i] == c) {
			scan->at++;
			wti_buf_byte(&scan->scratch, (uint8_t)letters[i + 1]);
			return 0;
		}
	}
	if (c == 'u' || c == 'U') {
		scan->at++;
		return unicode_escape(scan, c == 'u' ? 4 : 8);
	}
	return wti_scan_fail(scan, WT_E_FORMAT, scan->at - 1,
			     "unknown escape; write '\\\\' for a backslash, or use single quotes");
}

/* True, and over it, if the closing quotes are here. Quotes before them belong to the text. */
static bool closes(struct wti_scan *scan, char quote, bool multi_line)
{
	size_t count = 0;

	if (!multi_line) {
		scan->at++;
		return true;
	}
	while (scan->at + count < scan->end && scan->at[count] == quote && count < 5)
		count++;
	scan->at += count;
	for (size_t i = count >= 3 ? 3 : 0; i < count; i++)
		wti_buf_byte(&scan->scratch, (uint8_t)quote);
	return count >= 3;
}

static int string_body(struct wti_scan *scan, const char *start, char quote, bool multi_line)
{
	unsigned line = scan->line;

	while (scan->at < scan->end) {
		char c = *scan->at;

		if (c == quote) {
			if (closes(scan, quote, multi_line))
				return 0;
		} else if (c == '\\' && quote == '"') {
			int status;

			scan->at++;
			status = escape(scan, multi_line);
			if (status)
				return status;
		} else if (c == '\n' || c == '\r') {
			if (!multi_line)
				break;
			wti_scan_newline(scan);
			wti_buf_byte(&scan->scratch, '\n');
		} else {
			wti_buf_byte(&scan->scratch, (uint8_t)c);
			scan->at++;
		}
	}
	if (multi_line)
		return wti_scan_fail(scan, WT_E_FORMAT, scan->at, "string of line %u is not closed",
				     line);
	return wti_scan_fail(scan, WT_E_FORMAT, start, "string is not closed on its line");
}

int wti_toml_string(struct wti_scan *scan, bool one_line, const char **ret_data, size_t *ret_bytes)
{
	const char *start = scan->at;
	char quote = *start;
	bool multi_line = is_next(scan, quote == '"' ? "\"\"\"" : "'''");
	char *data;
	int status;

	if (multi_line && one_line)
		return wti_scan_fail(scan, WT_E_FORMAT, start, "a key cannot span lines");
	wti_buf_clear(&scan->scratch);
	scan->at += multi_line ? 3 : 1;
	if (multi_line)
		wti_scan_newline(scan); /* the first, if it follows at once, does not count */
	status = string_body(scan, start, quote, multi_line);
	if (status)
		return status;
	data = wti_buf_status(&scan->scratch)
		       ? NULL
		       : wti_arena_text(scan->arena, (char *)scan->scratch.data,
					scan->scratch.bytes);
	if (!data)
		return wti_scan_no_memory(scan);
	*ret_data = data;
	*ret_bytes = scan->scratch.bytes;
	return 0;
}

/* ---- Numbers ---- */

static bool is_digit_of(char c, unsigned base)
{
	if (base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
		return true;
	return c >= '0' && c < '0' + (char)(base < 10 ? base : 10);
}

/*
 * Copies a run of digits, dropping the underscores, which must stand between digits. Returns the
 * number of digits, or 0 if there is no proper run. `out` has room: no longer than the word.
 */
static size_t take_digits(const char **at, unsigned base, char *out)
{
	size_t count = 0;

	while (is_digit_of(**at, base) || (**at == '_' && count && is_digit_of((*at)[1], base))) {
		if (**at != '_')
			out[count++] = **at;
		(*at)++;
	}
	return count;
}

static bool parse_based(const char *word, struct wti_doc *ret)
{
	unsigned base = word[1] == 'x' ? 16 : word[1] == 'o' ? 8 : word[1] == 'b' ? 2 : 0;
	char digits[WTI_SCAN_NUMBER_MAX + 1] = "";
	const char *at = word + 2;

	if (word[0] != '0' || !base || !take_digits(&at, base, digits) || *at)
		return false;
	errno = 0;
	ret->integer = strtoll(digits, NULL, (int)base);
	ret->type = WTI_DOC_INT;
	return !errno;
}

static bool parse_decimal(const char *word, struct wti_doc *ret)
{
	char text[WTI_SCAN_NUMBER_MAX + 3] = "";
	const char *at = word;
	size_t length = 0, count;
	bool is_float = false;

	if (in_set(*at, "+-"))
		text[length++] = *at++;
	if (!strcmp(at, "inf") || !strcmp(at, "nan")) {
		ret->type = WTI_DOC_FLOAT;
		memcpy(text + length, at, 4);
		return wti_scan_double(text, &ret->number);
	}
	count = take_digits(&at, 10, text + length);
	if (!count || (count > 1 && text[length] == '0'))
		return false;
	length += count;
	if (*at == '.') {
		is_float = true;
		text[length++] = *at++;
		count = take_digits(&at, 10, text + length);
		if (!count)
			return false;
		length += count;
	}
	if (in_set(*at, "eE")) {
		is_float = true;
		text[length++] = *at++;
		if (in_set(*at, "+-"))
			text[length++] = *at++;
		if (!take_digits(&at, 10, text + length))
			return false;
	}
	if (*at)
		return false;
	if (is_float) {
		ret->type = WTI_DOC_FLOAT;
		return wti_scan_double(text, &ret->number);
	}
	errno = 0;
	ret->type = WTI_DOC_INT;
	ret->integer = strtoll(text, NULL, 10);
	return !errno;
}

static bool looks_like_date(const char *word)
{
	size_t digits = strspn(word, "0123456789");

	return (digits == 4 && word[4] == '-') || (digits == 2 && word[2] == ':');
}

static bool parse_word(const char *word, struct wti_doc *ret)
{
	if (!strcmp(word, "true") || !strcmp(word, "false")) {
		ret->type = WTI_DOC_BOOL;
		ret->boolean = word[0] == 't';
		return true;
	}
	return parse_based(word, ret) || parse_decimal(word, ret);
}

int wti_toml_scalar(struct wti_scan *scan, struct wti_doc *ret)
{
	const char *start = scan->at;
	char word[WTI_SCAN_NUMBER_MAX + 1];
	size_t bytes;

	if (start < scan->end && (*start == '"' || *start == '\'')) {
		ret->type = WTI_DOC_STRING;
		return wti_toml_string(scan, false, &ret->string.data, &ret->string.bytes);
	}
	while (scan->at < scan->end && !in_set(*scan->at, " \t\r\n,]}#=\"'[{"))
		scan->at++;
	bytes = (size_t)(scan->at - start);
	if (!bytes)
		return wti_scan_fail(scan, WT_E_FORMAT, start, "a value is missing");
	if (bytes > WTI_SCAN_NUMBER_MAX)
		return wti_scan_fail(scan, WT_E_FORMAT, start, "not a value; put text into quotes");
	memcpy(word, start, bytes);
	word[bytes] = 0;
	if (parse_word(word, ret))
		return 0;
	if (looks_like_date(word))
		return wti_scan_fail(scan, WT_E_FORMAT, start,
				     "dates are not supported; put '%s' into quotes", word);
	return wti_scan_fail(scan, WT_E_FORMAT, start, "'%s' is not a value; put text into quotes",
			     word);
}
