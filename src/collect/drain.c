/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how records stand in a ring and how their sequence proves what is missing. A batch is
 * copied out of shared memory before anything in it is looked at, so that what was checked is what
 * is used, and the producer gets its room back before the sink has done its work.
 */
#include <stdlib.h>
#include <string.h>

#include "records.h"

#include "drain.h"

#define BATCH_BYTES (128u << 10)
#define RECORD_BYTES_MAX (64u << 10) /* far above what any kind needs */
/* An event can be this far behind in a sequence of which 32 bits are known. */
#define SEQ_BACKWARDS (1u << 31)

int wti_drain_init(struct wti_drain *drain, uint32_t clock_domain)
{
	*drain = (struct wti_drain){.clock_domain = clock_domain};
	drain->batch = aligned_alloc(64, BATCH_BYTES);
	return drain->batch ? 0 : WT_E_NOMEM;
}

void wti_drain_release(struct wti_drain *drain)
{
	free(drain->batch);
	drain->batch = NULL;
}

/* ---- To all sinks --------------------------------------------------------------------------- */

void wti_drain_add_sink(struct wti_drain *drain, struct wti_sink *sink)
{
	if (drain->sink_count < WTI_SINKS_MAX)
		drain->sinks[drain->sink_count++] = sink;
}

static void to_records(struct wti_drain *drain, struct wti_process *process,
		       const struct wti_run_of_records *run)
{
	for (size_t i = 0; i < drain->sink_count; i++)
		drain->sinks[i]->records(drain->sinks[i]->self, process->streams[i], run);
}

static void to_define(struct wti_drain *drain, struct wti_process *process,
		      const struct wti_definition_view *view)
{
	for (size_t i = 0; i < drain->sink_count; i++)
		drain->sinks[i]->define(drain->sinks[i]->self, process->streams[i], view);
}

static void to_lost(struct wti_drain *drain, struct wti_process *process,
		    const struct wti_loss *loss)
{
	for (size_t i = 0; i < drain->sink_count; i++)
		drain->sinks[i]->lost(drain->sinks[i]->self, process->streams[i], loss);
}

static void to_end(struct wti_drain *drain, struct wti_process *process)
{
	for (size_t i = 0; i < drain->sink_count; i++)
		drain->sinks[i]->end(drain->sinks[i]->self, process->streams[i]);
}

/* ---- Rings ---------------------------------------------------------------------------------- */

static void set_tail(struct wti_ring_view *view, uint64_t tail)
{
	view->tail = tail;
	atomic_store_explicit(&view->ring->tail, tail, memory_order_release);
}

bool wti_drain_look(struct wti_process *process)
{
	bool any = false;

	for (size_t i = 0; i < process->ring_count; i++) {
		struct wti_ring_view *view = &process->rings[i];
		struct wti_ring *ring = view->ring;
		uint32_t state = atomic_load_explicit(&ring->state, memory_order_acquire);
		uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);

		view->closed = state == WTI_RING_CLOSED;
		if (view->damaged) {
			set_tail(view, head); /* nobody should wait for us */
			view->head = head;
			continue;
		}
		if (head < view->tail || head - view->tail > view->data_bytes || head % 8)
			view->damaged = true;
		else
			view->head = head;
		any |= view->head != view->tail || view->closed || view->damaged;
	}
	return any;
}

static void copy_out(const struct wti_ring_view *view, uint8_t *to, size_t bytes)
{
	const uint8_t *data = (const uint8_t *)view->ring + WTI_RING_HEADER_BYTES;
	size_t at = view->tail & (view->data_bytes - 1);
	size_t first = view->data_bytes - at < bytes ? view->data_bytes - at : bytes;

	memcpy(to, data + at, first);
	memcpy(to + first, data, bytes - first);
}

/* How many bytes of the batch are whole records; marks the ring if one is impossible. */
static size_t whole_records(struct wti_ring_view *view, const uint8_t *batch, size_t have,
			    bool more)
{
	size_t at = 0;

	while (at < have) {
		const struct wti_record *record = (const void *)(batch + at);
		size_t bytes;

		if (have - at < sizeof(*record)) {
			view->damaged |= !more;
			break;
		}
		bytes = record->units * 8u;
		if (bytes < sizeof(*record) || bytes > RECORD_BYTES_MAX) {
			view->damaged = true;
			break;
		}
		if (bytes > have - at) {
			view->damaged |= !more;
			break;
		}
		at += bytes;
	}
	return at;
}

static void emit_gap(struct wti_drain *drain, struct wti_process *process,
		     struct wti_ring_view *view, uint64_t count, uint64_t to_ticks)
{
	uint64_t full = atomic_load_explicit(&view->ring->lost_full, memory_order_relaxed);
	struct wti_loss loss = {.track = view->track,
				.reason = WT_LOST_RING_FULL,
				.count = count,
				.first = view->next_seq,
				.last = view->next_seq + count - 1,
				.from = view->last_ticks,
				.to = to_ticks};

	view->gaps += count;
	if (view->gaps > full) /* the producer does not know of it */
		loss.reason = WT_LOST_GAP;
	view->next_seq += count;
	to_lost(drain, process, &loss);
}

static void hand_over(struct wti_drain *drain, struct wti_process *process,
		      struct wti_run_of_records *run)
{
	if (run->count)
		to_records(drain, process, run);
	run->data += run->bytes;
	run->bytes = 0;
	run->count = 0;
}

/* Only the recorder knows how often a process had called exec. */
static void complete_first(const struct wti_process *process, struct wti_record *record)
{
	struct wti_record_process *first = (void *)record;

	if (record->kind == WT_KIND_PROCESS && record->units * 8u >= sizeof(*first))
		first->exec = process->source.identity.exec;
}

/* What a device's profiler dropped is counted with all other losses: its agent knows how much. */
static void emit_reported(struct wti_drain *drain, struct wti_process *process,
			  const struct wti_ring_view *view, const struct wti_record_lost *lost)
{
	const struct wti_loss loss = {.track = view->track,
				      .reason = WT_LOST_DEVICE,
				      .of = lost->of,
				      .count = lost->count,
				      .first = view->next_seq,
				      .last = view->next_seq,
				      .from = lost->from ? lost->from : lost->record.ticks,
				      .to = lost->to ? lost->to : lost->record.ticks};

	to_lost(drain, process, &loss);
}

static bool reports_loss(const struct wti_record *record)
{
	return record->kind == WT_KIND_LOST && record->units * 8u >= sizeof(struct wti_record_lost);
}

/* The first word of an agent about what it cannot record is what the user is shown. */
static void keep_note(struct wti_drain *drain, const struct wti_record *record)
{
	const struct wti_record_note *note = (const void *)record;
	size_t room = record->units * 8u;

	if (record->kind != WT_KIND_NOTE || drain->device_note[0] || room < sizeof(*note) ||
	    note->code != WT_NOTE_DEVICE)
		return;
	room -= sizeof(*note);
	if (room > note->text_bytes)
		room = note->text_bytes;
	if (room > sizeof(drain->device_note) - 1)
		room = sizeof(drain->device_note) - 1;
	memcpy(drain->device_note, note + 1, room);
	drain->device_note[room] = 0;
}

/* Cuts whole records into runs without a hole in the sequence. */
static void take_batch(struct wti_drain *drain, struct wti_process *process,
		       struct wti_ring_view *view, uint8_t *batch, size_t whole)
{
	struct wti_run_of_records run = {
		.track = view->track, .first_seq = view->next_seq, .data = batch};

	for (size_t at = 0; at < whole;) {
		struct wti_record *record = (void *)(batch + at);
		uint32_t ahead = record->seq - (uint32_t)view->next_seq;

		if (ahead) {
			hand_over(drain, process, &run);
			if (ahead >= SEQ_BACKWARDS) {
				view->damaged = true;
				return;
			}
			emit_gap(drain, process, view, ahead, record->ticks);
			run.first_seq = view->next_seq;
		}
		if (!view->next_seq)
			complete_first(process, record);
		/* The counters of two cores may differ by a little; order is the sequence. */
		if (record->ticks < view->last_ticks)
			record->ticks = view->last_ticks;
		view->last_ticks = record->ticks;
		at += record->units * 8u;
		if (reports_loss(record)) {
			hand_over(drain, process, &run);
			emit_reported(drain, process, view, (const void *)record);
			run.data = batch + at;
			run.first_seq = ++view->next_seq;
			continue;
		}
		keep_note(drain, record);
		run.last_ticks = record->ticks;
		run.bytes += record->units * 8u;
		run.count++;
		view->next_seq++;
	}
	hand_over(drain, process, &run);
}

static void take_ring(struct wti_drain *drain, struct wti_process *process,
		      struct wti_ring_view *view)
{
	while (!view->damaged && view->tail != view->head) {
		uint64_t left = view->head - view->tail;
		size_t have = left < BATCH_BYTES ? (size_t)left : BATCH_BYTES;
		size_t whole;

		copy_out(view, drain->batch, have);
		whole = whole_records(view, drain->batch, have, have < left);
		set_tail(view, view->tail + whole);
		take_batch(drain, process, view, drain->batch, whole);
	}
}

/* ---- Definitions ---------------------------------------------------------------------------- */

static bool payload_is_sane(const struct wti_definition_view *view)
{
	const struct wti_module_definition *module = (const void *)view->payload;

	switch (view->type) {
	case WTI_DEF_STRING:
		return true;
	case WTI_DEF_TRACK:
		return view->payload_bytes >= sizeof(struct wti_track_definition);
	case WTI_DEF_STACK:
		return view->payload_bytes % 8 == 0 && view->payload_bytes / 8 <= WTI_STACK_MAX;
	case WTI_DEF_MODULE:
		return view->payload_bytes >= sizeof(*module) &&
		       (uint64_t)module->build_id_bytes + module->path_bytes ==
			       view->payload_bytes - sizeof(*module);
	case WTI_DEF_SITE:
		return view->payload_bytes >= sizeof(struct wti_site_definition);
	default:
		return true; /* a newer agent's; the sink passes over it */
	}
}

/* One definition, if there is another. False: no, or the chunk is damaged. */
static bool take_definition(struct wti_drain *drain, struct wti_process *process,
			    struct wti_chunk_view *chunk)
{
	_Alignas(8) uint8_t copy[sizeof(struct wti_definition) + UINT16_MAX + 8];
	const struct wti_definition *shared = (const void *)(chunk->map + chunk->at);
	struct wti_definition *definition = (void *)copy;
	struct wti_definition_view view;
	uint32_t size;

	if (chunk->bytes - chunk->at < sizeof(*shared))
		return false;
	size = atomic_load_explicit(&shared->size, memory_order_acquire);
	if (!size)
		return false;
	chunk->damaged = size % 8 || size < sizeof(*shared) || size > chunk->bytes - chunk->at ||
			 size > sizeof(copy);
	if (chunk->damaged)
		return false;
	memcpy(copy, shared, size);
	view = (struct wti_definition_view){definition->type, definition->payload_bytes,
					    definition->id, copy + sizeof(*definition)};
	chunk->damaged = view.payload_bytes > size - sizeof(*definition) || !view.id ||
			 view.id > process->definition_id_max || !payload_is_sane(&view);
	if (chunk->damaged)
		return false;
	chunk->at += size;
	to_define(drain, process, &view);
	return true;
}

static void take_definitions(struct wti_drain *drain, struct wti_process *process)
{
	for (size_t i = 0; i < process->chunk_count; i++) {
		struct wti_chunk_view *chunk = &process->chunks[i];

		while (chunk->map && !chunk->damaged && take_definition(drain, process, chunk))
			;
	}
}

/* ---- A process ------------------------------------------------------------------------------ */

static void begin(struct wti_drain *drain, struct wti_process *process)
{
	bool monotonic = process->ring_count && (process->rings[0].flags & 1);

	if (process->begun)
		return;
	process->begun = true;
	process->source.identity.clock = drain->clock_domain;
	if (process->ring_count)
		process->source.identity.clock = monotonic ? WT_CLOCK_MONOTONIC : WT_CLOCK_TSC;
	for (size_t i = 0; i < drain->sink_count; i++)
		process->streams[i] =
			drain->sinks[i]->begin(drain->sinks[i]->self, &process->source);
}

static enum wti_fill fill_of(const struct wti_ring_view *view)
{
	uint64_t bytes = view->head - view->tail;

	if (bytes > view->data_bytes / 4)
		return WTI_FILL_HIGH;
	return bytes > view->data_bytes / 8 ? WTI_FILL_MIDDLE : WTI_FILL_LOW;
}

enum wti_fill wti_drain_take(struct wti_drain *drain, struct wti_process *process)
{
	enum wti_fill fullest = WTI_FILL_LOW;

	begin(drain, process);
	take_definitions(drain, process);
	for (size_t i = 0; i < process->ring_count; i++) {
		struct wti_ring_view *view = &process->rings[i];
		enum wti_fill fill = fill_of(view);

		fullest = fill > fullest ? fill : fullest;
		take_ring(drain, process, view);
	}
	return fullest;
}

/* Events that found no room after the last one that did. */
static uint64_t missing_at_end(const struct wti_ring_view *view)
{
	struct wti_ring *ring = view->ring;
	uint64_t next = atomic_load_explicit(&ring->next_seq, memory_order_relaxed);
	uint64_t full = atomic_load_explicit(&ring->lost_full, memory_order_relaxed);
	bool in_flight = wti_ring_busy(ring);

	/* A record that was being written when the program died has a number but was never out. */
	if (in_flight || view->damaged)
		return full > view->gaps && !view->damaged ? full - view->gaps : 0;
	return next > view->next_seq && next - view->next_seq < SEQ_BACKWARDS
		       ? next - view->next_seq
		       : 0;
}

static void emit_reentrant(struct wti_drain *drain, struct wti_process *process,
			   struct wti_ring_view *view)
{
	uint64_t count = atomic_load_explicit(&view->ring->lost_reentrant, memory_order_relaxed);
	struct wti_loss loss = {.reason = WT_LOST_REENTRANT,
				.count = count,
				.from = view->last_ticks,
				.to = view->last_ticks};

	if (count)
		to_lost(drain, process, &loss);
}

static void emit_damaged(struct wti_drain *drain, struct wti_process *process,
			 struct wti_ring_view *view)
{
	uint64_t next = atomic_load_explicit(&view->ring->next_seq, memory_order_relaxed);
	struct wti_loss loss = {.track = view->track,
				.reason = WT_LOST_DAMAGED,
				.count = 1, /* at least: nothing in there can be believed */
				.first = view->next_seq,
				.last = view->next_seq,
				.from = view->last_ticks,
				.to = view->last_ticks};

	if (next > view->next_seq && next - view->next_seq < SEQ_BACKWARDS)
		loss.count = next - view->next_seq;
	loss.last = loss.first + loss.count - 1;
	to_lost(drain, process, &loss);
}

/* Losses that belong to the process and to none of its threads. */
static void emit_of_process(struct wti_drain *drain, struct wti_process *process)
{
	struct wti_loss overflow = {.reason = WT_LOST_DEFINITIONS_FULL};
	struct wti_loss no_ring = {.reason = WT_LOST_NO_RING};
	struct wti_chunk *chunk;

	if (!process->chunk_count || !process->chunks[0].map)
		return;
	chunk = (struct wti_chunk *)(uintptr_t)process->chunks[0].map;
	overflow.count = atomic_load_explicit(&chunk->overflow_count, memory_order_relaxed);
	if (overflow.count)
		to_lost(drain, process, &overflow);
	no_ring.count = atomic_load_explicit(&chunk->lost_no_ring, memory_order_relaxed);
	if (no_ring.count)
		to_lost(drain, process, &no_ring);
}

static void finish_ring(struct wti_drain *drain, struct wti_process *process,
			struct wti_ring_view *view)
{
	uint64_t missing = missing_at_end(view);

	if (missing)
		emit_gap(drain, process, view, missing, view->last_ticks);
	if (view->damaged)
		emit_damaged(drain, process, view);
	emit_reentrant(drain, process, view);
}

uint64_t wti_drain_reap(struct wti_drain *drain, struct wti_process *process, bool all)
{
	uint64_t bytes = 0;

	if (all)
		begin(drain, process);
	for (size_t i = process->ring_count; i-- > 0;) {
		struct wti_ring_view *view = &process->rings[i];

		if (!all && (!view->closed || (view->tail != view->head && !view->damaged)))
			continue;
		finish_ring(drain, process, view);
		bytes += view->map_bytes;
		wti_process_remove_ring(process, i);
	}
	if (!all)
		return bytes;
	emit_of_process(drain, process);
	to_end(drain, process);
	process->ended = true;
	return bytes;
}
