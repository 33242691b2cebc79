/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A note for each thread that torch has numbered, found by that number; made when there is
 * something to keep, and kept for good, because a graph may outlive the thread that made it.
 *
 * Only the thread itself writes its note. Origins are single words; the context is read between two
 * looks at a version that is odd while it is being written.
 */
#include "threads.h"

#include <stdlib.h>
#include <string.h>

#include "own.h"

#include "common/text.h"
#include "python/shim/host.h"

enum {
	THREADS_MAX = 256, /* that have a note */
	ORIGINS = 1 << 16, /* the last nodes of a thread whose origin is known; a power of two */
	VARIABLES_MAX = 8,
	TEXT_BYTES_MAX = 64,
	READS_MAX = 16,
};

struct variable {
	struct wt_name *key;
	uint64_t value;
	uint32_t type;
	uint32_t text_bytes;
	char text[TEXT_BYTES_MAX];
};

struct wti_thread_note {
	_Atomic uint32_t version;
	uint32_t variable_count;
	struct variable variables[VARIABLES_MAX];
	bool is_own;         /* its context is not another's */
	uint32_t generation; /* of the process in which the origins hold */
	uint32_t track;
	uint64_t next;                     /* the first node whose origin is not known yet */
	_Atomic uint64_t origins[ORIGINS]; /* node, low 32 bits; seq of what made it */
};

static struct wti_thread_note *note_of(uint64_t number)
{
	if (number >= WTI_THREAD_NUMBERS)
		return NULL;
	return atomic_load_explicit(&wti_torch_state.threads.by_number[number],
				    memory_order_acquire);
}

/* The note of this thread, made if need be. NULL: there is none to be had. */
static struct wti_thread_note *own_note(void)
{
	uint64_t number;

	if (wti_likely(wti_torch_thread.own.note != NULL))
		return wti_torch_thread.own.note;
	number = wti_shim_thread();
	if (number == 0 || number >= WTI_THREAD_NUMBERS ||
	    atomic_fetch_add(&wti_torch_state.threads.count, 1) >= THREADS_MAX) {
		return NULL;
	}
	wti_torch_thread.own.note = calloc(1, sizeof(*wti_torch_thread.own.note));
	if (wti_torch_thread.own.note)
		atomic_store_explicit(&wti_torch_state.threads.by_number[number],
				      wti_torch_thread.own.note, memory_order_release);
	return wti_torch_thread.own.note;
}

/* ---- Origins -------------------------------------------------------------------------------- */

/* After a fork the numbers of records begin anew. */
static void origins_begin(struct wti_thread_note *note, struct wti_here here)
{
	if (note->generation)
		memset((void *)note->origins, 0, sizeof(note->origins));
	note->generation = here.slot->generation;
	note->track = here.ring->track;
}

void wti_threads_made(uint64_t from, uint64_t to, uint32_t seq)
{
	const struct wti_here here = wti_here();
	struct wti_thread_note *note = own_note();

	if (!note || !here.ring)
		return;
	if (note->generation != here.slot->generation)
		origins_begin(note, here);
	if (from < note->next)
		from = note->next;
	if (from >= to)
		return;
	note->next = to;
	if (to - from > ORIGINS)
		from = to - ORIGINS;
	for (; from < to; from++)
		atomic_store_explicit(&note->origins[from % ORIGINS],
				      (uint64_t)(uint32_t)from << 32 | seq, memory_order_relaxed);
}

uint64_t wti_threads_origin(uint64_t thread, uint64_t sequence)
{
	const struct wti_thread_note *note = note_of(thread);
	uint64_t origin;

	if (!note || note->generation != wti_slot_of_thread->generation)
		return 0;
	origin = atomic_load_explicit(&note->origins[sequence % ORIGINS], memory_order_relaxed);
	if (!origin || origin >> 32 != (uint32_t)sequence)
		return 0;
	return wti_event_correlation(note->track, (uint32_t)origin);
}

/* ---- Context -------------------------------------------------------------------------------- */

static struct variable *variable_of(struct wti_thread_note *note, const struct wt_name *key)
{
	for (uint32_t i = 0; i < note->variable_count; i++)
		if (note->variables[i].key == key)
			return &note->variables[i];
	return note->variable_count < VARIABLES_MAX ? &note->variables[note->variable_count++]
						    : NULL;
}

void wti_threads_context(struct wt_name *key, uint32_t type, uint64_t value,
			 const struct wti_kept_text *text)
{
	struct wti_thread_note *note = own_note();
	struct variable *variable;
	uint32_t version;

	if (!note || (text && text->bytes > TEXT_BYTES_MAX))
		return;
	version = atomic_load_explicit(&note->version, memory_order_relaxed);
	atomic_store_explicit(&note->version, version + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	note->is_own = !wti_torch_thread.own.is_following;
	variable = variable_of(note, key);
	if (variable) {
		variable->key = key;
		variable->type = type;
		variable->value = value;
		variable->text_bytes = text ? text->bytes : 0;
		if (text)
			memcpy(variable->text, text->data, text->bytes);
	}
	atomic_store_explicit(&note->version, version + 2, memory_order_release);
}

/* A copy that is of one moment. False: it is being written again and again. */
static bool context_read(struct wti_thread_note *note, struct variable *ret, uint32_t *ret_count,
			 uint32_t *ret_version)
{
	for (int i = 0; i < READS_MAX; i++) {
		uint32_t version = atomic_load_explicit(&note->version, memory_order_acquire);

		*ret_count = note->variable_count;
		memcpy(ret, note->variables, sizeof(note->variables));
		atomic_thread_fence(memory_order_acquire);
		if (version % 2 == 0 &&
		    version == atomic_load_explicit(&note->version, memory_order_relaxed)) {
			*ret_version = version;
			return true;
		}
	}
	return false;
}

static void context_take(struct wti_thread_note *from, uint64_t number)
{
	struct variable variables[VARIABLES_MAX];
	struct wti_kept_text text;
	uint32_t count, version;

	if (!context_read(from, variables, &count, &version))
		return;
	wti_torch_thread.own.followed = number;
	wti_torch_thread.own.followed_version = version;
	wti_torch_thread.own.is_following = true;
	for (uint32_t i = 0; i < count && i < VARIABLES_MAX; i++) {
		const struct variable *variable = &variables[i];

		text.data = variable->text;
		text.bytes = variable->text_bytes;
		wti_context_emit(variable->key, variable->type, variable->value,
				 text.bytes ? &text : NULL);
	}
	wti_torch_thread.own.is_following = false;
}

void wti_threads_follow(uint64_t thread)
{
	struct wti_thread_note *from = note_of(thread);

	if (!from || from == wti_torch_thread.own.note)
		return;
	if (wti_torch_thread.own.followed == thread &&
	    wti_torch_thread.own.followed_version ==
		    atomic_load_explicit(&from->version, memory_order_relaxed))
		return;
	if (wti_torch_thread.own.note && wti_torch_thread.own.note->is_own)
		return;
	context_take(from, thread);
}
