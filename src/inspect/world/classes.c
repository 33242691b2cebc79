/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what random names, dates and numbers of processes look like within a path. */
#include <ctype.h>
#include <string.h>

#include "names.h"

enum { TEMP_PYTHON = 8, TEMP_LIBC = 6, TEMP_PERL = 10, HASH_MIN = 12 };

struct traits {
	bool digits, lower, upper, others;
	bool beyond_f; /* letters that are no hexadecimal digits */
};

static struct traits traits_of(const char *text, size_t bytes)
{
	struct traits t = {0};

	for (size_t i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)text[i];

		t.digits |= isdigit(c) != 0;
		t.lower |= islower(c) != 0;
		t.upper |= isupper(c) != 0;
		t.others |= !isalnum(c);
		t.beyond_f |= isalpha(c) && tolower(c) > 'f';
	}
	return t;
}

static uint64_t number_of(const char *text, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value = value * 10 + (uint64_t)(text[i] - '0');
	return value;
}

static bool is_date(uint64_t year, uint64_t month, uint64_t day)
{
	return year >= 1970 && year < 2200 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/* Digits that stand for a day or a moment: 20260301, 20260301123000, seconds since 1970. */
static bool is_time(const char *text, size_t bytes)
{
	uint64_t number = bytes <= 19 ? number_of(text, bytes) : 0;

	if (bytes == 8)
		return is_date(number / 10000, number / 100 % 100, number % 100);
	if (bytes == 14) {
		number /= 1000000;
		return is_date(number / 10000, number / 100 % 100, number % 100);
	}
	if (bytes == 10)
		return number > 1000000000 && number < 7000000000;
	return bytes == 13 || bytes == 16 || bytes == 19;
}

static const char *class_of_digits(const struct wti_names *names, const char *text, size_t bytes)
{
	const uint64_t *pid =
		bytes < 10 ? wti_map_find_number(&names->pids, number_of(text, bytes)) : NULL;

	/* Small numbers are steps, ranks and epochs, whatever processes there are. */
	if (pid && bytes > 2)
		return "<pid>";
	return is_time(text, bytes) ? "<time>" : NULL;
}

/* Where a part of a name stands within it. */
struct stand {
	enum wti_temp temp;
	bool is_head; /* nothing before it */
	bool is_tail; /* nothing behind it but an extension */
};

/*
 * As mkstemp() and its like end their names. A whole name that is one word is rather a word, unless
 * it mixes what words do not.
 */
static bool is_random(struct traits t, size_t bytes, struct stand stand)
{
	bool is_mixed = t.digits + t.lower + t.upper > 1;

	if (!stand.temp)
		return false;
	if ((bytes == TEMP_LIBC || bytes == TEMP_PYTHON) && stand.is_tail &&
	    (!stand.is_head || is_mixed))
		return true;
	return bytes >= TEMP_LIBC && bytes <= 16 && t.digits && (t.lower || t.upper) &&
	       stand.is_tail;
}

/* The class of a part of letters and digits; NULL: it means itself. */
static const char *class_of(const struct wti_names *names, const char *text, size_t bytes,
			    struct stand stand)
{
	struct traits t = traits_of(text, bytes);

	if (!t.lower && !t.upper)
		return class_of_digits(names, text, bytes);
	if (bytes >= HASH_MIN && t.digits && !t.beyond_f && !(t.lower && t.upper))
		return "<hash>";
	return is_random(t, bytes, stand) ? "<temp>" : NULL;
}

/* "tmpab12_x9z", as Python names temporary files anywhere. Its length, or 0. */
static size_t python_temp(const char *text, size_t bytes)
{
	size_t i;

	if (bytes < 3 + TEMP_PYTHON || memcmp(text, "tmp", 3))
		return 0;
	for (i = 3; i < 3 + TEMP_PYTHON; i++)
		if (!islower((unsigned char)text[i]) && !isdigit((unsigned char)text[i]) &&
		    text[i] != '_')
			return 0;
	return i == bytes || !isalnum((unsigned char)text[i]) ? i : 0;
}

/* Digits and dashes at fixed places: 8-4-4-4-12 hexadecimal digits. */
static size_t uuid(const char *text, size_t bytes)
{
	enum { BYTES = 36 };

	if (bytes < BYTES)
		return 0;
	for (size_t i = 0; i < BYTES; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return 0;
	}
	return bytes == BYTES || !isalnum((unsigned char)text[BYTES]) ? BYTES : 0;
}

static bool digits_at(const char *text, size_t bytes, size_t at, size_t count)
{
	for (size_t i = at; i < at + count; i++)
		if (i >= bytes || !isdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* What may follow a day: T12-30-00, _123000, 12:30:00.123456, Z. */
static size_t clock_after(const char *text, size_t bytes, size_t at)
{
	size_t i = at;

	if (i < bytes && strchr("T_- ", text[i]) && digits_at(text, bytes, i + 1, 2))
		i++;
	else
		return at;
	i += 2;
	for (int part = 0; part < 2; part++) {
		if (digits_at(text, bytes, i, 2))
			i += 2;
		else if (i < bytes && strchr("-:_.", text[i]) && digits_at(text, bytes, i + 1, 2))
			i += 3;
		else
			return part ? i : at;
	}
	if (i < bytes && text[i] == '.' && digits_at(text, bytes, i + 1, 3))
		for (i++; digits_at(text, bytes, i, 1);)
			i++;
	return i < bytes && text[i] == 'Z' ? i + 1 : i;
}

/* 2026-03-01 or 20260301, with a time of day if one follows. Its length, or 0. */
static size_t moment(const char *text, size_t bytes)
{
	size_t end = 0;

	if (digits_at(text, bytes, 0, 4) && bytes >= 10 && digits_at(text, bytes, 5, 2) &&
	    digits_at(text, bytes, 8, 2) && text[4] == text[7] && strchr("-_.", text[4]) &&
	    is_date(number_of(text, 4), number_of(text + 5, 2), number_of(text + 8, 2)))
		end = 10;
	else if (digits_at(text, bytes, 0, 8) && is_time(text, 8))
		end = 8;
	if (!end || digits_at(text, bytes, end, 1))
		return 0;
	return clock_after(text, bytes, end);
}

/*
 * Eight letters, digits and underscores up to the end of a name, as Python ends temporary ones.
 * Outside of folders for such files, eight letters with nothing before them are rather a word.
 */
static size_t python_tail(const char *text, size_t bytes, struct stand stand)
{
	bool is_mixed = false;
	size_t i = 0;

	while (i < bytes && (islower((unsigned char)text[i]) || isdigit((unsigned char)text[i]) ||
			     text[i] == '_'))
		is_mixed |= !islower((unsigned char)text[i++]);
	if (stand.temp != WTI_TEMP_FOLDER && stand.is_head && !is_mixed)
		return 0;
	return i == TEMP_PYTHON && (i == bytes || text[i] == '/' || text[i] == '.') ? i : 0;
}

/* Ten letters of both cases, digits and underscores, as Perl ends temporary names. */
static size_t perl_tail(const char *text, size_t bytes)
{
	struct traits t;
	size_t i = 0;

	while (i < bytes && (isalnum((unsigned char)text[i]) || text[i] == '_'))
		i++;
	if (i != TEMP_PERL || (i < bytes && text[i] != '/' && text[i] != '.'))
		return 0;
	t = traits_of(text, i);
	return t.upper && (t.lower || t.digits) ? i : 0;
}

static size_t special(const char *text, size_t bytes, struct stand stand, const char **ret_class)
{
	size_t end;

	*ret_class = "<temp>";
	end = python_temp(text, bytes);
	if (!end && stand.temp)
		end = python_tail(text, bytes, stand);
	if (!end && stand.temp)
		end = perl_tail(text, bytes);
	if (end)
		return end;
	*ret_class = "<uuid>";
	end = uuid(text, bytes);
	if (end)
		return end;
	*ret_class = "<time>";
	return moment(text, bytes);
}

void wti_names_classes(const struct wti_names *names, const char *text, size_t bytes,
		       enum wti_temp temp, struct wti_buf *out)
{
	const char *class;
	size_t at = 0, end;

	while (at < bytes) {
		bool is_word = isalnum((unsigned char)text[at]) || (temp && text[at] == '_');
		struct stand stand = {.temp = temp, .is_head = !at || text[at - 1] == '/'};

		if (!is_word) {
			wti_buf_byte(out, (uint8_t)text[at++]);
			continue;
		}
		end = special(text + at, bytes - at, stand, &class);
		if (end) {
			wti_buf_text(out, class);
			at += end;
			continue;
		}
		if (text[at] == '_') {
			wti_buf_byte(out, (uint8_t)text[at++]);
			continue;
		}
		for (end = at; end < bytes && isalnum((unsigned char)text[end]);)
			end++;
		stand.is_tail = end == bytes || text[end] == '/' || text[end] == '.';
		class = class_of(names, text + at, end - at, stand);
		if (class)
			wti_buf_text(out, class);
		else
			wti_buf_append(out, text + at, end - at);
		at = end;
	}
}
