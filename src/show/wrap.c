/* SPDX-License-Identifier: Apache-2.0 */
/* Knows where a line may be broken, and under which of its columns it goes on. */
#include "wrap.h"

#include <stdbool.h>
#include <string.h>

#include "show.h"

#define MARGIN 2u /* of what goes on, where there is no column to stand under */

/* Length of a colour at the beginning, which takes no column; 0: there is none. */
static size_t ink_length(const char *text, size_t bytes)
{
	const char *end =
		bytes > 1 && text[0] == '\033' && text[1] == '[' ? memchr(text, 'm', bytes) : NULL;

	return end ? (size_t)(end - text) + 1 : 0;
}

static size_t columns_of(const char *text, size_t bytes)
{
	size_t at = 0, columns = 0;

	while (at < bytes) {
		const char *ink = memchr(text + at, '\033', bytes - at);
		size_t plain = ink ? (size_t)(ink - text) - at : bytes - at;

		columns += wti_text_width(text + at, plain);
		at += plain;
		if (at < bytes) {
			size_t length = ink_length(text + at, bytes - at);

			at += length ? length : 1;
		}
	}
	return columns;
}

static size_t spaces(const char *text, size_t bytes)
{
	size_t count = 0;

	while (count < bytes && text[count] == ' ')
		count++;
	return count;
}

static size_t word_bytes(const char *text, size_t bytes)
{
	const char *space = memchr(text, ' ', bytes);

	return space ? (size_t)(space - text) : bytes;
}

/* The column behind the first gap of two spaces or more, as labels have one behind them. */
static size_t hanging(const char *line, size_t bytes, size_t width)
{
	size_t lead = spaces(line, bytes), at = lead;

	while (at < bytes) {
		size_t gap;

		at += word_bytes(line + at, bytes - at);
		gap = spaces(line + at, bytes - at);
		at += gap;
		if (gap > 1 && columns_of(line, at) <= width / 2)
			return columns_of(line, at);
		if (gap > 1)
			break;
	}
	return lead + MARGIN < width / 2 ? lead + MARGIN : MARGIN;
}

static void pad(struct wti_buf *out, size_t columns)
{
	while (columns--)
		wti_buf_byte(out, ' ');
}

static void fold(struct wti_buf *out, const char *line, size_t bytes, size_t width)
{
	size_t hang = hanging(line, bytes, width);
	size_t used = 0, owed = 0, at = 0;
	bool is_begun = false; /* the line has a word */

	while (at < bytes) {
		size_t gap = spaces(line + at, bytes - at);
		size_t word = word_bytes(line + at + gap, bytes - at - gap);
		size_t columns = columns_of(line + at + gap, word);

		owed += gap; /* until something is seen behind it */
		if (columns && is_begun && used + owed + columns > width) {
			/* A word that is longer than what is left there stands at the margin. */
			owed = hang + columns > width ? MARGIN : hang;
			used = 0;
			wti_buf_byte(out, '\n');
		}
		if (columns) {
			pad(out, owed);
			used += owed + columns;
			owed = 0;
			is_begun = true;
		}
		wti_buf_append(out, line + at + gap, word);
		at += gap + word;
	}
}

/* Without spaces at the end, also those in front of the end of a colour. */
static size_t trimmed(const char *line, size_t bytes, bool *ret_ends_ink)
{
	static const char end[] = "\033[0m";
	const size_t end_bytes = sizeof(end) - 1;
	size_t last = bytes;

	*ret_ends_ink = false;
	while (last && line[last - 1] == ' ')
		last--;
	if (last < end_bytes || memcmp(line + last - end_bytes, end, end_bytes) != 0)
		return last;
	bytes = last -= end_bytes;
	while (last && line[last - 1] == ' ')
		last--;
	*ret_ends_ink = last < bytes;
	return *ret_ends_ink ? last : last + end_bytes;
}

void wti_wrap(struct wti_buf *out, const char *text, size_t bytes, unsigned width)
{
	size_t at = 0;

	while (at < bytes) {
		const char *newline = memchr(text + at, '\n', bytes - at);
		size_t line = newline ? (size_t)(newline - text) - at : bytes - at;
		bool ends_ink;
		size_t shown = trimmed(text + at, line, &ends_ink);

		if (width && columns_of(text + at, shown) > width)
			fold(out, text + at, shown, width);
		else
			wti_buf_append(out, text + at, shown);
		if (ends_ink)
			wti_buf_text(out, "\033[0m");
		if (newline)
			wti_buf_byte(out, '\n');
		at += line + (newline ? 1 : 0);
	}
}
