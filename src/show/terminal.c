/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the codes of colours, and lets nothing else through that a terminal would obey. */
#include "terminal.h"

#include <string.h>

#include "base/text.h"

#define CODES 6

static const char *const codes[CODES] = {"\033[0m",  "\033[1m",  "\033[2m",
					 "\033[31m", "\033[33m", "\033[32m"};

void wti_ink(struct wti_buf *out, const struct wti_style *style, enum wti_ink ink)
{
	if (style->colour)
		wti_buf_text(out, codes[ink]);
}

/* Length of the colour at the beginning; 0: it is none. */
static size_t ink_length(const char *text, size_t bytes)
{
	for (size_t i = 0; i < CODES; i++) {
		size_t length = strlen(codes[i]);

		if (length <= bytes && !memcmp(text, codes[i], length))
			return length;
	}
	return 0;
}

size_t wti_terminal_safe(const char *text, size_t bytes, bool has_ink)
{
	size_t at = 0;

	while (at < bytes) {
		size_t length = 1;
		uint8_t byte;

		while (at < bytes && (uint8_t)(text[at] - ' ') < 0x7f - ' ') /* nearly all */
			at++;
		if (at == bytes)
			break;
		byte = (uint8_t)text[at];
		if (byte >= 0x7f)
			length = wti_harmless_length(text + at, bytes - at);
		else if (byte == '\r')
			length = at + 1 < bytes && text[at + 1] == '\n' ? 2 : 0;
		else if (byte == 0x1b && has_ink)
			length = ink_length(text + at, bytes - at);
		else if (byte != '\n' && byte != '\t')
			length = 0;
		if (!length)
			break;
		at += length;
	}
	return at;
}

void wti_terminal_escape(struct wti_buf *out, const char *text, size_t bytes, bool has_ink)
{
	while (bytes) {
		size_t safe = wti_terminal_safe(text, bytes, has_ink);
		size_t length;

		wti_buf_append(out, text, safe);
		text += safe;
		bytes -= safe;
		if (!bytes)
			break;
		length = wti_utf8_length(text, bytes);
		wti_printable(out, text, length ? length : 1);
		text += length ? length : 1;
		bytes -= length ? length : 1;
	}
}
