/* SPDX-License-Identifier: Apache-2.0 */
/* One event as a line of text, a JSON object or a CSV record. */
#ifndef WTI_SHOW_EVENT_H
#define WTI_SHOW_EVENT_H

#include <wheeltap/trace.h>

#include "base/json.h"
#include "show.h"

enum wti_shown_type {
	WTI_SHOWN_ABSENT,
	WTI_SHOWN_BOOL,
	WTI_SHOWN_INT,
	WTI_SHOWN_UINT,
	WTI_SHOWN_FLOAT,
	WTI_SHOWN_HASH,
	WTI_SHOWN_TIME, /* ns since the start of the run */
	WTI_SHOWN_TEXT,
	WTI_SHOWN_BYTES, /* `text`, shown in hexadecimal */
};

/* A field as it is meant: enums by name, time stamps converted, values by the type beside them. */
struct wti_shown {
	enum wti_shown_type type;
	union {
		uint64_t u;
		int64_t i;
		double f;
	};
	struct wt_text text;
	char scratch[512];
};

void wti_event_field(struct wti_shown *ret, const struct wt_event *event, int field);
/* The first field that is a name; -1: none. */
int wti_event_name_field(const struct wt_kind *kind);
/* The field that says what the 64 bits of `field` are; -1: they are a number. */
int wti_event_value_type(const struct wt_kind *kind, int field);
/* The bit of `flags` that says that the field was not measured; 0: it always says something. */
uint64_t wti_event_unread_flag(const struct wt_kind *kind, int field);
/* Whether it is the id of a call site. */
bool wti_event_is_site(const struct wt_kind *kind, int field);

struct wti_sources; /* source.h: they know where system calls come from */

/* Time, track, kind, name, fields; ends with a newline. No field is longer than a few lines. */
void wti_event_line(struct wti_buf *out, const struct wt_event *event,
		    const struct wti_style *style, struct wti_sources *sources);
void wti_event_json(struct wti_json *json, const struct wt_event *event,
		    struct wti_sources *sources);
/* `kind`: all events are of it and its fields are columns; NULL: fields are one JSON object. */
void wti_event_csv_head(struct wti_buf *out, const struct wt_kind *kind);
void wti_event_csv(struct wti_buf *out, const struct wt_event *event, const struct wt_kind *kind,
		   struct wti_sources *sources);

#endif
