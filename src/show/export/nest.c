/* SPDX-License-Identifier: Apache-2.0 */
/* A stack a track, with a ceiling on depth. */
#include "nest.h"

#include <stdlib.h>

#include "base/grow.h"

#define DEPTH_MAX 4096u

void wti_nest_release(struct wti_nest *nest)
{
	free(nest->open);
	*nest = (struct wti_nest){0};
}

void wti_nest_skip(struct wti_nest *nest)
{
	nest->too_deep_count++;
}

int wti_nest_begin(struct wti_nest *nest, const struct wt_event *event, uint64_t id)
{
	bool call = event->kind->number == WT_KIND_CALL_BEGIN;

	/* Beyond the ceiling only their number is known, so all inside is swallowed, too. */
	if (nest->count >= DEPTH_MAX || nest->too_deep_count) {
		nest->too_deep_count++;
		return WT_E_LIMIT;
	}
	if (wti_grow(&nest->open, nest->count + 1, &nest->capacity, DEPTH_MAX))
		return WT_E_NOMEM;
	nest->open[nest->count++] = (struct wti_open_slice){
		.kind = event->kind->number,
		.name = (uint32_t)wt_event_u64(event, 0),
		.module = call ? (uint32_t)wt_event_u64(event, WT_CALL_BEGIN_FIELD_MODULE) : 0,
		.site = call ? (uint32_t)wt_event_u64(event, WT_CALL_BEGIN_FIELD_SITE) : 0,
		.begin_ns = event->time_ns,
		.id = id,
	};
	return 0;
}

static uint16_t begin_of(uint16_t end)
{
	switch (end) {
	case WT_KIND_CALL_END:
		return WT_KIND_CALL_BEGIN;
	case WT_KIND_OPERATOR_END:
		return WT_KIND_OPERATOR_BEGIN;
	default:
		return WT_KIND_SPAN_BEGIN;
	}
}

int wti_nest_end(struct wti_nest *nest, const struct wt_event *event)
{
	uint16_t kind = begin_of(event->kind->number);
	uint32_t name = (uint32_t)wt_event_u64(event, 0);
	uint32_t at = nest->count;

	if (nest->too_deep_count) {
		nest->too_deep_count--;
		return -1;
	}
	while (at && (nest->open[at - 1].kind != kind || nest->open[at - 1].name != name))
		at--;
	return at ? (int)(nest->count - at + 1) : 0;
}
