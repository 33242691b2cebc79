/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how a track is called that nobody has named. */
#include "threads.h"

#include <stdio.h>
#include <string.h>

#define NAMES_MAX ((size_t)1 << 16)
#define NAME_BYTES 256

enum { THREADS, QUEUES };

void wti_threads_init(struct wti_threads *threads, struct wti_intake *intake)
{
	*threads = (struct wti_threads){.intake = intake};
	wti_map_init(&threads->tracks, NAMES_MAX);
	wti_map_init(&threads->names, NAMES_MAX);
}

void wti_threads_release(struct wti_threads *threads)
{
	wti_map_release(&threads->tracks);
	wti_map_release(&threads->names);
}

static void add_part(struct wti_threads_key *key, const struct wti_fragment *piece)
{
	size_t room = WTI_THREADS_KEY_BYTES / 2 - 1;
	size_t bytes = piece->bytes < room ? piece->bytes : room;

	if (bytes)
		memcpy(key->text + key->bytes, piece->data, bytes);
	key->bytes += bytes;
}

static void make_key(struct wti_threads_key *key, const struct wti_fragment *a,
		     const struct wti_fragment *b)
{
	key->bytes = 0;
	add_part(key, a);
	key->text[key->bytes++] = '/';
	add_part(key, b);
}

static uint32_t number_of(const struct wti_fragment *piece)
{
	int64_t number = 0;

	return wti_piece_number(piece, &number) ? (uint32_t)number : 0;
}

static void default_name(struct wti_threads *threads, uint32_t track, int type,
			 const struct wti_fragment *pid, const struct wti_fragment *tid)
{
	int part_max = NAME_BYTES / 2;
	char name[NAME_BYTES + 8];
	int bytes;

	if (type == QUEUES)
		bytes = snprintf(name, sizeof(name), "stream %.*s", (int)tid->bytes, tid->data);
	else if (!tid->bytes)
		bytes = snprintf(name, sizeof(name), "process");
	else if (!tid->is_text)
		bytes = snprintf(name, sizeof(name), "thread %.*s", (int)tid->bytes, tid->data);
	else
		bytes = snprintf(
			name, sizeof(name), "%.*s %.*s",
			pid->bytes < NAME_BYTES / 2 ? (int)pid->bytes : part_max, pid->data,
			tid->bytes < NAME_BYTES / 2 ? (int)tid->bytes : part_max, tid->data);
	wti_intake_track_name(threads->intake, track, name,
			      (size_t)bytes < sizeof(name) ? (size_t)bytes : sizeof(name) - 1);
}

static uint32_t find_track(struct wti_threads *threads, int type, uint32_t process,
			   const struct wti_fragment *pid, const struct wti_fragment *tid)
{
	struct wti_threads_key key;
	struct wti_intake_track track = {.process = process,
					 .type = type == QUEUES ? WT_TRACK_QUEUE : WT_TRACK_THREAD};
	char marked[1 + WTI_THREADS_KEY_BYTES];
	uint64_t *slot;

	make_key(&key, pid, tid);
	if (threads->last[type].track && threads->last[type].key.bytes == key.bytes &&
	    !memcmp(threads->last[type].key.text, key.text, key.bytes))
		return threads->last[type].track;
	marked[0] = type == QUEUES ? 'q' : 't';
	memcpy(marked + 1, key.text, key.bytes);
	slot = wti_map_text(&threads->tracks, marked, 1 + key.bytes);
	track.key = key.text;
	track.key_bytes = key.bytes;
	track.tid = type == QUEUES ? 0 : number_of(tid);
	track.device = type == QUEUES ? number_of(pid) : 0;
	if (!slot || !*slot) {
		uint32_t number = wti_intake_track(threads->intake, &track);

		default_name(threads, number, type, pid, tid);
		if (!slot)
			return number;
		*slot = number;
	}
	threads->last[type].key = key;
	threads->last[type].track = (uint32_t)*slot;
	return (uint32_t)*slot;
}

uint32_t wti_threads_thread(struct wti_threads *threads, uint32_t process,
			    const struct wti_fragment *pid, const struct wti_fragment *tid)
{
	return find_track(threads, THREADS, process, pid, tid);
}

uint32_t wti_threads_queue(struct wti_threads *threads, uint32_t process,
			   const struct wti_fragment *device, const struct wti_fragment *queue)
{
	return find_track(threads, QUEUES, process, device, queue);
}

void wti_threads_name(struct wti_threads *threads, const struct wti_fragment *pid,
		      const struct wti_fragment *tid, const struct wti_fragment *name)
{
	struct wti_threads_key key;
	char text[NAME_BYTES];
	size_t bytes;
	const char *data = wti_piece_text(name, text, sizeof(text), &bytes);
	uint64_t *slot;

	while (bytes && data[bytes - 1] == ' ')
		bytes--; /* Kineto's "stream 7 " */
	make_key(&key, pid, tid);
	slot = bytes ? wti_map_text(&threads->names, key.text, key.bytes) : NULL;
	if (slot)
		*slot = wti_intake_name(threads->intake, data, bytes);
}

void wti_threads_finish(struct wti_threads *threads)
{
	for (size_t i = 0; i < threads->tracks.count; i++) {
		const struct wti_map_entry *entry = &threads->tracks.entries[i];
		const uint64_t *name =
			wti_map_find_text(&threads->names, entry->text + 1, entry->bytes - 1);
		struct wt_text text;

		if (!name || !*name)
			continue;
		text = wti_intake_name_text(threads->intake, (uint32_t)*name);
		wti_intake_track_name(threads->intake, (uint32_t)entry->value, text.data,
				      text.bytes);
	}
}
