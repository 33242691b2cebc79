/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is the same for all events of a track, made once. */
#ifndef WTI_SHOW_EXPORT_HEADS_H
#define WTI_SHOW_EXPORT_HEADS_H

#include <wheeltap/trace.h>

#include "base/buf.h"
#include "base/map.h"

struct wti_heads {
	void (*make)(struct wti_buf *out, const struct wt_event *event);
	struct wti_map index; /* stream and track: place in texts, plus one */
	struct wti_buf *texts;
	size_t count, capacity;
};

void wti_heads_init(struct wti_heads *heads,
		    void (*make)(struct wti_buf *out, const struct wt_event *event));
void wti_heads_release(struct wti_heads *heads);
/* What make() gives for the track of the event. */
void wti_heads_put(struct wti_heads *heads, struct wti_buf *out, const struct wt_event *event);

#endif
