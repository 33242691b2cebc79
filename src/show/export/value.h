/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A field of an event as all exporters show it: as `view` does (show/event.h), and stacks spelled
 * out.
 */
#ifndef WTI_SHOW_EXPORT_VALUE_H
#define WTI_SHOW_EXPORT_VALUE_H

#include <wheeltap/trace.h>

#include "base/buf.h"
#include "show/event.h"
#include "show/source.h"

/* `scratch` keeps texts that have to be put together; they are valid until it is used again. */
void wti_value_of(struct wti_shown *ret, const struct wt_event *event, int field,
		  struct wti_buf *scratch, struct wti_sources *sources);
/* "train.py:41"; empty if not known. */
struct wt_text wti_site_text(const struct wt_reader *reader, uint32_t id, struct wti_buf *scratch);

/* How long the event took, in ns, and when it began; false if its kind has no duration. */
bool wti_event_duration(const struct wt_event *event, int64_t *ret_begin_ns, int64_t *ret_ns);

#endif
