/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which command an event of the program belongs to, so that wait lists become edges. Hides the
 * table. An entry is never removed: the driver may give its handle to another event, which then
 * takes its place.
 */
#include "own.h"

#include <stdlib.h>

enum { CAPACITY_FIRST = 1 << 12, CAPACITY_MAX = 1 << 24 };

struct entry {
	cl_event event;
	uint64_t correlation;
};

static struct {
	struct entry *entries;
	size_t count, capacity; /* a power of two */
} table;

static struct entry *place_of(struct entry *entries, size_t capacity, cl_event event)
{
	size_t at = (size_t)((uintptr_t)event * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	while (entries[at & (capacity - 1)].event && entries[at & (capacity - 1)].event != event)
		at++;
	return &entries[at & (capacity - 1)];
}

/* With the lock held; at most half of it is used. */
static bool make_room(void)
{
	size_t capacity = table.capacity ? 2 * table.capacity : CAPACITY_FIRST;
	struct entry *entries;

	if (2 * table.count < table.capacity)
		return true;
	if (capacity > CAPACITY_MAX)
		return false;
	entries = calloc(capacity, sizeof(*entries));
	if (!entries)
		return false;
	for (size_t i = 0; i < table.capacity; i++)
		if (table.entries[i].event)
			*place_of(entries, capacity, table.entries[i].event) = table.entries[i];
	free(table.entries);
	table.entries = entries;
	table.capacity = capacity;
	return true;
}

void wti_cl_event_is(cl_event event, uint64_t correlation)
{
	struct entry *entry;

	if (!event)
		return;
	wti_cl_lock(WTI_CL_LOCK_EVENTS);
	if (make_room()) {
		entry = place_of(table.entries, table.capacity, event);
		table.count += !entry->event;
		*entry = (struct entry){event, correlation};
	}
	wti_cl_unlock(WTI_CL_LOCK_EVENTS);
}

uint64_t wti_cl_event_correlation(cl_event event)
{
	uint64_t correlation = 0;

	wti_cl_lock(WTI_CL_LOCK_EVENTS);
	if (event && table.capacity)
		correlation = place_of(table.entries, table.capacity, event)->correlation;
	wti_cl_unlock(WTI_CL_LOCK_EVENTS);
	return correlation;
}
