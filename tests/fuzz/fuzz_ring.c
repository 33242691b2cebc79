/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared memory of a program that went mad, as the recorder drains it. The input is a u16 size and
 * that many bytes of definitions, a u32 position up to which the ring claims to be full, a u8 of
 * state, and the ring's data. Whatever it is, a sink only sees what was promised to it.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/drain.h"
#include "collect/keyframe.h"
#include "exercise.h"
#include "fuzz.h"

#define RING_BYTES WTI_RING_MIN_BYTES
#define CHUNK_BYTES 4096u

static struct {
	uint64_t next_seq;
	struct wti_keyframe keyframe;
} seen;

static void *begin(void *self, const struct wti_recorded_source *source)
{
	(void)source;
	return self;
}

static void define(void *self, void *stream, const struct wti_definition_view *definition)
{
	(void)self;
	(void)stream;
	PROMISE(definition->id);
	wti_keyframe_define(&seen.keyframe, definition);
}

static void records(void *self, void *stream, const struct wti_run_of_records *run)
{
	const uint8_t *at = run->data;

	(void)self;
	(void)stream;
	PROMISE(run->first_seq == seen.next_seq && run->count);
	for (uint32_t i = 0; i < run->count; i++) {
		const struct wti_record *record = (const void *)at;

		PROMISE(at + sizeof(*record) <= run->data + run->bytes && record->units >= 2);
		PROMISE(record->seq == (uint32_t)seen.next_seq++);
		at += record->units * 8u;
	}
	PROMISE(at == run->data + run->bytes);
	wti_keyframe_records(&seen.keyframe, run);
}

static void lost(void *self, void *stream, const struct wti_loss *loss)
{
	(void)self;
	(void)stream;
	PROMISE(loss->count);
	if (loss->reason == WT_LOST_RING_FULL || loss->reason == WT_LOST_GAP)
		seen.next_seq += loss->count;
}

static void replay_define(void *self, const struct wti_definition_view *definition)
{
	(void)self;
	PROMISE(definition->id);
}

static void replay_record(void *self, uint32_t track, uint64_t seq, const struct wti_record *record)
{
	(void)self;
	(void)seq;
	PROMISE(track == 1 && record->units >= 2);
}

static void end(void *self, void *stream)
{
	(void)self;
	(void)stream;
}

static size_t take(const uint8_t **data, size_t *bytes, void *to, size_t most)
{
	size_t size = *bytes < most ? *bytes : most;

	memcpy(to, *data, size);
	*data += size;
	*bytes -= size;
	return size;
}

static void fill(struct wti_process *process, const uint8_t *data, size_t bytes)
{
	static uint8_t chunk[CHUNK_BYTES], ring[WTI_RING_HEADER_BYTES + RING_BYTES];
	struct wti_message message = {.type = WTI_MSG_RING, .track = 1};
	uint16_t definition_bytes = 0;
	uint32_t head = 0;
	uint8_t state = 0;
	char path[64];
	int fds[2];

	memset(chunk, 0, sizeof(chunk));
	memset(ring, 0, sizeof(ring));
	*(struct wti_chunk *)chunk = (struct wti_chunk){.magic = WTI_CHUNK_MAGIC};
	take(&data, &bytes, &definition_bytes, sizeof(definition_bytes));
	take(&data, &bytes, chunk + sizeof(struct wti_chunk),
	     definition_bytes % (CHUNK_BYTES - sizeof(struct wti_chunk)));
	take(&data, &bytes, &head, sizeof(head));
	take(&data, &bytes, &state, sizeof(state));
	*(struct wti_ring *)ring = (struct wti_ring){
		.magic = WTI_RING_MAGIC, .data_bytes = RING_BYTES, .head = head, .state = state};
	take(&data, &bytes, ring + WTI_RING_HEADER_BYTES, RING_BYTES);
	fds[0] = wtt_memory_file(chunk, sizeof(chunk), path);
	fds[1] = wtt_memory_file(ring, sizeof(ring), path);
	PROMISE(!wti_process_add_chunk(process, 0, fds[0]));
	PROMISE(!wti_process_add_ring(process, &message, fds[1]));
	close(fds[0]);
	close(fds[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wti_sink sink = {NULL, begin, define, records, lost, end, NULL};
	struct wti_process process = {.pidfd = -1, .definition_id_max = 1u << 20};
	struct wti_keyframe_out replay = {NULL, replay_define, replay_record};
	struct wti_drain drain;

	seen.next_seq = 0;
	wti_keyframe_init(&seen.keyframe);
	PROMISE(!wti_drain_init(&drain, WT_CLOCK_TSC));
	wti_drain_add_sink(&drain, &sink);
	fill(&process, data, bytes);
	for (int i = 0; i < 2; i++) {
		wti_drain_look(&process);
		wti_drain_take(&drain, &process);
	}
	wti_drain_reap(&drain, &process, true);
	wti_keyframe_replay(&seen.keyframe, &replay);
	wti_process_release(&process);
	wti_drain_release(&drain);
	wti_keyframe_release(&seen.keyframe);
	return 0;
}
