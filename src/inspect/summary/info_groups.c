/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up what the streams of workers of the same place have. */
#include "info_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define GROUPS_MAX (1u << 16)

uint64_t wti_reader_events(const struct wt_reader *reader)
{
	uint64_t events = 0;

	for (size_t i = 0; i < wt_reader_block_count(reader); i++)
		events += wt_reader_block(reader, i)->rows;
	return events;
}

const char *wti_reader_state(const struct wt_reader *reader)
{
	return wt_reader_damage(reader)->code ? "damaged"
	       : wt_reader_finished(reader)   ? "complete"
					      : "open";
}

bool wti_groups_has(const struct wti_roles *roles, size_t stream)
{
	const struct wt_reader *reader = wt_trace_stream(roles->trace, stream);

	return wti_role_of(roles, stream).worker && !strcmp(wti_reader_state(reader), "complete");
}

static struct wti_group *group_of(struct wti_groups *groups, struct wti_role role, size_t stream)
{
	for (size_t i = 0; i < groups->count; i++)
		if (groups->all[i].role.rank == role.rank &&
		    groups->all[i].role.worker == role.worker)
			return &groups->all[i];
	if (wti_grow(&groups->all, groups->count + 1, &groups->capacity, GROUPS_MAX))
		return NULL;
	groups->all[groups->count] = (struct wti_group){.role = role, .stream = stream};
	return &groups->all[groups->count++];
}

static void add(struct wti_group *group, const struct wt_reader *reader)
{
	group->streams++;
	group->events += wti_reader_events(reader);
	group->bytes += wt_reader_file_bytes(reader);
}

static int by_role(const void *a, const void *b)
{
	const struct wti_role x = ((const struct wti_group *)a)->role;
	const struct wti_role y = ((const struct wti_group *)b)->role;

	if (x.rank != y.rank)
		return x.rank < y.rank ? -1 : 1;
	return x.worker < y.worker ? -1 : x.worker > y.worker;
}

int wti_groups_init(struct wti_groups *groups, const struct wti_roles *roles)
{
	*groups = (struct wti_groups){0};
	for (size_t i = 0; i < wt_trace_stream_count(roles->trace); i++) {
		const struct wt_reader *reader = wt_trace_stream(roles->trace, i);
		struct wti_group *group;

		if (!wti_groups_has(roles, i))
			continue;
		group = group_of(groups, wti_role_of(roles, i), i);
		if (!group)
			return WT_E_NOMEM;
		add(group, reader);
		add(&groups->sum, reader);
	}
	if (groups->count)
		qsort(groups->all, groups->count, sizeof(*groups->all), by_role);
	return 0;
}

void wti_groups_release(struct wti_groups *groups)
{
	free(groups->all);
}
