/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks by the event `rank`, workers by the call that the agent makes of one and by the number that
 * their DataLoader gave them, parents by pid. */
#include "roles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "trace/query.h"

#define PROCESSES_MAX (1u << 20)
#define PLACES_MAX 1024u
#define WORKER_OWNER "worker" /* of the states that the agent emits of one */

static uint32_t pid_of(const struct wti_roles *roles, size_t stream)
{
	return wt_reader_identity(wt_trace_stream(roles->trace, stream))->pid;
}

/* A group of its own may number its members otherwise: the first that is recorded is the world's.
 */
static int take_process(struct wti_roles *roles, const struct wt_event *event)
{
	uint32_t pid = pid_of(roles, event->stream);

	if (event->kind->number == WT_KIND_PROCESS)
		wti_map_put(&roles->parents, pid, wt_event_u64(event, WT_PROCESS_FIELD_PPID));
	else if (!wti_map_get(&roles->ranks, pid))
		wti_map_put(&roles->ranks, pid, wt_event_u64(event, WT_RANK_FIELD_RANK) + 1);
	return roles->parents.failed || roles->ranks.failed ? WT_E_NOMEM : 0;
}

static int take_number(struct wti_roles *roles, const struct wt_event *event)
{
	struct wt_text attribute = wt_event_text(event, WT_STATE_FIELD_ATTRIBUTE);
	int64_t number = wt_event_i64(event, WT_STATE_FIELD_NEW);

	if (attribute.bytes == 2 && !memcmp(attribute.data, "id", 2) && number >= 0 &&
	    number < PLACES_MAX)
		roles->numbers[event->stream] = (uint32_t)number;
	return 0;
}

static uint64_t place_key(struct wti_role role)
{
	return (uint64_t)role.rank << 32 | role.worker;
}

static int take_worker(struct wti_roles *roles, const struct wt_event *event)
{
	struct wti_role *role = &roles->streams[event->stream];

	if (event->kind->number == WT_KIND_CALL_END && role->worker) {
		wti_map_put(&roles->places, place_key(*role), 0);
	} else if (event->kind->number == WT_KIND_CALL_BEGIN && !role->worker) {
		uint64_t parent = wti_map_get(&roles->parents, pid_of(roles, event->stream));

		role->rank = (uint32_t)wti_map_get(&roles->ranks, parent);
		/* In which order workers begin depends on timing, their numbers do not. */
		role->worker = roles->numbers[event->stream];
		do
			role->worker++;
		while (wti_map_get(&roles->places, place_key(*role)) && role->worker < PLACES_MAX);
		wti_map_put(&roles->places, place_key(*role), 1);
	}
	return roles->places.failed ? WT_E_NOMEM : 0;
}

static int go_through(struct wti_roles *roles, const char *const *kinds, const char *name,
		      int (*take)(struct wti_roles *roles, const struct wt_event *event),
		      struct wt_err *err)
{
	struct wt_cursor *cursor;
	struct wt_event event;
	int r = wti_cursor_of(roles->trace, kinds, name, WT_ALL_FIELDS, &cursor, err);

	if (r)
		return r;
	while (!r && wt_cursor_next(cursor, &event, NULL) > 0)
		r = take(roles, &event);
	wt_cursor_free(cursor);
	return r ? wti_err(err, r, "out of memory") : 0;
}

int wti_roles_init(struct wti_roles *roles, const struct wt_trace *trace, struct wt_err *err)
{
	static const char *const processes[] = {"process", "rank", NULL};
	static const char *const calls[] = {"call_begin", "call_end", NULL};
	static const char *const states[] = {"state", NULL};
	size_t count = wt_trace_stream_count(trace);
	int r;

	*roles = (struct wti_roles){.trace = trace};
	wti_map_init(&roles->parents, PROCESSES_MAX);
	wti_map_init(&roles->ranks, PROCESSES_MAX);
	wti_map_init(&roles->places, PROCESSES_MAX);
	roles->streams = calloc(count + 1, sizeof(*roles->streams));
	roles->numbers = calloc(count + 1, sizeof(*roles->numbers));
	r = roles->streams && roles->numbers ? 0 : wti_err(err, WT_E_NOMEM, "out of memory");
	r = r ? r : go_through(roles, processes, NULL, take_process, err);
	r = r ? r : go_through(roles, states, WORKER_OWNER, take_number, err);
	r = r ? r : go_through(roles, calls, WTI_WORKER_NAME, take_worker, err);
	for (size_t i = 0; i < count && !r; i++)
		if (!roles->streams[i].worker)
			roles->streams[i].rank =
				(uint32_t)wti_map_get(&roles->ranks, pid_of(roles, i));
	if (r)
		wti_roles_release(roles);
	return r;
}

void wti_roles_release(struct wti_roles *roles)
{
	free(roles->streams);
	free(roles->numbers);
	wti_map_release(&roles->parents);
	wti_map_release(&roles->ranks);
	wti_map_release(&roles->places);
	*roles = (struct wti_roles){0};
}

struct wti_role wti_role_of(const struct wti_roles *roles, size_t stream)
{
	return roles->streams[stream];
}

static struct wt_text worker_label(char out[WTI_LABEL_BYTES], struct wti_role role)
{
	char rank[32] = "";
	int bytes;

	if (role.rank)
		snprintf(rank, sizeof(rank), "rank %u ", role.rank - 1);
	bytes = snprintf(out, WTI_LABEL_BYTES, "%sdata worker %u", rank, role.worker);
	return (struct wt_text){out, (size_t)bytes};
}

/* The main thread of a rank needs no other name. */
static struct wt_text rank_label(char out[WTI_LABEL_BYTES], uint32_t rank, struct wt_text name,
				 bool is_main)
{
	int bytes = snprintf(out, WTI_LABEL_BYTES, "rank %u%s%.*s", rank, is_main ? "" : " ",
			     is_main ? 0 : (int)name.bytes, name.data);

	return (struct wt_text){out,
				(size_t)(bytes < WTI_LABEL_BYTES ? bytes : WTI_LABEL_BYTES - 1)};
}

struct wt_text wti_role_label(char out[WTI_LABEL_BYTES], const struct wti_roles *roles,
			      size_t stream, uint32_t id)
{
	const struct wt_reader *reader = wt_trace_stream(roles->trace, stream);
	const struct wt_track *track = wt_reader_track(reader, id);
	struct wti_role role = roles->streams[stream];
	char name[WTI_LABEL_BYTES];

	if (role.worker)
		return worker_label(out, role);
	if (!role.rank || (id && (!track || track->type != WT_TRACK_THREAD)))
		return wti_label_track(out, roles->trace, stream, id);
	if (!id)
		return rank_label(out, role.rank - 1, (struct wt_text){"(process)", 9}, false);
	return rank_label(out, role.rank - 1, wti_label_track(name, roles->trace, stream, id),
			  track->tid == pid_of(roles, stream));
}
