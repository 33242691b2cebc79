/* SPDX-License-Identifier: Apache-2.0 */
/* How many terminal columns a text takes. No locale: UTF-8 is all that reaches us here. */
#include <stdint.h>

#include "base/text.h"
#include "show.h"

static uint32_t decode(const char *text, size_t length)
{
	const unsigned char *u = (const unsigned char *)text;
	uint32_t c = length == 1   ? u[0]
		     : length == 2 ? u[0] & 0x1f
		     : length == 3 ? u[0] & 15
				   : u[0] & 7;

	for (size_t i = 1; i < length; i++)
		c = c << 6 | (u[i] & 0x3f);
	return c;
}

/* Combining marks take none, East Asian wide characters and emoji two. */
static size_t width_of(uint32_t c)
{
	static const struct {
		uint32_t first, last;
		size_t width;
	} ranges[] = {
		{0x0300, 0x036f, 0},   {0x1100, 0x115f, 2},   {0x200b, 0x200f, 0},
		{0x20d0, 0x20f0, 0},   {0x2e80, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},
		{0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},   {0xfe30, 0xfe6f, 2},
		{0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2},
		{0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1faff, 2}, {0x20000, 0x3fffd, 2},
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (c >= ranges[i].first && c <= ranges[i].last)
			return ranges[i].width;
	}
	return 1;
}

size_t wti_text_fit(const char *text, size_t bytes, size_t columns)
{
	size_t at = 0, used = 0;

	while (at < bytes) {
		size_t length = wti_utf8_length(text + at, bytes - at);
		size_t width = length ? width_of(decode(text + at, length)) : 1;

		if (used + width > columns)
			break;
		used += width;
		at += length ? length : 1;
	}
	return at;
}

size_t wti_text_width(const char *text, size_t bytes)
{
	size_t at = 0, used = 0;

	while (at < bytes) {
		size_t length = wti_utf8_length(text + at, bytes - at);

		used += length ? width_of(decode(text + at, length)) : 1;
		at += length ? length : 1;
	}
	return used;
}
