/* SPDX-License-Identifier: Apache-2.0 */
#include "markup.h"

#include <string.h>

#include "base/text.h"

#define TEXT_MAX (1u << 30)

void wti_markup_escape(struct wti_buf *out, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		switch (text[i]) {
		case '&':
			wti_buf_text(out, "&amp;");
			break;
		case '<':
			wti_buf_text(out, "&lt;");
			break;
		case '>':
			wti_buf_text(out, "&gt;");
			break;
		case '"':
			wti_buf_text(out, "&quot;");
			break;
		default:
			wti_buf_byte(out, (uint8_t)text[i]);
		}
}

void wti_markup_text(struct wti_buf *out, const char *text)
{
	struct wti_buf printable;

	wti_buf_init(&printable, TEXT_MAX);
	wti_printable(&printable, text, strlen(text));
	wti_markup_escape(out, (const char *)printable.data, printable.bytes);
	wti_buf_inherit(out, &printable);
	wti_buf_release(&printable);
}
