/* SPDX-License-Identifier: Apache-2.0 */
/* Knows in which call of a function each thread is, so that a system call has a line. */
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define THREADS_MAX (1u << 16)
#define DEPTH_MAX 64

void wti_inside_init(struct wti_inside *calls)
{
	*calls = (struct wti_inside){0};
	wti_map_init(&calls->of_tid, THREADS_MAX);
}

void wti_inside_release(struct wti_inside *calls)
{
	wti_map_release(&calls->of_tid);
	free(calls->all);
	*calls = (struct wti_inside){0};
}

static struct wti_inside_calls *entry_of(struct wti_inside *calls, uint32_t tid)
{
	uint64_t *slot = wti_map_number(&calls->of_tid, tid);

	if (!slot)
		return NULL;
	if (*slot)
		return &calls->all[*slot - 1];
	if (calls->count == calls->capacity) {
		size_t capacity = calls->capacity ? calls->capacity * 2 : 8;
		void *bigger = realloc(calls->all, capacity * sizeof(*calls->all));

		if (!bigger)
			return NULL;
		calls->all = bigger;
		calls->capacity = capacity;
	}
	calls->all[calls->count] = (struct wti_inside_calls){0};
	*slot = ++calls->count;
	return &calls->all[*slot - 1];
}

/* NULL: the track is no thread, or of a process whose sites are not kept. */
static struct wti_inside_calls *open_calls(struct wti_effects_state *s,
					   const struct wt_event *event)
{
	const struct wt_track *track = wt_reader_track(event->reader, event->track);

	if (!s->calls.has_stream) {
		s->calls.has_stream = true;
		s->fx->call_stream = event->stream;
	}
	if (!track || !track->tid || s->fx->call_stream != event->stream)
		return NULL;
	return entry_of(&s->calls, track->tid);
}

/* Code that comes with the interpreter or from a package is not where people look. */
static bool is_own_code(const struct wt_reader *reader, uint32_t site)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/", "/lib/python"};
	const struct wt_site *it = wt_reader_site(reader, site);
	struct wt_text file = it ? wt_reader_string(reader, it->file) : (struct wt_text){"", 0};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (memmem(file.data, file.bytes, folders[i], strlen(folders[i])))
			return false;
	return file.bytes && file.data[0] != '<';
}

void wti_inside_begin(struct wti_effects_state *s, const struct wt_event *event)
{
	struct wti_inside_calls *open = open_calls(s, event);
	uint32_t site = (uint32_t)wt_event_u64(event, WT_CALL_BEGIN_FIELD_SITE), outer;

	if (!open)
		return;
	if (open->depth < DEPTH_MAX) {
		outer = open->depth ? open->sites[open->depth - 1] : 0;
		open->sites[open->depth] = site && is_own_code(event->reader, site) ? site : outer;
	}
	open->depth++;
}

void wti_inside_end(struct wti_effects_state *s, const struct wt_event *event)
{
	struct wti_inside_calls *open = open_calls(s, event);

	if (open && open->depth)
		open->depth--;
}

uint32_t wti_inside_site(const struct wti_effects_state *s, uint32_t tid)
{
	const uint64_t *slot = wti_map_find_number(&s->calls.of_tid, tid);
	const struct wti_inside_calls *open = slot && *slot ? &s->calls.all[*slot - 1] : NULL;

	if (!open || !open->depth)
		return 0;
	return open->sites[open->depth < DEPTH_MAX ? open->depth - 1 : DEPTH_MAX - 1];
}
