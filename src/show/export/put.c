/* SPDX-License-Identifier: Apache-2.0 */
/* Hides how digits are made, and when a short decimal is exact. */
#include "put.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/text.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
/* Whole numbers up to here survive a reader that turns them into doubles. */
#define EXACT_MAX ((uint64_t)1 << 53)

/* Decimal digits before `end`; where they begin. */
static char *digits_before(char *end, uint64_t value)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	while (value >= 100) {
		end -= 2;
		memcpy(end, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10) {
		end -= 2;
		memcpy(end, pairs + value * 2, 2);
	} else {
		*--end = (char)('0' + value);
	}
	return end;
}

void wti_put_u64(struct wti_buf *out, uint64_t value)
{
	char digits[20];
	char *begin = digits_before(digits + sizeof(digits), value);

	wti_put(out, begin, (size_t)(digits + sizeof(digits) - begin));
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

void wti_put_i64(struct wti_buf *out, int64_t value)
{
	if (value < 0)
		WTI_PUT(out, "-");
	wti_put_u64(out, magnitude(value));
}

void wti_put_us(struct wti_buf *out, int64_t ns)
{
	uint64_t size = magnitude(ns);
	unsigned rest = (unsigned)(size % 1000);
	char decimals[4] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
			    (char)('0' + rest % 10)};

	if (ns < 0)
		WTI_PUT(out, "-");
	wti_put_u64(out, size / 1000);
	wti_put(out, decimals, sizeof(decimals));
}

void wti_put_hash(struct wti_buf *out, uint64_t value)
{
	char text[16];

	for (int i = 0; i < 16; i++)
		text[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
	wti_put(out, text, sizeof(text));
}

/* m / 10^decimals with both exact is rounded once, as a reader of the text does it: if that gives
 * the value, the text does. Serves what people write and most of what is measured. */
static bool put_short(struct wti_buf *out, double value)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
	double size = fabs(value);

	for (unsigned decimals = 0; decimals < 10; decimals++) {
		double scaled = size * powers[decimals];
		uint64_t whole;
		char text[32];
		char *begin;
		size_t length;

		if (scaled >= 1e15)
			return false;
		whole = (uint64_t)(scaled + 0.5);
		if ((double)whole / powers[decimals] != size)
			continue;
		if (signbit(value))
			WTI_PUT(out, "-");
		if (!decimals) {
			wti_put_u64(out, whole);
			return true;
		}
		begin = digits_before(text + sizeof(text), whole);
		while (text + sizeof(text) - begin <= decimals)
			*--begin = '0';
		length = (size_t)(text + sizeof(text) - begin);
		wti_put(out, begin, length - decimals);
		WTI_PUT(out, ".");
		wti_put(out, begin + length - decimals, decimals);
		return true;
	}
	return false;
}

void wti_put_f64(struct wti_buf *out, double value)
{
	char text[40];
	char *comma;

	if (isnan(value)) {
		WTI_PUT(out, "nan");
		return;
	}
	if (isinf(value)) {
		wti_put(out, "-inf" + (value > 0), value > 0 ? 3 : 4);
		return;
	}
	if (put_short(out, value))
		return;
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (digits == 17 || strtod(text, NULL) == value)
			break;
	}
	comma = strchr(text, ','); /* whoever uses the library may have set a locale */
	if (comma)
		*comma = '.';
	wti_put(out, text, strlen(text));
}

/* Copies what needs no escape; how much that was. */
static size_t copy_plain(uint8_t *to, const char *text, size_t bytes)
{
	size_t at = 0;

	while (at < bytes) {
		uint8_t byte = (uint8_t)text[at];

		if (byte < 0x20 || byte >= 0x7f || byte == '"' || byte == '\\')
			break;
		to[at++] = byte;
	}
	return at;
}

void wti_put_json_text(struct wti_buf *out, struct wt_text text)
{
	uint8_t *to = wti_buf_reserve(out, text.bytes + 2);
	size_t plain;

	if (!to)
		return;
	*to++ = '"';
	plain = copy_plain(to, text.data, text.bytes);
	if (plain == text.bytes) {
		to[plain] = '"';
		out->bytes += plain + 2;
		return;
	}
	out->bytes += plain + 1;
	wti_json_escape(out, text.data + plain, text.bytes - plain);
	WTI_PUT(out, "\"");
}

/* Quoted when a double could not hold it. */
static void put_json_whole(struct wti_buf *out, uint64_t size, bool negative)
{
	bool quote = size > EXACT_MAX;

	if (quote)
		WTI_PUT(out, "\"");
	if (negative)
		WTI_PUT(out, "-");
	wti_put_u64(out, size);
	if (quote)
		WTI_PUT(out, "\"");
}

static void put_json_real(struct wti_buf *out, double value)
{
	bool quote = !isfinite(value);

	if (quote)
		WTI_PUT(out, "\"");
	wti_put_f64(out, value);
	if (quote)
		WTI_PUT(out, "\"");
}

void wti_put_json(struct wti_buf *out, const struct wti_shown *value)
{
	switch (value->type) {
	case WTI_SHOWN_ABSENT:
		WTI_PUT(out, "null");
		break;
	case WTI_SHOWN_BOOL:
		wti_put(out, value->u ? "true" : "false", value->u ? 4 : 5);
		break;
	case WTI_SHOWN_UINT:
		put_json_whole(out, value->u, false);
		break;
	case WTI_SHOWN_INT:
	case WTI_SHOWN_TIME:
		put_json_whole(out, magnitude(value->i), value->i < 0);
		break;
	case WTI_SHOWN_FLOAT:
		put_json_real(out, value->f);
		break;
	case WTI_SHOWN_HASH:
		WTI_PUT(out, "\"");
		wti_put_hash(out, value->u);
		WTI_PUT(out, "\"");
		break;
	case WTI_SHOWN_TEXT:
		wti_put_json_text(out, value->text);
		break;
	case WTI_SHOWN_BYTES:
		WTI_PUT(out, "\"");
		wti_buf_hex(out, value->text.data, value->text.bytes);
		WTI_PUT(out, "\"");
		break;
	}
}

void wti_put_json_u64(struct wti_buf *out, uint64_t value)
{
	put_json_whole(out, value, false);
}

void wti_put_utf8(struct wti_buf *out, struct wt_text text)
{
	size_t plain = 0; /* where the run not yet appended begins */
	size_t at = 0;

	while (at < text.bytes) {
		size_t length = 1;

		/* A NUL ends the text for many readers: it is as bad as a broken sequence. */
		if ((uint8_t)text.data[at] >= 0x80 || !text.data[at])
			length = text.data[at] ? wti_utf8_length(text.data + at, text.bytes - at)
					       : 0;
		if (length) {
			at += length;
			continue;
		}
		wti_put(out, text.data + plain, at - plain);
		WTI_PUT(out, REPLACEMENT);
		plain = ++at;
	}
	wti_put(out, text.data + plain, at - plain);
}

void wti_put_plain(struct wti_buf *out, const struct wti_shown *value)
{
	switch (value->type) {
	case WTI_SHOWN_ABSENT:
		break;
	case WTI_SHOWN_BOOL:
		wti_put(out, value->u ? "true" : "false", value->u ? 4 : 5);
		break;
	case WTI_SHOWN_UINT:
		wti_put_u64(out, value->u);
		break;
	case WTI_SHOWN_INT:
	case WTI_SHOWN_TIME:
		wti_put_i64(out, value->i);
		break;
	case WTI_SHOWN_FLOAT:
		wti_put_f64(out, value->f);
		break;
	case WTI_SHOWN_HASH:
		wti_put_hash(out, value->u);
		break;
	case WTI_SHOWN_TEXT:
		wti_put_utf8(out, value->text);
		break;
	case WTI_SHOWN_BYTES:
		wti_buf_hex(out, value->text.data, value->text.bytes);
		break;
	}
}
