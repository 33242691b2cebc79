/* SPDX-License-Identifier: Apache-2.0 */
/* Moves the scanner over the window, and looks for the next event where one is broken. */
#include "file.h"

#include <string.h>

#include "base/err.h"

/* An event that is looked for behind a broken one should not be larger. */
#define SEARCH_BYTES ((size_t)64 << 10)
#define DAMAGED_MAX 10000u
#define TRIES_MAX 100000u /* braces that are no event, in the whole file */

struct reading {
	struct wti_sliding *input;
	const struct wti_events_taker *taker;
	void *self;
	struct wti_events_scan scan;
	struct wti_events_outcome *outcome;
	uint64_t tries;
	struct wt_err *err;
};

/* To the place in the window where the input stands. */
static void settle(struct reading *in)
{
	in->scan.at = (const char *)in->input->data + in->input->begin;
	in->scan.end = (const char *)in->input->data + in->input->end;
}

static void forget_before(struct reading *in, const char *at)
{
	in->input->begin = (size_t)((const uint8_t *)at - in->input->data);
}

static void damaged(struct reading *in, const char *at, const char *what)
{
	uint64_t offset = wti_input_offset(in->input, at);

	if (!in->outcome->damage.code)
		wti_err_at(&in->outcome->damage, WT_E_FORMAT, (int64_t)offset,
			   "'%.200s', byte %llu: %s", in->input->path, (unsigned long long)offset,
			   what);
}

/* More behind `from`, which stays: 1, 0 at the end, or an error. */
static int more(struct reading *in, const char *from)
{
	int r;

	forget_before(in, from);
	r = wti_input_more(in->input, in->err);
	settle(in);
	return r;
}

/* The next byte that is no space, or -1 at the end of the file; -2: an error. */
static int next_byte(struct reading *in)
{
	for (;;) {
		int r;

		wti_scan_space(&in->scan);
		if (in->scan.at < in->scan.end)
			return (unsigned char)*in->scan.at;
		r = more(in, in->scan.at);
		if (r <= 0)
			return r < 0 ? -2 : -1;
	}
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void hand_over(struct reading *in, const struct wti_event *event)
{
	in->outcome->events++;
	in->taker->event(in->self, event);
}

/* The same event again, as if quotes in its texts were escaped. */
static bool repair(struct reading *in, const char *begin, struct wti_event *event)
{
	struct wti_events_scan scan = {begin, in->scan.end, true};

	if ((size_t)(scan.end - begin) > SEARCH_BYTES)
		scan.end = begin + SEARCH_BYTES;
	if (wti_event_scan(&scan, event) != WTI_SCANNED || !event->phase)
		return false;
	in->scan.at = scan.at;
	in->outcome->repaired++;
	return true;
}

/* To the next place from which an event can be read. False: there is none. */
static bool search(struct reading *in, const char *from, struct wti_event *event)
{
	for (;;) {
		const char *at = memchr(from, '{', (size_t)(in->scan.end - from));
		struct wti_events_scan scan;

		if (!at || (size_t)(in->scan.end - at) < SEARCH_BYTES) {
			size_t kept = (size_t)(in->scan.end - (at ? at : in->scan.end));

			if (more(in, at ? at : in->scan.end) < 0)
				return false;
			if ((size_t)(in->scan.end - in->scan.at) > kept) {
				from = in->scan.at;
				continue;
			}
			at = kept ? in->scan.at : NULL;
		}
		if (!at || ++in->tries > TRIES_MAX)
			return false;
		scan = (struct wti_events_scan){at, in->scan.end, false};
		if ((size_t)(scan.end - at) > SEARCH_BYTES)
			scan.end = at + SEARCH_BYTES;
		if (wti_event_scan(&scan, event) == WTI_SCANNED && event->phase &&
		    (event->has_time || event->phase == 'M')) {
			in->scan.at = scan.at;
			return true;
		}
		from = at + 1;
	}
}

/* Behind a place that is no event. 1: at another event, which is handed over; 0: no more. */
static int recover(struct reading *in, const char *begin)
{
	struct wti_event event;

	if (*begin == '{' && repair(in, begin, &event)) {
		hand_over(in, &event);
		return 1;
	}
	in->outcome->damaged++;
	damaged(in, in->scan.at, "this is no event; what can be read behind it is read");
	if (in->outcome->damaged > DAMAGED_MAX || !search(in, begin + 1, &event))
		return 0;
	hand_over(in, &event);
	return 1;
}

/* One event. 1, 0: the file ends in it or nothing can be read any more, or an error. */
static int read_event(struct reading *in)
{
	for (;;) {
		const char *begin = in->scan.at;
		struct wti_event event;
		int r;

		switch (wti_event_scan(&in->scan, &event)) {
		case WTI_SCANNED:
			hand_over(in, &event);
			return 1;
		case WTI_SCAN_BAD:
			return recover(in, begin);
		case WTI_SCAN_SHORT:
			break;
		}
		r = more(in, begin);
		if (r < 0)
			return r;
		if (!r && repair(in, in->scan.at, &event)) {
			hand_over(in, &event);
			return 1;
		}
		if (!r) {
			in->outcome->damaged++;
			damaged(in, in->scan.at, "the file ends within this event: it is cut");
			return 0;
		}
	}
}

static int read_whole(struct reading *in, bool is_key, struct wti_fragment *ret_piece);

/* One item that is no event. 1, 0: the file ends in it or is broken there, or an error. */
static int read_item(struct reading *in)
{
	struct wti_fragment item;
	int r = read_whole(in, false, &item);

	if (r > 0) {
		in->outcome->events++;
		in->taker->item(in->self, &item);
	} else if (!r) {
		in->outcome->damaged++;
	}
	return r;
}

static int read_next(struct reading *in, int byte)
{
	if (in->taker->item)
		return read_item(in);
	return byte == '{' ? read_event(in) : recover(in, in->scan.at);
}

/* From the bracket on, to behind its end. 1, 0 where the file ends or is broken, or an error. */
static int read_array(struct reading *in)
{
	int r = 1;

	in->scan.at++;
	while (r > 0) {
		int c = next_byte(in);

		if (c == -2)
			return in->err ? in->err->code : WT_E_LIMIT;
		if (c == -1) {
			damaged(in, in->scan.at, "the file ends before its events do: it is cut");
			return 0;
		}
		if (c == ']') {
			in->scan.at++;
			return 1;
		}
		if (c == ',')
			in->scan.at++;
		else
			r = read_next(in, c);
	}
	return r;
}

/* ---- What is around them --------------------------------------------------------------------- */

/* A text or a value as a whole. 1, 0: the file ends or is broken there, or an error. */
static int read_whole(struct reading *in, bool is_key, struct wti_fragment *ret_piece)
{
	for (;;) {
		const char *begin = in->scan.at;
		enum wti_scan_result result = is_key ? wti_scan_string(&in->scan, ret_piece)
						     : wti_scan_value(&in->scan, ret_piece);
		int r;

		if (result == WTI_SCANNED)
			return 1;
		if (result == WTI_SCAN_BAD) {
			damaged(in, in->scan.at, "this is no JSON");
			return 0;
		}
		r = more(in, begin);
		if (!r)
			damaged(in, in->scan.at, "the file ends here: it is cut");
		if (r <= 0)
			return r;
	}
}

static int read_member(struct reading *in)
{
	struct wti_fragment key, value;
	char name[64];
	int r = read_whole(in, true, &key), c;

	if (r <= 0)
		return r;
	/* The window may move before the value is there. */
	key.bytes = key.bytes < sizeof(name) ? key.bytes : sizeof(name);
	memcpy(name, key.data, key.bytes);
	key.data = name;
	c = next_byte(in);
	if (c == ':')
		in->scan.at++;
	c = next_byte(in);
	if (c == '[' && wti_piece_is(&key, in->taker->item ? in->taker->list : "traceEvents"))
		return read_array(in);
	r = c < 0 ? 0 : read_whole(in, false, &value);
	if (r > 0 && in->taker->member)
		in->taker->member(in->self, &key, &value);
	return r;
}

static int read_object(struct reading *in)
{
	int r = 1, c;

	in->scan.at++;
	while (r > 0) {
		c = next_byte(in);
		if (c == '}')
			return 1;
		if (c < 0) {
			damaged(in, in->scan.at, "the file ends here: it is cut");
			return c == -2 ? WT_E_LIMIT : 0;
		}
		if (c == ',')
			in->scan.at++;
		else
			r = read_member(in);
	}
	return r;
}

int wti_events_read(struct wti_sliding *input, const struct wti_events_taker *taker, void *self,
		    struct wti_events_outcome *ret_outcome, struct wt_err *err)
{
	struct wt_err problem = {.offset = -1};
	struct reading in = {.input = input,
			     .taker = taker,
			     .self = self,
			     .outcome = ret_outcome,
			     .err = &problem};
	int r = 0, c;

	*ret_outcome = (struct wti_events_outcome){.damage = {.offset = -1}};
	settle(&in);
	if (input->end >= 3 && !memcmp(input->data, "\xef\xbb\xbf", 3))
		in.scan.at += 3;
	c = next_byte(&in);
	if (c == '[')
		r = read_array(&in);
	else if (c == '{')
		r = read_object(&in);
	else
		damaged(&in, in.scan.at, "no JSON begins here");
	if (r < 0 && !ret_outcome->damage.code)
		ret_outcome->damage = problem;
	if (input->damage.code)
		ret_outcome->damage = input->damage;
	if (ret_outcome->events || !ret_outcome->damage.code)
		return r == WT_E_NOMEM ? wti_err(err, r, "out of memory") : 0;
	if (err)
		*err = ret_outcome->damage;
	return ret_outcome->damage.code;
}
