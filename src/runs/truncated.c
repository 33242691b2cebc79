/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows which losses end a recording: a ring that was full for a moment loses some events of a time
 * that is recorded, a full disk all that came later.
 */
#include "truncated.h"

#include "base/text.h"
#include "trace/query.h"

struct truncation {
	uint64_t count;
	int64_t from_ns; /* of the first that is missing */
	bool is_disk;
};

/* An agent at a ceiling of its own names the kind that it lost; all others are recorded. */
static bool ends_recording(const struct wt_event *event)
{
	uint64_t reason = wt_event_u64(event, WT_LOST_FIELD_REASON);

	return (reason == WT_LOST_DISK || reason == WT_LOST_CEILING) &&
	       !wt_event_u64(event, WT_LOST_FIELD_OF);
}

static void take(struct truncation *truncation, const struct wt_event *event)
{
	int64_t from_ns =
		wt_trace_ns(event->trace, event->stream, wt_event_u64(event, WT_LOST_FIELD_FROM));

	if (!ends_recording(event))
		return;
	if (!truncation->count || from_ns < truncation->from_ns)
		truncation->from_ns = from_ns;
	truncation->count += wt_event_u64(event, WT_LOST_FIELD_COUNT);
	truncation->is_disk |= wt_event_u64(event, WT_LOST_FIELD_REASON) == WT_LOST_DISK;
}

bool wti_note_truncated(const struct wti_opened_run *opened, struct wt_result *result)
{
	static const char *const kinds[] = {"lost", NULL};
	struct truncation truncation = {0};
	struct wt_cursor *cursor;
	struct wt_event event;
	char text[32];

	if (wti_cursor_of(opened->trace, kinds, NULL, WT_ALL_FIELDS, &cursor, NULL))
		return false;
	while (wt_cursor_next(cursor, &event, NULL) > 0)
		take(&truncation, &event);
	wt_cursor_free(cursor);
	if (!truncation.count)
		return false;
	wt_result_note(result, "%s: %llu events from %s on are missing",
		       truncation.is_disk ? "the disk was full" : "the trace was at its ceiling",
		       (unsigned long long)truncation.count,
		       wti_format_ns(text, truncation.from_ns));
	return true;
}
