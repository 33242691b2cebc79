/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows which records stay valid after they have been written: contexts and states until the next
 * of the same key, spans until they end. Keeps copies, with a ceiling; what finds no room is simply
 * not in the next keyframe.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/protocol.h"

#include "records.h"

#include "keyframe.h"

#define KEPT_MAX 65536
#define KEPT_BYTES_MAX 512 /* longer texts are not worth repeating in each segment */
#define DEFINITIONS_BYTES_MAX (96u << 20)
#define DEPTH_MAX 128

struct wti_kept_frame {
	uint32_t track;
	uint16_t valid;
	uint16_t bytes;
	uint64_t seq;
	uint8_t *record;
};

struct definition_entry {
	uint16_t type;
	uint16_t payload_bytes;
	uint32_t id;
};

void wti_keyframe_init(struct wti_keyframe *keyframe)
{
	memset(keyframe, 0, sizeof(*keyframe));
	wti_buf_init(&keyframe->definitions, DEFINITIONS_BYTES_MAX);
	wti_map_init(&keyframe->index, KEPT_MAX);
	wti_map_init(&keyframe->depths, KEPT_MAX);
	wti_map_init(&keyframe->last_ticks, KEPT_MAX);
}

void wti_keyframe_release(struct wti_keyframe *keyframe)
{
	for (size_t i = 0; i < keyframe->kept_count; i++)
		free(keyframe->kept[i].record);
	free(keyframe->kept);
	wti_buf_release(&keyframe->definitions);
	wti_map_release(&keyframe->index);
	wti_map_release(&keyframe->depths);
	wti_map_release(&keyframe->last_ticks);
	keyframe->kept = NULL;
	keyframe->kept_count = 0;
}

void wti_keyframe_define(struct wti_keyframe *keyframe, const struct wti_definition_view *view)
{
	struct definition_entry entry = {view->type, view->payload_bytes, view->id};
	static const uint8_t zeros[8];
	size_t bytes = sizeof(entry) + view->payload_bytes;
	struct wti_buf *out = &keyframe->definitions;

	wti_buf_append(out, &entry, sizeof(entry));
	wti_buf_append(out, view->payload, view->payload_bytes);
	wti_buf_append(out, zeros, -bytes & 7);
}

/* The slot of a thing that a track says again and again; NULL when there is no room. */
static struct wti_kept_frame *slot_of(struct wti_keyframe *keyframe, const char *key, size_t bytes)
{
	uint64_t *number = wti_map_text(&keyframe->index, key, bytes);

	if (!number)
		return NULL;
	if (*number)
		return &keyframe->kept[*number - 1];
	if (wti_grow(&keyframe->kept, keyframe->kept_count + 1, &keyframe->kept_capacity, KEPT_MAX))
		return NULL;
	keyframe->kept[keyframe->kept_count] = (struct wti_kept_frame){0};
	*number = ++keyframe->kept_count;
	return &keyframe->kept[*number - 1];
}

static void keep(struct wti_keyframe *keyframe, const uint32_t key[4], uint64_t seq,
		 const struct wti_record *record)
{
	struct wti_kept_frame *slot = slot_of(keyframe, (const char *)key, 4 * sizeof(key[0]));
	size_t bytes = record->units * 8u;

	if (!slot)
		return;
	slot->valid = 0;
	if (bytes > KEPT_BYTES_MAX)
		return;
	if (slot->bytes < bytes) {
		uint8_t *memory = realloc(slot->record, bytes);

		if (!memory)
			return;
		slot->record = memory;
	}
	memcpy(slot->record, record, bytes);
	slot->bytes = (uint16_t)bytes;
	slot->track = key[0];
	slot->seq = seq;
	slot->valid = 1;
}

static void keep_span(struct wti_keyframe *keyframe, uint32_t track, uint64_t seq,
		      const struct wti_record *record)
{
	uint64_t *depth = wti_map_number(&keyframe->depths, track);
	uint32_t key[4] = {track, WT_KIND_SPAN_BEGIN, 0, 0};

	if (!depth)
		return;
	if (record->kind == WT_KIND_SPAN_BEGIN) {
		key[2] = (uint32_t)*depth;
		if ((*depth)++ < DEPTH_MAX)
			keep(keyframe, key, seq, record);
		return;
	}
	if (!*depth)
		return;
	key[2] = (uint32_t)-- * depth;
	if (*depth < DEPTH_MAX) {
		struct wti_kept_frame *slot = slot_of(keyframe, (const char *)key, sizeof(key));

		if (slot)
			slot->valid = 0;
	}
}

static void look_at(struct wti_keyframe *keyframe, uint32_t track, uint64_t seq,
		    const struct wti_record *record)
{
	size_t bytes = record->units * 8u;

	switch (record->kind) {
	case WT_KIND_CONTEXT:
		if (bytes >= sizeof(struct wti_record_context)) {
			const struct wti_record_context *r = (const void *)record;
			uint32_t key[4] = {track, record->kind, r->key, 0};

			keep(keyframe, key, seq, record);
		}
		break;
	case WT_KIND_STATE:
		if (bytes >= sizeof(struct wti_record_state)) {
			const struct wti_record_state *r = (const void *)record;
			uint32_t key[4] = {track, record->kind, r->owner, r->attribute};

			keep(keyframe, key, seq, record);
		}
		break;
	case WT_KIND_RANK: {
		uint32_t key[4] = {track, record->kind, 0, 0};

		keep(keyframe, key, seq, record);
		break;
	}
	case WT_KIND_SPAN_BEGIN:
	case WT_KIND_SPAN_END:
		keep_span(keyframe, track, seq, record);
		break;
	default:
		break;
	}
}

void wti_keyframe_records(struct wti_keyframe *keyframe, const struct wti_run_of_records *run)
{
	uint64_t *last = wti_map_number(&keyframe->last_ticks, run->track);
	const uint8_t *at = run->data;

	for (uint32_t i = 0; i < run->count; i++) {
		const struct wti_record *record = (const void *)at;

		look_at(keyframe, run->track, run->first_seq + i, record);
		at += record->units * 8u;
	}
	if (last)
		*last = run->last_ticks;
}

static void replay_definitions(struct wti_keyframe *keyframe, const struct wti_keyframe_out *out)
{
	const struct wti_buf *all = &keyframe->definitions;

	for (size_t at = 0; at + sizeof(struct definition_entry) <= all->bytes;) {
		const struct definition_entry *entry = (const void *)(all->data + at);
		struct wti_definition_view view = {entry->type, entry->payload_bytes, entry->id,
						   all->data + at + sizeof(*entry)};

		at += sizeof(*entry) + entry->payload_bytes;
		at += -at & 7;
		if (at > all->bytes) /* the ceiling cut it */
			break;
		out->define(out->self, &view);
	}
}

static int by_seq(const void *a, const void *b)
{
	const struct wti_kept_frame *const *x = a, *const *y = b;

	return ((*x)->seq > (*y)->seq) - ((*x)->seq < (*y)->seq);
}

static void replay_record(struct wti_keyframe *keyframe, struct wti_kept_frame *kept,
			  const struct wti_keyframe_out *out)
{
	const uint64_t *last = wti_map_find_number(&keyframe->last_ticks, kept->track);
	struct wti_record *record = (struct wti_record *)(void *)kept->record;

	if (last) /* valid, as it is, at the moment where the segment begins */
		record->ticks = *last;
	out->record(out->self, kept->track, kept->seq, record);
}

void wti_keyframe_replay(struct wti_keyframe *keyframe, const struct wti_keyframe_out *out)
{
	struct wti_kept_frame **valid = calloc(keyframe->kept_count + 1, sizeof(*valid));
	size_t count = 0;

	replay_definitions(keyframe, out);
	if (!valid)
		return;
	for (size_t i = 0; i < keyframe->kept_count; i++)
		if (keyframe->kept[i].valid)
			valid[count++] = &keyframe->kept[i];
	qsort(valid, count, sizeof(*valid), by_seq); /* rows of a track stand in their order */
	for (size_t i = 0; i < count; i++)
		replay_record(keyframe, valid[i], out);
	free(valid);
}
