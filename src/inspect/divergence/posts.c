/* SPDX-License-Identifier: Apache-2.0 */
/* Which tracks of two runs correspond: see posts.h. */
#include "posts.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "inspect/core/roles.h"
#include "trace/query.h"

/* Tracks of a stream that computed something. */
static int find_busy(const struct wt_trace *trace, struct wti_map *ret_busy, struct wt_err *err)
{
	static const char *const kinds[] = {"call_begin", "operator_begin", "tensor",
					    "counter",    "state",          NULL};
	struct wt_cursor *cursor;
	struct wt_event event;
	int r = wti_cursor_of(trace, kinds, NULL, 0, &cursor, err), next = 0;

	if (r)
		return r;
	while (!r && (next = wt_cursor_next(cursor, &event, NULL)) > 0)
		if (!wti_map_put(ret_busy, (uint64_t)event.stream << 32 | event.track, 1))
			r = wti_map_failed(ret_busy, err, "tracks to compare");
	wt_cursor_free(cursor);
	return !r && next == WT_E_NOMEM ? wti_err(err, next, "out of memory") : r;
}

/* Streams in the order in which their processes began, as their numbers depend on timing. */
static int by_start(const void *a, const void *b, void *trace)
{
	const struct wt_identity *x = wt_reader_identity(wt_trace_stream(trace, *(size_t *)a));
	const struct wt_identity *y = wt_reader_identity(wt_trace_stream(trace, *(size_t *)b));

	if (x->start_time != y->start_time)
		return x->start_time < y->start_time ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->exec < y->exec ? -1 : x->exec > y->exec;
}

static uint32_t number_among(const struct wti_posts *places, const struct wti_post *place)
{
	uint32_t number = 0;
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < places->count; i++) {
		const struct wti_post *other = &places->all[i];

		if (other->rank != place->rank || other->worker != place->worker ||
		    other->stream == place->stream || other->stream == last)
			continue;
		last = other->stream;
		number++;
	}
	return number;
}

/* Of the thread that the process began with; 0: nobody says which it is. */
static uint32_t main_track_of(const struct wt_reader *reader)
{
	uint32_t pid = wt_reader_identity(reader)->pid;

	for (size_t i = 0; i < wt_reader_track_count(reader); i++)
		if (pid && wt_reader_track_at(reader, i)->tid == pid)
			return wt_reader_track_at(reader, i)->id;
	return 0;
}

static int add_stream(const struct wt_trace *trace, size_t stream, const struct wti_roles *roles,
		      const struct wti_map *busy, struct wti_posts *places)
{
	const struct wt_reader *reader = wt_trace_stream(trace, stream);
	struct wti_role role = wti_role_of(roles, stream);
	uint32_t thread = 0;
	uint32_t main_track = main_track_of(reader);

	for (size_t i = 0; i < wt_reader_track_count(reader); i++) {
		uint32_t track = wt_reader_track_at(reader, i)->id;
		struct wti_post place = {.stream = stream,
					 .track = track,
					 .rank = role.rank,
					 .worker = role.worker,
					 .thread = thread};

		if (!wti_map_get(busy, (uint64_t)stream << 32 | track))
			continue;
		place.process = number_among(places, &place);
		place.is_chief = !place.worker && !place.process &&
				 (main_track ? track == main_track : !thread);
		if (wti_grow(&places->all, places->count + 1, &places->capacity, WTI_POSTS_MAX))
			return WT_E_NOMEM;
		places->all[places->count++] = place;
		thread++;
	}
	return 0;
}

static void take_seats(struct wti_posts *places)
{
	bool has_ranks = false;

	for (size_t i = 0; i < places->count; i++)
		has_ranks |= places->all[i].rank != 0;
	for (size_t i = 0; i < places->count; i++)
		places->all[i].seat = has_ranks ? places->all[i].rank : 1;
}

int wti_posts_find(const struct wt_trace *trace, struct wti_posts *ret_places, struct wt_err *err)
{
	size_t count = wt_trace_stream_count(trace);
	size_t *order = calloc(count + 1, sizeof(*order));
	struct wti_roles roles;
	struct wti_map busy;
	int r = order ? wti_roles_init(&roles, trace, err)
		      : wti_err(err, WT_E_NOMEM, "out of memory");

	if (r) {
		free(order);
		return r;
	}
	wti_map_init(&busy, WTI_POSTS_MAX);
	r = find_busy(trace, &busy, err);
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), by_start, (void *)trace);
	for (size_t i = 0; i < count && !r; i++)
		if (add_stream(trace, order[i], &roles, &busy, ret_places))
			r = wti_err(err, WT_E_NOMEM, "out of memory");
	take_seats(ret_places);
	wti_map_release(&busy);
	wti_roles_release(&roles);
	free(order);
	return r;
}

bool wti_posts_same_rank(const struct wti_post *a, const struct wti_post *b)
{
	return a->seat == b->seat;
}

static bool corresponds(const struct wti_post *a, const struct wti_post *b)
{
	if (!wti_posts_same_rank(a, b) || a->is_chief != b->is_chief)
		return false;
	return a->is_chief ||
	       (a->worker == b->worker && a->process == b->process && a->thread == b->thread);
}

struct wti_post *wti_post_partner(const struct wti_post *place, struct wti_posts *others)
{
	for (size_t i = 0; i < others->count; i++)
		if (!others->all[i].is_taken && corresponds(place, &others->all[i]))
			return &others->all[i];
	return NULL;
}
