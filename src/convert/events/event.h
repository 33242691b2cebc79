/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event of a Chrome trace, as it stands in the file: texts are not unescaped, arguments not
 * taken apart. Times are exact: they are taken from the digits, not from a double.
 */
#ifndef WTI_CONVERT_EVENT_H
#define WTI_CONVERT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of the file. A text is without its quotes, anything else as it is written. */
struct wti_fragment {
	const char *data;
	size_t bytes;
	bool is_text;
	bool escaped; /* of a text: it has backslashes */
};

struct wti_event {
	struct wti_fragment name, category, id, scope, pid, tid;
	struct wti_fragment arguments; /* an object, with its braces; empty: none */
	char phase;
	bool has_time, has_duration;
	bool binds_enclosing; /* of the end of an arrow */
	int64_t time_ns, duration_ns;
};

enum wti_scan_result {
	WTI_SCANNED,
	WTI_SCAN_SHORT, /* it goes on behind the end */
	WTI_SCAN_BAD,
};

struct wti_events_scan {
	const char *at;
	const char *end;
	bool lenient; /* a quote ends a text only where one may end: some writers do not escape */
};

/* The object at `at`, which then is behind it. `at` is where it went wrong, otherwise. */
enum wti_scan_result wti_event_scan(struct wti_events_scan *scan, struct wti_event *ret_event);

/* Parts of it, for files around events. */
void wti_scan_space(struct wti_events_scan *scan);
enum wti_scan_result wti_scan_string(struct wti_events_scan *scan, struct wti_fragment *ret_text);
/* Any value, nested as deep as it likes. */
enum wti_scan_result wti_scan_value(struct wti_events_scan *scan, struct wti_fragment *ret_value);

/* The members of an object one after the other: false at its end. Set `at` to its brace first. */
bool wti_scan_member(struct wti_events_scan *scan, struct wti_fragment *ret_key,
		     struct wti_fragment *ret_value);
/* The same of an array. */
bool wti_scan_item(struct wti_events_scan *scan, struct wti_fragment *ret_value);

bool wti_piece_is(const struct wti_fragment *piece, const char *text);
/* Whether the text is somewhere in it. */
bool wti_piece_has(const struct wti_fragment *piece, const char *text);
/* A whole number, in digits or as a text of digits, also hexadecimal; false: it is none. */
bool wti_piece_number(const struct wti_fragment *piece, int64_t *ret_number);
bool wti_piece_double(const struct wti_fragment *piece, double *ret_number);
/* Microseconds as ns; digits beyond are cut. */
bool wti_piece_time(const struct wti_fragment *piece, int64_t *ret_ns);
/* The text itself, into `out` if it has to be unescaped; cut at `room`. */
const char *wti_piece_text(const struct wti_fragment *piece, char *out, size_t room,
			   size_t *ret_bytes);

#endif
