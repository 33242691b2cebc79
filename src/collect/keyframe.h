/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a segment of a flight recording must begin with to be understood without the ones before:
 * all definitions, and for each track the last value of every context and state and its open spans.
 */
#ifndef WTI_COLLECT_KEYFRAME_H
#define WTI_COLLECT_KEYFRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"

#include "trace/sink.h"

struct wti_kept_frame; /* a record that is still valid */

struct wti_keyframe {
	struct wti_buf definitions; /* type, id, payload after payload */
	struct wti_map index;      /* what it says about which track -> number of the kept record */
	struct wti_map depths;     /* track -> open spans */
	struct wti_map last_ticks; /* track -> time of its last record */
	struct wti_kept_frame *kept;
	size_t kept_count;
	size_t kept_capacity;
};

void wti_keyframe_init(struct wti_keyframe *keyframe);
void wti_keyframe_release(struct wti_keyframe *keyframe);
void wti_keyframe_define(struct wti_keyframe *keyframe, const struct wti_definition_view *view);
void wti_keyframe_records(struct wti_keyframe *keyframe, const struct wti_run_of_records *run);
/* Calls back for every definition, then for every record still valid, at its track's last time. */
struct wti_keyframe_out {
	void *self;
	void (*define)(void *self, const struct wti_definition_view *view);
	void (*record)(void *self, uint32_t track, uint64_t seq, const struct wti_record *record);
};
void wti_keyframe_replay(struct wti_keyframe *keyframe, const struct wti_keyframe_out *out);

#endif
