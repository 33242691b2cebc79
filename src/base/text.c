/* SPDX-License-Identifier: Apache-2.0 */
/* Small things with text. Knows UTF-8 and the units that people write; needs no locale. */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

size_t wti_utf8_length(const char *text, size_t bytes)
{
	const uint8_t *at = (const uint8_t *)text;
	size_t length;

	if (!bytes)
		return 0;
	if (at[0] < 0x80)
		return 1;
	length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
	if (at[0] < 0xc2 || at[0] > 0xf4 || length > bytes)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Too long for what they say, surrogates, and beyond U+10FFFF. */
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
		return 0;
	return length;
}

bool wti_is_utf8(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes;) {
		size_t length = wti_utf8_length(text + i, bytes - i);

		if (!length)
			return false;
		i += length;
	}
	return true;
}

/* Takes one character off the front. A byte that is not UTF-8 is one beyond all characters. */
static uint32_t take_char(const char **at, const char *end)
{
	const uint8_t *byte = (const uint8_t *)*at;
	size_t length = wti_utf8_length(*at, (size_t)(end - *at));
	uint32_t point;

	if (length < 2) {
		*at += 1;
		return length ? byte[0] : 0x110000u + byte[0];
	}
	point = byte[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++)
		point = point << 6 | (byte[i] & 0x3fu);
	*at += length;
	return point;
}

/* ---- Globs ---- */

/*
 * A set in brackets; *pattern is after the '['. Returns 1 or 0 and moves behind the ']', or -1 if
 * there is none: then the '[' stands for itself.
 */
static int match_set(const char **pattern, const char *end, uint32_t point)
{
	const char *at = *pattern;
	bool negate = at < end && (*at == '!' || *at == '^');
	bool found = false;

	at += negate;
	for (bool first = true; at < end && (first || *at != ']'); first = false) {
		uint32_t low, high;

		at += *at == '\\' && at + 1 < end;
		low = high = take_char(&at, end);
		if (at + 1 < end && at[0] == '-' && at[1] != ']') {
			at++;
			at += *at == '\\' && at + 1 < end;
			high = take_char(&at, end);
		}
		found |= point >= low && point <= high;
	}
	if (at >= end)
		return -1;
	*pattern = at + 1;
	return found != negate;
}

/* One element of the pattern that is not a star against one character. */
static bool match_one(const char **pattern, const char *end, uint32_t point)
{
	const char *at = *pattern;
	int in_set;

	if (*at == '?') {
		*pattern = at + 1;
		return true;
	}
	if (*at == '[') {
		at++;
		in_set = match_set(&at, end, point);
		*pattern = at;
		return in_set >= 0 ? in_set : point == '[';
	}
	at += *at == '\\' && at + 1 < end;
	bool same = take_char(&at, end) == point;
	*pattern = at;
	return same;
}

/*
 * Only the last star ever has to be tried again: whatever an earlier one could have swallowed, the
 * last can as well.
 */
bool wti_glob(const char *pattern, const char *text, size_t bytes)
{
	const char *pattern_end = pattern + strlen(pattern);
	const char *text_end = text + bytes;
	const char *after_star = NULL;
	const char *retry = NULL;

	while (text < text_end) {
		const char *next = text;
		uint32_t point;

		if (pattern < pattern_end && *pattern == '*') {
			after_star = ++pattern;
			retry = text;
			continue;
		}
		point = take_char(&next, text_end);
		if (pattern < pattern_end && match_one(&pattern, pattern_end, point)) {
			text = next;
			continue;
		}
		if (!after_star)
			return false;
		take_char(&retry, text_end);
		text = retry;
		pattern = after_star;
	}
	while (*pattern == '*')
		pattern++;
	return pattern == pattern_end;
}

bool wti_ends_with(const char *text, const char *end)
{
	size_t bytes = strlen(text), wanted = strlen(end);

	return bytes >= wanted && !memcmp(text + bytes - wanted, end, wanted);
}

/* ---- Reading numbers ---- */

struct unit {
	const char *name;
	uint64_t factor;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_word(const char *a, const char *b)
{
	while (*a && lower(*a) == lower(*b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

static bool find_unit(const struct unit *units, const char *name, uint64_t *ret_factor)
{
	while (*name == ' ')
		name++;
	for (; units->name; units++) {
		if (same_word(units->name, name)) {
			*ret_factor = units->factor;
			return true;
		}
	}
	return false;
}

/*
 * "1.5k" times its unit, exactly, what is below one cut off. Digits behind the point beyond the
 * eighteenth cannot matter: no unit is larger.
 */
static bool parse_scaled(const char *text, const struct unit *units, uint64_t *ret_value)
{
	unsigned __int128 whole = 0;
	uint64_t part = 0, part_unit = 1, factor;

	if (!is_digit(text[0]) && !(text[0] == '.' && is_digit(text[1])))
		return false;
	for (; is_digit(*text); text++) {
		whole = whole * 10 + (unsigned)(*text - '0');
		if (whole > UINT64_MAX)
			return false;
	}
	if (*text == '.') {
		for (text++; is_digit(*text); text++) {
			if (part_unit >= 1000000000000000000u)
				continue;
			part = part * 10 + (unsigned)(*text - '0');
			part_unit *= 10;
		}
	}
	if (!find_unit(units, text, &factor))
		return false;
	whole = whole * factor + (unsigned __int128)part * factor / part_unit;
	if (whole > UINT64_MAX)
		return false;
	*ret_value = (uint64_t)whole;
	return true;
}

bool wti_parse_bytes(const char *text, uint64_t *ret_bytes)
{
	static const struct unit units[] = {
		{"", 1},
		{"b", 1},
		{"k", 1ull << 10},
		{"kb", 1ull << 10},
		{"kib", 1ull << 10},
		{"m", 1ull << 20},
		{"mb", 1ull << 20},
		{"mib", 1ull << 20},
		{"g", 1ull << 30},
		{"gb", 1ull << 30},
		{"gib", 1ull << 30},
		{"t", 1ull << 40},
		{"tb", 1ull << 40},
		{"tib", 1ull << 40},
		{NULL, 0},
	};

	return parse_scaled(text, units, ret_bytes);
}

bool wti_parse_duration(const char *text, int64_t *ret_ns)
{
	static const struct unit units[] = {
		{"", 1000000000},
		{"ns", 1},
		{"us", 1000},
		{"\xc2\xb5s", 1000},
		{"ms", 1000000},
		{"s", 1000000000},
		{"m", 60000000000},
		{"min", 60000000000},
		{"h", 3600000000000},
		{"d", 24 * 3600000000000},
		{NULL, 0},
	};
	bool negative = text[0] == '-';
	uint64_t ns;

	if (!parse_scaled(text + negative, units, &ns) || ns > INT64_MAX)
		return false;
	*ret_ns = negative ? -(int64_t)ns : (int64_t)ns;
	return true;
}

bool wti_parse_u64(const char *text, uint64_t *ret_value)
{
	static const struct unit none[] = {{"", 1}, {NULL, 0}};

	for (const char *at = text; *at; at++) {
		if (!is_digit(*at))
			return false;
	}
	return parse_scaled(text, none, ret_value);
}

/* ---- Writing numbers ---- */

/* The first unit that the value, rounded to a tenth, stays below `next` in. The last has none. */
struct scale {
	const char *name;
	uint64_t factor;
	uint64_t next;
};

static const char *format_scaled(char out[16], const char *sign, uint64_t value,
				 const struct scale *scale)
{
	uint64_t tenths;

	if (value < scale->next) {
		snprintf(out, 16, "%s%u %s", sign, (unsigned)value, scale->name);
		return out;
	}
	do {
		scale++;
		tenths = (uint64_t)(((unsigned __int128)value * 10 + scale->factor / 2) /
				    scale->factor);
	} while (scale->next && tenths >= scale->next * 10);
	snprintf(out, 16, "%s%u.%u %s", sign, (unsigned)(tenths / 10), (unsigned)(tenths % 10),
		 scale->name);
	return out;
}

const char *wti_format_bytes(char out[16], uint64_t bytes)
{
	static const struct scale scales[] = {
		{"B", 1, 1000},           {"kB", 1000, 1000},          {"MB", 1000000, 1000},
		{"GB", 1000000000, 1000}, {"TB", 1000000000000, 1000}, {"PB", 1000000000000000, 0},
	};

	return format_scaled(out, "", bytes, scales);
}

const char *wti_format_ns(char out[16], int64_t ns)
{
	static const struct scale scales[] = {
		{"ns", 1, 1000},
		{"us", 1000, 1000},
		{"ms", 1000000, 1000},
		{"s", 1000000000, 60},
		{"min", 60000000000, 60},
		{"h", 3600000000000, 24},
		{"d", 24 * 3600000000000, 0},
	};

	return format_scaled(out, ns < 0 ? "-" : "", ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns,
			     scales);
}

const char *wti_format_count(char out[32], uint64_t count)
{
	char digits[24];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count);
	size_t at = 0;

	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = 0;
	return out;
}

/* ---- Likeness ---- */

#define WORD_MAX 63

static unsigned smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Letters added, dropped, changed, or swapped with their neighbour; words up to WORD_MAX. */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][WORD_MAX + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];
	size_t a_bytes = strlen(a), b_bytes = strlen(b);

	for (size_t j = 0; j <= b_bytes; j++)
		last[j] = before[j] = (unsigned)j;
	for (size_t i = 1; i <= a_bytes; i++) {
		unsigned *oldest = before;

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_bytes; j++) {
			row[j] = smaller(smaller(last[j], row[j - 1]) + 1,
					 last[j - 1] + (lower(a[i - 1]) != lower(b[j - 1])));
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]))
				row[j] = smaller(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = oldest;
	}
	return last[b_bytes];
}

const char *wti_suggest(const char *word, const char *const *candidates, size_t count)
{
	size_t bytes = strlen(word);
	/* A third of the letters may be wrong, one in any case where there are two. */
	unsigned best = bytes < 2 ? 0 : bytes < 6 ? 1 : (unsigned)(bytes / 3);
	const char *found = NULL;
	bool is_beginning = false;

	if (bytes > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		bool begins = !strncasecmp(word, candidates[i], bytes);
		unsigned d;

		if (strlen(candidates[i]) > WORD_MAX)
			continue;
		d = distance(word, candidates[i]);
		/* Of those that are equally near, rather one that was not typed to its end. */
		if (d < best || (d == best && (!found || (begins && !is_beginning)))) {
			best = d;
			found = candidates[i];
			is_beginning = begins;
		}
	}
	/* Nothing near: what it is the beginning of, if it is more than a letter. */
	for (size_t i = 0; i < count && !found && bytes > 1; i++) {
		if (!strncmp(word, candidates[i], bytes))
			found = candidates[i];
	}
	return found;
}

/* ---- Making text harmless ---- */

/*
 * Controls, and what would break or turn a line: separators and changes of direction. A terminal
 * obeys the former, and the latter make a line read otherwise than it is. U+FFFE and U+FFFF are no
 * characters, and XML does not allow them.
 */
static bool is_harmful(uint32_t point)
{
	return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x061c ||
	       point == 0x200e || point == 0x200f || point == 0x2028 || point == 0x2029 ||
	       (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) ||
	       point == 0xfffe || point == 0xffff || point >= 0x110000;
}

size_t wti_harmless_length(const char *text, size_t bytes)
{
	const char *next = text;

	return bytes && !is_harmful(take_char(&next, text + bytes)) ? (size_t)(next - text) : 0;
}

/* Where the letters of ASCII at the beginning, which nearly all names are made of, end. */
static const char *skip_plain(const char *text, const char *end)
{
	while (text < end && *text >= ' ' && *text <= '~' && *text != '\\')
		text++;
	return text;
}

void wti_printable(struct wti_buf *out, const char *text, size_t bytes)
{
	const char *end = text + bytes;
	const char *next;

	for (; text < end; text = next) {
		uint32_t point;

		next = skip_plain(text, end);
		if (next > text) {
			wti_buf_append(out, text, (size_t)(next - text));
			continue;
		}
		point = take_char(&next, end);
		if (point == '\n')
			wti_buf_text(out, "\\n");
		else if (point == '\t')
			wti_buf_text(out, "\\t");
		else if (point == '\r')
			wti_buf_text(out, "\\r");
		else if (point == '\\')
			wti_buf_text(out, "\\\\");
		else if (!is_harmful(point))
			wti_buf_append(out, text, (size_t)(next - text));
		else
			while (text < next)
				wti_buf_printf(out, "\\x%02x", (uint8_t)*text++);
	}
}
