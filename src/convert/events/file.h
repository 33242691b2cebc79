/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of Chrome events, in an array or in an object with an array "traceEvents", of any size. It
 * knows how such files are cut and broken, and goes on behind what it cannot read. An array of
 * another name is read in the same way, but for the latter: its items are no events.
 */
#ifndef WTI_CONVERT_EVENTS_FILE_H
#define WTI_CONVERT_EVENTS_FILE_H

#include "convert/intake/input.h"
#include "event.h"

/* How much a single event, or what stands beside the events, may have. */
#define WTI_EVENTS_WINDOW_MAX ((size_t)64 << 20)

struct wti_events_taker {
	void (*event)(void *self, const struct wti_event *event);
	/* What stands beside the events. May be NULL. */
	void (*member)(void *self, const struct wti_fragment *key,
		       const struct wti_fragment *value);
	/* Instead of events: the items of the array of this name, as they stand. */
	const char *list;
	void (*item)(void *self, const struct wti_fragment *item);
};

struct wti_events_outcome {
	uint64_t events;
	uint64_t repaired;    /* of them, with quotes that were not escaped */
	uint64_t damaged;     /* events that could not be read */
	struct wt_err damage; /* the first place; code 0: none. The file may also be cut */
};

/* WT_E_FORMAT: it is no such file. Damage behind the first event is no error. */
int wti_events_read(struct wti_sliding *input, const struct wti_events_taker *taker, void *self,
		    struct wti_events_outcome *ret_outcome, struct wt_err *err);

#endif
