/* SPDX-License-Identifier: Apache-2.0 */
/* What a piece of JSON says: numbers, times, texts. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/scan.h"
#include "event.h"

#define NS_DIGITS 3 /* of a microsecond */

/* One that is missing in the file has no place. */
static const char *begin_of(const struct wti_fragment *piece)
{
	return piece->bytes ? piece->data : "";
}

bool wti_piece_is(const struct wti_fragment *piece, const char *text)
{
	size_t bytes = strlen(text);

	return piece->bytes == bytes && !memcmp(begin_of(piece), text, bytes);
}

bool wti_piece_has(const struct wti_fragment *piece, const char *text)
{
	return memmem(begin_of(piece), piece->bytes, text, strlen(text));
}

static bool hexadecimal(const char *at, const char *end, int64_t *ret_number)
{
	uint64_t number = 0;

	if (at == end || end - at > 16)
		return false;
	for (; at < end; at++) {
		char c = (char)(*at | 0x20);

		if (c >= '0' && c <= '9')
			number = number << 4 | (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			number = number << 4 | (unsigned)(c - 'a' + 10);
		else
			return false;
	}
	*ret_number = (int64_t)number;
	return true;
}

bool wti_piece_number(const struct wti_fragment *piece, int64_t *ret_number)
{
	const char *at = begin_of(piece), *end = at + piece->bytes;
	bool negative = at < end && *at == '-';
	uint64_t number = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		return hexadecimal(at + 2, end, ret_number);
	at += negative;
	if (at == end)
		return false;
	for (; at < end; at++) {
		if (*at < '0' || *at > '9' || number > UINT64_MAX / 10 - 1)
			return false;
		number = number * 10 + (unsigned)(*at - '0');
	}
	*ret_number = negative ? (int64_t)(0 - number) : (int64_t)number;
	return true;
}

bool wti_piece_double(const struct wti_fragment *piece, double *ret_number)
{
	char text[WTI_SCAN_NUMBER_MAX];

	if (!piece->bytes || piece->bytes >= sizeof(text))
		return false;
	memcpy(text, piece->data, piece->bytes);
	text[piece->bytes] = '\0';
	return wti_scan_double(text, ret_number);
}

/* Numbers with an exponent, which no profiler writes: as good as a double can be. */
static bool rounded_time(const struct wti_fragment *piece, int64_t *ret_ns)
{
	double number;

	if (!wti_piece_double(piece, &number))
		return false;
	*ret_ns = wti_i64_of(number * 1000);
	return true;
}

bool wti_piece_time(const struct wti_fragment *piece, int64_t *ret_ns)
{
	const char *at = begin_of(piece), *end = at + piece->bytes;
	bool negative = at < end && *at == '-';
	uint64_t number = 0;
	const char *first = at += negative;
	int decimals = 0;

	for (; at < end && *at >= '0' && *at <= '9' && number < INT64_MAX / 10000; at++)
		number = number * 10 + (unsigned)(*at - '0');
	if (at == first)
		return false;
	if (at < end && *at == '.') {
		for (at++; at < end && *at >= '0' && *at <= '9'; at++) {
			if (decimals < NS_DIGITS) {
				number = number * 10 + (unsigned)(*at - '0');
				decimals++;
			}
		}
	}
	if (at < end)
		return rounded_time(piece, ret_ns);
	for (; decimals < NS_DIGITS; decimals++)
		number *= 10;
	if (number > INT64_MAX)
		return false;
	*ret_ns = negative ? -(int64_t)number : (int64_t)number;
	return true;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

struct unescaping {
	char *out;
	size_t bytes, room;
};

static void put(struct unescaping *to, char c)
{
	if (to->bytes < to->room)
		to->out[to->bytes++] = c;
}

static void put_point(struct unescaping *to, uint32_t point)
{
	if (point < 0x80) {
		put(to, (char)point);
	} else if (point < 0x800) {
		put(to, (char)(0xc0 | point >> 6));
		put(to, (char)(0x80 | (point & 0x3f)));
	} else if (point < 0x10000) {
		put(to, (char)(0xe0 | point >> 12));
		put(to, (char)(0x80 | (point >> 6 & 0x3f)));
		put(to, (char)(0x80 | (point & 0x3f)));
	} else {
		put(to, (char)(0xf0 | point >> 18));
		put(to, (char)(0x80 | (point >> 12 & 0x3f)));
		put(to, (char)(0x80 | (point >> 6 & 0x3f)));
		put(to, (char)(0x80 | (point & 0x3f)));
	}
}

static bool four_digits(const char *at, const char *end, uint32_t *ret_unit)
{
	int64_t number;

	if (end - at < 4 || !hexadecimal(at, at + 4, &number))
		return false;
	*ret_unit = (uint32_t)number;
	return true;
}

/* Behind \u; returns the place behind it. */
static const char *unicode(struct unescaping *to, const char *at, const char *end)
{
	uint32_t unit, second;

	if (!four_digits(at, end, &unit)) {
		put(to, 'u'); /* not what it should be: as it stands */
		return at;
	}
	at += 4;
	if (unit >> 10 == 0x36 && end - at >= 6 && at[0] == '\\' && at[1] == 'u' &&
	    four_digits(at + 2, end, &second) && second >> 10 == 0x37) {
		unit = 0x10000 + ((unit & 0x3ff) << 10) + (second & 0x3ff);
		at += 6;
	} else if (unit >> 11 == 0x1b) {
		unit = 0xfffd; /* half a pair */
	}
	put_point(to, unit);
	return at;
}

const char *wti_piece_text(const struct wti_fragment *piece, char *out, size_t room,
			   size_t *ret_bytes)
{
	static const char from[] = "bfnrt", into[] = "\b\f\n\r\t";
	const char *at = begin_of(piece), *end = at + piece->bytes;
	struct unescaping to = {out, 0, room};

	if (!piece->escaped) {
		*ret_bytes = piece->bytes;
		return begin_of(piece);
	}
	while (at < end && to.bytes < room) {
		const char *known;

		if (*at != '\\' || at + 1 == end) {
			put(&to, *at++);
			continue;
		}
		known = memchr(from, at[1], sizeof(from) - 1);
		if (at[1] == 'u') {
			at = unicode(&to, at + 2, end);
			continue;
		}
		put(&to, known ? into[known - from] : at[1]);
		at += 2;
	}
	*ret_bytes = to.bytes;
	return out;
}
