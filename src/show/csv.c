/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as CSV after RFC 4180: CRLF between records, quotes doubled. */
#include <string.h>

#include "base/text.h"
#include "cell.h"
#include "show.h"

static bool needs_quotes(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] == '"' || text[i] == ',' || text[i] == '\r' || text[i] == '\n')
			return true;
	}
	return bytes && (text[0] == ' ' || text[bytes - 1] == ' ');
}

static size_t digits(const char *text, size_t bytes)
{
	size_t count = 0;

	while (count < bytes && text[count] >= '0' && text[count] <= '9')
		count++;
	return count;
}

/* "-1.5e+3": what a spreadsheet takes for a number is none of its formulas. */
static bool is_number(const char *text, size_t bytes)
{
	size_t at = text[0] == '-' || text[0] == '+', whole, part = 0, power;

	whole = digits(text + at, bytes - at);
	at += whole;
	if (at < bytes && text[at] == '.') {
		part = digits(text + at + 1, bytes - at - 1);
		at += part + 1;
	}
	if (!whole && !part)
		return false;
	if (at < bytes && (text[at] == 'e' || text[at] == 'E')) {
		at++;
		at += at < bytes && (text[at] == '-' || text[at] == '+');
		power = digits(text + at, bytes - at);
		if (!power)
			return false;
		at += power;
	}
	return at == bytes;
}

/* Spreadsheets calculate what begins so, and a formula may start programs and fetch pages. */
static bool is_formula(const char *text, size_t bytes)
{
	return bytes && memchr("=+-@\t\r\n", text[0], 7) && !is_number(text, bytes);
}

/* What a terminal would obey is shown as in text, as \x1b; newlines and tabs stay, in quotes. */
static void add_harmful(struct wti_buf *out, const char *text, size_t bytes)
{
	if (*text == '\n' || *text == '\t')
		wti_buf_byte(out, (uint8_t)*text);
	else
		wti_printable(out, text, bytes);
}

/* Readers of CSV stumble over NUL and bytes that are no UTF-8: U+FFFD stands for them. */
static void add_valid(struct wti_buf *out, const char *text, size_t bytes)
{
	size_t plain = 0; /* where the run not yet appended begins */
	size_t at = 0;

	while (at < bytes) {
		size_t harmless, length;

		if (text[at] >= ' ' && text[at] <= '~' && text[at] != '"') { /* nearly all */
			at++;
			continue;
		}
		harmless = wti_harmless_length(text + at, bytes - at);
		length = text[at] ? wti_utf8_length(text + at, bytes - at) : 0;
		if (harmless && text[at] != '"') {
			at += harmless;
			continue;
		}
		wti_buf_append(out, text + plain, at - plain);
		if (harmless)
			wti_buf_text(out, "\"\"");
		else if (length)
			add_harmful(out, text + at, length);
		else
			wti_buf_text(out, "\xef\xbf\xbd");
		at += length ? length : 1;
		plain = at;
	}
	wti_buf_append(out, text + plain, at - plain);
}

void wti_csv_field(struct wti_buf *out, const char *text, size_t bytes)
{
	bool quotes = needs_quotes(text, bytes);

	if (quotes)
		wti_buf_byte(out, '"');
	if (is_formula(text, bytes))
		wti_buf_byte(out, '\'');
	add_valid(out, text, bytes);
	if (quotes)
		wti_buf_byte(out, '"');
}

void wti_show_csv(struct wti_buf *out, const struct wt_table *table)
{
	struct wti_buf cell;

	wti_buf_init(&cell, SIZE_MAX);
	for (size_t i = 0; i < table->column_count; i++) {
		wti_buf_text(out, i ? "," : "");
		wti_csv_field(out, table->columns[i].key, strlen(table->columns[i].key));
	}
	wti_buf_text(out, "\r\n");
	for (size_t i = 0; i < table->row_count * table->column_count; i++) {
		wti_buf_clear(&cell);
		wti_cell_exact(&cell, &table->cells[i]);
		wti_buf_text(out, i % table->column_count ? "," : "");
		if (table->cells[i].type == WT_CELL_TEXT)
			wti_csv_field(out, (const char *)cell.data, cell.bytes);
		else /* -inf is a number, too */
			wti_buf_append(out, cell.data, cell.bytes);
		wti_buf_inherit(out, &cell);
		if (i % table->column_count == table->column_count - 1)
			wti_buf_text(out, "\r\n");
	}
	wti_buf_release(&cell);
}
