/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that are followed. They are found by address, and believed only while a weak reference
 * says that the object of that address is still the same: an agent keeps nothing of the program
 * alive, and an address is used again soon.
 */
#include "own.h"

#include <stdlib.h>
#include <string.h>

enum { LIVE_MAX = 1 << 20 }; /* followed at a time */

struct wti_live_state wti_live_state;
__thread struct wti_live_thread wti_live_thread WTI_THREAD_STATE;

bool wti_live_init(void)
{
	const struct wti_own_word words[] = {
		{&wti_live_state.words.grad, "grad"},
		{&wti_live_state.words.param_groups, "param_groups"},
		{&wti_live_state.words.params, "params"},
		{&wti_live_state.words.state, "state"},
		{&wti_live_state.words.parameters, "_parameters"},
		{&wti_live_state.words.buffers, "_buffers"},
		{&wti_live_state.words.modules, "_modules"},
	};

	wti_live_state.buckets = wti_live_state.first_buckets;
	wti_live_state.bucket_count = WTI_LIVE_BUCKETS_FIRST;
	return wti_words_make(words, sizeof(words) / sizeof(words[0]));
}

static size_t bucket_of(PyObject *object)
{
	uintptr_t address = (uintptr_t)object;

	return (address >> 4 ^ address >> 16) & (wti_live_state.bucket_count - 1);
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

static void drop(struct wti_live_entry *entry)
{
	if (entry->newer)
		entry->newer->older = entry->older;
	else
		wti_live_state.newest[entry->live.type] = entry->older;
	if (entry->older)
		entry->older->newer = entry->newer;
	Py_DECREF(entry->live.weak);
	free(entry);
	wti_live_state.entry_count--;
}

struct wti_live *wti_live_find(PyObject *object, uint32_t type)
{
	struct wti_live_entry **at = &wti_live_state.buckets[bucket_of(object)];

	while (*at) {
		struct wti_live_entry *entry = *at;

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
	const size_t old_count = wti_live_state.bucket_count;
	struct wti_live_entry **old = wti_live_state.buckets;
	struct wti_live_entry **bigger = calloc(old_count * 2, sizeof(*bigger));

	if (!bigger)
		return;
	wti_live_state.buckets = bigger;
	wti_live_state.bucket_count = old_count * 2;
	for (size_t i = 0; i < old_count; i++)
		for (struct wti_live_entry *entry = old[i], *next; entry; entry = next) {
			struct wti_live_entry **bucket =
				&wti_live_state.buckets[bucket_of(entry->live.object)];

			next = entry->next;
			entry->next = *bucket;
			*bucket = entry;
		}
	if (old != wti_live_state.first_buckets)
		free(old);
}

struct wti_live *wti_live_add(PyObject *object, uint32_t type)
{
	struct wti_live *found = wti_live_find(object, type);
	struct wti_live_entry *entry, **bucket;
	PyObject *weak;

	if (found)
		return found;
	weak = wti_live_state.entry_count < LIVE_MAX ? PyWeakref_NewRef(object, NULL) : NULL;
	entry = weak ? calloc(1, sizeof(*entry)) : NULL;
	if (!entry) {
		PyErr_Clear();
		Py_XDECREF(weak);
		return NULL;
	}
	entry->live.object = object;
	entry->live.weak = weak;
	entry->live.type = type;
	entry->live.order = wti_live_state.orders[type]++;
	if (wti_live_state.entry_count >= wti_live_state.bucket_count)
		make_room();
	bucket = &wti_live_state.buckets[bucket_of(object)];
	entry->next = *bucket;
	*bucket = entry;
	entry->older = wti_live_state.newest[type];
	if (entry->older)
		entry->older->newer = entry;
	wti_live_state.newest[type] = entry;
	wti_live_state.entry_count++;
	return &entry->live;
}

struct wti_live *wti_live_next(const struct wti_live *at, uint32_t type)
{
	struct wti_live_entry *entry = at ? ((const struct wti_live_entry *)(const void *)at)->older
					  : wti_live_state.newest[type];

	while (entry && !is_alive(&entry->live))
		entry = entry->older;
	return entry ? &entry->live : NULL;
}

struct wt_name *wti_live_name(PyObject *object)
{
	const struct wti_live *found = NULL;

	for (struct wti_live_entry *entry = wti_live_state.buckets[bucket_of(object)]; entry;
	     entry = entry->next) {
		const struct wti_live *live = &entry->live;

		if (live->object != object || live->type == WTI_LIVE_TENSOR || !live->full ||
		    (found && found->type < live->type) || !is_alive(live))
			continue;
		found = live;
	}
	return found ? found->full : NULL;
}
