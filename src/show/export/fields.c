/* SPDX-License-Identifier: Apache-2.0 */
/* Hides a small cache of escaped keys. */
#include "fields.h"

#include <string.h>

#include "put.h"
#include "show/headings.h"

#define KEYS_MAX ((size_t)1 << 26)
#define SCRATCH_MAX ((size_t)1 << 26)

void wti_field_keys_init(struct wti_field_keys *keys, struct wti_sources *sources)
{
	*keys = (struct wti_field_keys){.sources = sources};
	for (size_t i = 0; i < WTI_FIELD_KEYS_SLOTS; i++)
		wti_buf_init(&keys->slots[i].text, KEYS_MAX);
	wti_buf_init(&keys->scratch, SCRATCH_MAX);
}

void wti_field_keys_release(struct wti_field_keys *keys)
{
	for (size_t i = 0; i < WTI_FIELD_KEYS_SLOTS; i++)
		wti_buf_release(&keys->slots[i].text);
	wti_buf_release(&keys->scratch);
}

static const struct wti_kind_keys *keys_of(struct wti_field_keys *keys, const struct wt_kind *kind)
{
	uint64_t mixed = (uint64_t)(uintptr_t)kind * 0x9e3779b97f4a7c15u;
	struct wti_kind_keys *slot = &keys->slots[mixed >> 58];
	struct wti_headings headings;

	_Static_assert(WTI_FIELD_KEYS_SLOTS == 64, "the six bits above");
	if (slot->kind == kind)
		return slot;
	wti_buf_clear(&slot->text);
	wti_headings_init(&headings, kind, WTI_HEADINGS_KEYS, NULL);
	for (int i = 0; i < kind->field_count && !wti_headings_status(&headings); i++) {
		const char *name = wti_headings_name(&headings, i);

		slot->at[i] = (uint32_t)slot->text.bytes;
		if (i)
			WTI_PUT(&slot->text, ",");
		wti_put_json_text(&slot->text, (struct wt_text){name, strlen(name)});
		WTI_PUT(&slot->text, ":");
	}
	slot->at[kind->field_count] = (uint32_t)slot->text.bytes;
	if (wti_headings_status(&headings))
		slot->text.status = WT_E_NOMEM;
	wti_headings_release(&headings);
	slot->kind = slot->text.status ? NULL : kind;
	return slot;
}

/* ,"source":{"file":"train.c","line":41,"function":"step"} */
static void put_source(struct wti_buf *out, const struct wt_event *event,
		       struct wti_sources *sources)
{
	struct wti_source_place place;

	if (!wti_sources_of(sources, event, &place))
		return;
	WTI_PUT(out, ",\"source\":{\"file\":");
	wti_put_json_text(out, place.file);
	WTI_PUT(out, ",\"line\":");
	wti_put_u64(out, place.line);
	WTI_PUT(out, ",\"function\":");
	wti_put_json_text(out, place.function);
	WTI_PUT(out, "}");
}

void wti_put_json_fields(struct wti_buf *out, struct wti_field_keys *keys,
			 const struct wt_event *event)
{
	const struct wti_kind_keys *kind = keys_of(keys, event->kind);
	struct wti_shown value;

	if (!kind->kind) {
		out->status = kind->text.status;
		return;
	}
	WTI_PUT(out, "{");
	for (int i = 0; i < event->kind->field_count; i++) {
		wti_put(out, (const char *)kind->text.data + kind->at[i],
			kind->at[i + 1] - kind->at[i]);
		wti_value_of(&value, event, i, &keys->scratch, keys->sources);
		wti_put_json(out, &value);
	}
	put_source(out, event, keys->sources);
	WTI_PUT(out, "}");
}
