/* SPDX-License-Identifier: Apache-2.0 */
/* One way through what a run has read: see known.h. */
#include "known.h"

#include <xxhash.h>

#include "base/err.h"
#include "trace/query.h"

static uint64_t key_of(uint32_t type, uint64_t bits)
{
	uint64_t key = XXH3_64bits_withSeed(&bits, sizeof(bits), type);

	return key == WTI_VALUE_UNREAD ? 1 : key | !key;
}

uint64_t wti_known_key(const struct wti_value_row *value)
{
	switch (value->type) {
	case WT_VALUE_TYPE_BOOL:
	case WT_VALUE_TYPE_INT:
	case WT_VALUE_TYPE_FLOAT:
	case WT_VALUE_TYPE_HASH:
		return key_of(value->type, value->bits);
	case WTI_VALUE_TENSOR:
		return value->digest.flags & WT_TENSOR_NO_HASH
			       ? WTI_VALUE_UNREAD
			       : key_of(WTI_VALUE_TENSOR, value->digest.hash);
	default:
		return 0;
	}
}

static uint64_t event_key(const struct wt_event *event)
{
	if (event->kind->number == WT_KIND_TENSOR)
		return wt_event_u64(event, WT_TENSOR_FIELD_FLAGS) & WT_TENSOR_NO_HASH
			       ? WTI_VALUE_UNREAD
			       : key_of(WTI_VALUE_TENSOR,
					wt_event_u64(event, WT_TENSOR_FIELD_HASH));
	return key_of((uint32_t)wt_event_u64(event, WT_ARGUMENT_FIELD_TYPE),
		      wt_event_u64(event, WT_ARGUMENT_FIELD_VALUE));
}

int wti_known_scan(const struct wt_trace *trace, struct wti_map *values,
		   const struct wti_known_flags *flags, struct wt_err *err)
{
	static const char *const kinds[] = {"tensor", "argument", NULL};
	struct wt_cursor *cursor;
	struct wt_event event;
	int r = wti_cursor_of(trace, kinds, NULL, WT_ALL_FIELDS, &cursor, err), next;

	if (r)
		return r;
	while ((next = wt_cursor_next(cursor, &event, NULL)) > 0) {
		uint64_t key = event_key(&event);

		if (!wti_map_find_number(values, key))
			continue;
		*wti_map_number(values, key) |= flags->flag;
		if (flags->tracks &&
		    !wti_map_get(flags->tracks, (uint64_t)event.stream << 32 | event.track))
			*wti_map_number(values, key) |= flags->flag_beside;
	}
	wt_cursor_free(cursor);
	return next == WT_E_NOMEM ? wti_err(err, next, "out of memory") : 0;
}
