/* SPDX-License-Identifier: Apache-2.0 */
/* See inside.h. */
#include <stdlib.h>

#include "base/grow.h"
#include "inside.h"
#include "library.h"

#define THREADS_MAX (1u << 16)

void wti_inside_init(struct wti_inside *inside)
{
	*inside = (struct wti_inside){0};
	wti_map_init(&inside->of_tid, THREADS_MAX);
}

void wti_inside_release(struct wti_inside *inside)
{
	wti_map_release(&inside->of_tid);
	free(inside->all);
	*inside = (struct wti_inside){0};
}

static struct wti_inside_calls *entry_of(struct wti_inside *inside, uint32_t tid)
{
	uint64_t *slot = wti_map_number(&inside->of_tid, tid);

	if (!slot)
		return NULL;
	if (*slot)
		return &inside->all[*slot - 1];
	if (wti_grow(&inside->all, inside->count + 1, &inside->capacity, THREADS_MAX))
		return NULL;
	inside->all[inside->count].depth = 0;
	*slot = ++inside->count;
	return &inside->all[*slot - 1];
}

/* NULL: the track is no thread. */
static struct wti_inside_calls *calls_of(struct wti_inside *inside, const struct wt_event *event)
{
	const struct wt_track *track = wt_reader_track(event->reader, event->track);

	return track && track->tid ? entry_of(inside, track->tid) : NULL;
}

static void begin(struct wti_inside_calls *calls, const struct wt_event *event)
{
	uint32_t site = (uint32_t)wt_event_u64(event, WT_CALL_BEGIN_FIELD_SITE);
	struct wti_inside_site outer = {0};

	if (calls->depth < WTI_INSIDE_DEPTH_MAX) {
		if (calls->depth)
			outer = calls->sites[calls->depth - 1];
		calls->sites[calls->depth] = site && !wti_is_library_site(event->reader, site)
						     ? (struct wti_inside_site){event->stream, site}
						     : outer;
	}
	calls->depth++;
}

void wti_inside_event(struct wti_inside *inside, const struct wt_event *event)
{
	uint16_t kind = event->kind->number;
	struct wti_inside_calls *calls;

	if (kind != WT_KIND_CALL_BEGIN && kind != WT_KIND_CALL_END)
		return;
	calls = calls_of(inside, event);
	if (!calls)
		return;
	if (kind == WT_KIND_CALL_BEGIN)
		begin(calls, event);
	else if (calls->depth)
		calls->depth--;
}

struct wti_inside_site wti_inside_of(const struct wti_inside *inside, uint32_t tid)
{
	const uint64_t *slot = wti_map_find_number(&inside->of_tid, tid);
	const struct wti_inside_calls *calls = slot && *slot ? &inside->all[*slot - 1] : NULL;

	if (!calls || !calls->depth)
		return (struct wti_inside_site){0};
	return calls->sites[(calls->depth < WTI_INSIDE_DEPTH_MAX ? calls->depth
								 : WTI_INSIDE_DEPTH_MAX) -
			    1];
}
