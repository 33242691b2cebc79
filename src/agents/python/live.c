/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that are followed. They are found by address, and believed only while a weak reference
 * says that the object of that address is still the same: an agent keeps nothing of the program
 * alive, and an address is used again soon.
 */
#include "pyagent.h"

#include <stdlib.h>
#include <string.h>

enum {
	BUCKETS_FIRST = 1 << 12,
	LIVE_MAX = 1 << 20, /* followed at a time */
};

struct entry {
	struct wti_live live; /* first: wti_live_next() gets back to us by it */
	struct entry *next;   /* in its bucket */
	struct entry *newer;  /* of its type */
	struct entry *older;
};

static struct entry *first_buckets[BUCKETS_FIRST];
static struct entry **buckets = first_buckets;
static size_t bucket_count = BUCKETS_FIRST; /* a power of two */
static uint32_t entry_count;
static uint64_t orders[WTI_LIVE_END];
static struct entry *newest[WTI_LIVE_END];

static size_t bucket_of(PyObject *object)
{
	uintptr_t address = (uintptr_t)object;

	return (address >> 4 ^ address >> 16) & (bucket_count - 1);
}

static bool is_alive(const struct wti_live *live)
{
#if PY_VERSION_HEX >= 0x030d0000
	PyObject *object = NULL;
	bool alive = PyWeakref_GetRef(live->weak, &object) == 1 && object == live->object;

	Py_XDECREF(object);
	return alive;
#else
	return PyWeakref_GET_OBJECT(live->weak) == live->object;
#endif
}

static void drop(struct entry *entry)
{
	if (entry->newer)
		entry->newer->older = entry->older;
	else
		newest[entry->live.type] = entry->older;
	if (entry->older)
		entry->older->newer = entry->newer;
	Py_DECREF(entry->live.weak);
	free(entry);
	entry_count--;
}

struct wti_live *wti_live_find(PyObject *object, uint32_t type)
{
	struct entry **at = &buckets[bucket_of(object)];

	while (*at) {
		struct entry *entry = *at;

		if (!is_alive(&entry->live)) {
			*at = entry->next;
			drop(entry);
			continue;
		}
		if (entry->live.object == object && entry->live.type == type)
			return &entry->live;
		at = &entry->next;
	}
	return NULL;
}

/* Large models have tens of thousands of parameters: twice the room, so that chains stay short. */
static void make_room(void)
{
	const size_t old_count = bucket_count;
	struct entry **old = buckets;
	struct entry **bigger = calloc(old_count * 2, sizeof(*bigger));

	if (!bigger)
		return;
	buckets = bigger;
	bucket_count = old_count * 2;
	for (size_t i = 0; i < old_count; i++)
		for (struct entry *entry = old[i], *next; entry; entry = next) {
			struct entry **bucket = &buckets[bucket_of(entry->live.object)];

			next = entry->next;
			entry->next = *bucket;
			*bucket = entry;
		}
	if (old != first_buckets)
		free(old);
}

struct wti_live *wti_live_add(PyObject *object, uint32_t type)
{
	struct wti_live *found = wti_live_find(object, type);
	struct entry *entry, **bucket;
	PyObject *weak;

	if (found)
		return found;
	weak = entry_count < LIVE_MAX ? PyWeakref_NewRef(object, NULL) : NULL;
	entry = weak ? calloc(1, sizeof(*entry)) : NULL;
	if (!entry) {
		PyErr_Clear();
		Py_XDECREF(weak);
		return NULL;
	}
	entry->live.object = object;
	entry->live.weak = weak;
	entry->live.type = type;
	entry->live.order = orders[type]++;
	if (entry_count >= bucket_count)
		make_room();
	bucket = &buckets[bucket_of(object)];
	entry->next = *bucket;
	*bucket = entry;
	entry->older = newest[type];
	if (entry->older)
		entry->older->newer = entry;
	newest[type] = entry;
	entry_count++;
	return &entry->live;
}

struct wti_live *wti_live_next(const struct wti_live *at, uint32_t type)
{
	struct entry *entry = at ? ((const struct entry *)(const void *)at)->older : newest[type];

	while (entry && !is_alive(&entry->live))
		entry = entry->older;
	return entry ? &entry->live : NULL;
}

struct wt_name *wti_live_name(PyObject *object)
{
	const struct wti_live *found = NULL;

	for (struct entry *entry = buckets[bucket_of(object)]; entry; entry = entry->next) {
		const struct wti_live *live = &entry->live;

		if (live->object != object || live->type == WTI_LIVE_TENSOR || !live->full ||
		    (found && found->type < live->type) || !is_alive(live))
			continue;
		found = live;
	}
	return found ? found->full : NULL;
}
