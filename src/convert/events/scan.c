/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scanner. It reads each byte once, sixteen at a time within texts and within what is passed
 * over, and never recurses: what is nested is only counted.
 */
#include <string.h>

#include "event.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

void wti_scan_space(struct wti_events_scan *scan)
{
	while (scan->at < scan->end &&
	       (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t' || *scan->at == '\r'))
		scan->at++;
}

/* The next quote or backslash. The file reads as zeros for 64 bytes behind its end. */
static const char *find_quote(const char *at, const char *end)
{
#ifdef __SSE2__
	const __m128i quote = _mm_set1_epi8('"'), back = _mm_set1_epi8('\\');

	for (; at < end; at += 16) {
		__m128i here = _mm_loadu_si128((const __m128i *)at);
		int found = _mm_movemask_epi8(
			_mm_or_si128(_mm_cmpeq_epi8(here, quote), _mm_cmpeq_epi8(here, back)));

		if (found) {
			at += __builtin_ctz((unsigned)found);
			break;
		}
	}
	return at < end ? at : end;
#else
	while (at < end && *at != '"' && *at != '\\')
		at++;
	return at;
#endif
}

/* Whether a text can end here: something that follows a text does. */
static bool may_end(const char *at, const char *end)
{
	for (at++; at < end; at++) {
		if (*at == ',' || *at == '}' || *at == ']' || *at == ':')
			return true;
		if (*at != ' ' && *at != '\n' && *at != '\r' && *at != '\t')
			return false;
	}
	return true;
}

enum wti_scan_result wti_scan_string(struct wti_events_scan *scan, struct wti_fragment *ret_text)
{
	const char *begin = scan->at + 1, *at = begin;
	bool escaped = false;

	if (scan->at >= scan->end)
		return WTI_SCAN_SHORT;
	if (*scan->at != '"')
		return WTI_SCAN_BAD;
	for (;;) {
		at = find_quote(at, scan->end);
		if (at >= scan->end)
			return WTI_SCAN_SHORT;
		if (*at == '\\') {
			escaped = true;
			at += 2;
		} else if (scan->lenient && !may_end(at, scan->end)) {
			at++;
		} else {
			break;
		}
	}
	*ret_text = (struct wti_fragment){begin, (size_t)(at - begin), true, escaped};
	scan->at = at + 1;
	return WTI_SCANNED;
}

/* The next quote, bracket or brace. */
static const char *find_structure(const char *at, const char *end)
{
#ifdef __SSE2__
	/* '[' and '{', ']' and '}' differ in one bit. */
	const __m128i bit = _mm_set1_epi8(0x20), quote = _mm_set1_epi8('"');
	const __m128i opens = _mm_set1_epi8('{'), closes = _mm_set1_epi8('}');

	for (; at < end; at += 16) {
		__m128i here = _mm_loadu_si128((const __m128i *)at);
		__m128i same = _mm_or_si128(here, bit);
		int found = _mm_movemask_epi8(_mm_or_si128(
			_mm_cmpeq_epi8(here, quote),
			_mm_or_si128(_mm_cmpeq_epi8(same, opens), _mm_cmpeq_epi8(same, closes))));

		if (found) {
			at += __builtin_ctz((unsigned)found);
			break;
		}
	}
	return at < end ? at : end;
#else
	while (at < end && *at != '"' && (*at | 0x20) != '{' && (*at | 0x20) != '}')
		at++;
	return at;
#endif
}

static enum wti_scan_result pass_nested(struct wti_events_scan *scan)
{
	struct wti_fragment text;
	size_t depth = 0;

	do {
		scan->at = find_structure(scan->at, scan->end);
		if (scan->at >= scan->end)
			return WTI_SCAN_SHORT;
		if (*scan->at == '"') {
			enum wti_scan_result r = wti_scan_string(scan, &text);

			if (r != WTI_SCANNED)
				return r;
			continue;
		}
		if ((*scan->at | 0x20) == '{')
			depth++;
		else
			depth--;
		scan->at++;
	} while (depth);
	return WTI_SCANNED;
}

static bool is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '-' || c == '+' || c == '.';
}

enum wti_scan_result wti_scan_value(struct wti_events_scan *scan, struct wti_fragment *ret_value)
{
	const char *begin = scan->at;

	if (begin >= scan->end)
		return WTI_SCAN_SHORT;
	if (*begin == '"')
		return wti_scan_string(scan, ret_value);
	if (*begin == '{' || *begin == '[') {
		enum wti_scan_result r = pass_nested(scan);

		if (r != WTI_SCANNED)
			return r;
	} else {
		while (scan->at < scan->end && is_plain(*scan->at))
			scan->at++;
		if (scan->at == scan->end)
			return WTI_SCAN_SHORT; /* a number may go on */
		if (scan->at == begin)
			return WTI_SCAN_BAD;
	}
	*ret_value = (struct wti_fragment){begin, (size_t)(scan->at - begin), false, false};
	return WTI_SCANNED;
}

bool wti_scan_item(struct wti_events_scan *scan, struct wti_fragment *ret_value)
{
	scan->at++; /* the bracket, or the comma */
	wti_scan_space(scan);
	if (wti_scan_value(scan, ret_value) != WTI_SCANNED)
		return false;
	wti_scan_space(scan);
	return true;
}

bool wti_scan_member(struct wti_events_scan *scan, struct wti_fragment *ret_key,
		     struct wti_fragment *ret_value)
{
	scan->at++;
	wti_scan_space(scan);
	if (wti_scan_string(scan, ret_key) != WTI_SCANNED)
		return false;
	wti_scan_space(scan);
	if (scan->at >= scan->end || *scan->at != ':')
		return false;
	scan->at++;
	wti_scan_space(scan);
	if (wti_scan_value(scan, ret_value) != WTI_SCANNED)
		return false;
	wti_scan_space(scan);
	return true;
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* False: not of its type. */
static bool take_member(struct wti_event *event, const struct wti_fragment *key,
			const struct wti_fragment *value)
{
	if (wti_piece_is(key, "ph"))
		event->phase = value->is_text && value->bytes == 1 ? *value->data : 0;
	else if (wti_piece_is(key, "name"))
		event->name = *value;
	else if (wti_piece_is(key, "cat"))
		event->category = *value;
	else if (wti_piece_is(key, "ts"))
		return event->has_time = wti_piece_time(value, &event->time_ns);
	else if (wti_piece_is(key, "dur"))
		return event->has_duration = wti_piece_time(value, &event->duration_ns);
	else if (wti_piece_is(key, "pid"))
		event->pid = *value;
	else if (wti_piece_is(key, "tid"))
		event->tid = *value;
	else if (wti_piece_is(key, "id") || wti_piece_is(key, "bind_id"))
		event->id = *value;
	else if (wti_piece_is(key, "bp"))
		event->binds_enclosing = wti_piece_is(value, "e");
	else if (wti_piece_is(key, "s"))
		event->scope = *value;
	else if (wti_piece_is(key, "args") && !value->is_text && *value->data == '{')
		event->arguments = *value;
	return true;
}

static enum wti_scan_result scan_pair(struct wti_events_scan *scan, struct wti_event *event)
{
	struct wti_fragment key, value;
	enum wti_scan_result r = wti_scan_string(scan, &key);

	if (r != WTI_SCANNED)
		return r;
	wti_scan_space(scan);
	if (scan->at >= scan->end)
		return WTI_SCAN_SHORT;
	if (*scan->at != ':')
		return WTI_SCAN_BAD;
	scan->at++;
	wti_scan_space(scan);
	r = wti_scan_value(scan, &value);
	if (r == WTI_SCANNED && !take_member(event, &key, &value))
		r = WTI_SCAN_BAD;
	return r;
}

enum wti_scan_result wti_event_scan(struct wti_events_scan *scan, struct wti_event *ret_event)
{
	/* What is missing is empty, but has a place. */
	struct wti_event event = {.name.data = "",
				  .category.data = "",
				  .id.data = "",
				  .scope.data = "",
				  .pid.data = "",
				  .tid.data = "",
				  .arguments.data = ""};

	for (bool first = true;; first = false) {
		enum wti_scan_result r;

		scan->at++; /* the brace, or a comma */
		wti_scan_space(scan);
		if (first && scan->at < scan->end && *scan->at == '}')
			break;
		r = scan_pair(scan, &event);
		if (r != WTI_SCANNED)
			return r;
		wti_scan_space(scan);
		if (scan->at >= scan->end)
			return WTI_SCAN_SHORT;
		if (*scan->at == '}')
			break;
		if (*scan->at != ',')
			return WTI_SCAN_BAD;
	}
	scan->at++;
	*ret_event = event;
	return WTI_SCANNED;
}
