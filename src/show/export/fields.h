/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of an event as a JSON object: {"name":"begin","flags":0,"value":3}. */
#ifndef WTI_SHOW_EXPORT_FIELDS_H
#define WTI_SHOW_EXPORT_FIELDS_H

#include <wheeltap/trace.h>

#include "base/buf.h"
#include "show/source.h"

#define WTI_FIELD_KEYS_SLOTS 64u

/* The keys of a kind, escaped: ,"name": and so on, one after the other. */
struct wti_kind_keys {
	const struct wt_kind *kind; /* NULL: the slot is free */
	struct wti_buf text;
	uint32_t at[WT_FIELDS_MAX + 1];
};

/* Keys are the same for all events of a kind; those seen last are kept. */
struct wti_field_keys {
	struct wti_kind_keys slots[WTI_FIELD_KEYS_SLOTS];
	struct wti_buf scratch; /* of values */
	struct wti_sources *sources;
};

void wti_field_keys_init(struct wti_field_keys *keys, struct wti_sources *sources);
void wti_field_keys_release(struct wti_field_keys *keys);
void wti_put_json_fields(struct wti_buf *out, struct wti_field_keys *keys,
			 const struct wt_event *event);

#endif
