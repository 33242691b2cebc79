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

static void take(struct truncation *truncation, const struct wt_event *event)
{
	uint64_t reason = wt_event_u64(event, WT_LOST_FIELD_REASON);
	int64_t from_ns =
		wt_trace_ns(event->trace, event->stream, wt_event_u64(event, WT_LOST_FIELD_FROM));

	if (reason != WT_LOST_DISK && reason != WT_LOST_CEILING)
		return;
	if (!truncation->count || from_ns < truncation->from_ns)
		truncation->from_ns = from_ns;
	truncation->count += wt_event_u64(event, WT_LOST_FIELD_COUNT);
	truncation->is_disk |= reason == WT_LOST_DISK;
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
