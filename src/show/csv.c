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

/* Readers of CSV stumble over NUL and bytes that are no UTF-8: U+FFFD stands for them. */
static void add_valid(struct wti_buf *out, const char *text, size_t bytes)
{
	size_t plain = 0; /* where the run not yet appended begins */
	size_t at = 0;

	while (at < bytes) {
		uint8_t byte = (uint8_t)text[at];
		size_t length = byte < 0x80 ? byte != 0 : wti_utf8_length(text + at, bytes - at);

		if (length && byte != '"') {
			at += length;
			continue;
		}
		wti_buf_append(out, text + plain, at - plain);
		plain = at; /* a quote is appended with the next run, and so doubled */
		wti_buf_text(out, length ? "\"" : "\xef\xbf\xbd");
		plain += !length;
		at++;
	}
	wti_buf_append(out, text + plain, at - plain);
}

void wti_csv_field(struct wti_buf *out, const char *text, size_t bytes)
{
	bool quotes = needs_quotes(text, bytes);

	if (quotes)
		wti_buf_byte(out, '"');
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
		wti_csv_field(out, (const char *)cell.data, cell.bytes);
		wti_buf_inherit(out, &cell);
		if (i % table->column_count == table->column_count - 1)
			wti_buf_text(out, "\r\n");
	}
	wti_buf_release(&cell);
}
