/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of one event. */
#include <string.h>

#include <wheeltap/trace.h>

static bool has(const struct wt_event *event, int field)
{
	return field >= 0 && field < event->kind->field_count && event->batch->values[field];
}

uint64_t wt_event_u64(const struct wt_event *event, int field)
{
	return has(event, field) ? event->batch->values[field][event->row] : 0;
}

int64_t wt_event_i64(const struct wt_event *event, int field)
{
	return (int64_t)wt_event_u64(event, field);
}

double wt_event_f64(const struct wt_event *event, int field)
{
	uint64_t bits = wt_event_u64(event, field);
	double number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

struct wt_text wt_event_text(const struct wt_event *event, int field)
{
	const struct wt_field *description;
	uint64_t value = wt_event_u64(event, field);

	if (!has(event, field))
		return (struct wt_text){"", 0};
	description = &event->kind->fields[field];
	switch (description->type) {
	case WT_TYPE_STR:
	case WT_TYPE_BYTES: {
		const uint32_t *text_at = event->batch->text_at[field];

		return (struct wt_text){event->batch->text[field] + text_at[event->row],
					text_at[event->row + 1] - text_at[event->row]};
	}
	case WT_TYPE_NAME:
		return wt_reader_string(event->reader, (uint32_t)value);
	case WT_TYPE_ENUM:
		if (value < description->enum_count)
			return (struct wt_text){description->enum_names[value],
						strlen(description->enum_names[value])};
		return (struct wt_text){"?", 1};
	default:
		return (struct wt_text){"", 0};
	}
}
