/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as a program that went mad might leave them in its ring: whatever they hold, the writer
 * takes them or refuses them, and what it writes is sound. The input is one record after another,
 * each a u16 kind, a u8 size in units of 8 bytes, and the bytes behind the record's header.
 */
#include <string.h>
#include <unistd.h>

#include <wheeltap/trace.h>

#include "exercise.h"
#include "fuzz.h"
#include "trace/ring.h"

static void write_records(struct wt_writer *writer, const uint8_t *data, size_t bytes)
{
	_Alignas(8) uint8_t room[sizeof(struct wti_record) + 255 * 8];
	struct wti_record *record = (struct wti_record *)room;

	for (uint64_t seq = 0; bytes >= 3; seq++) {
		size_t body = data[2] * 8u < bytes - 3 ? data[2] * 8u : bytes - 3;

		memset(room, 0, sizeof(room));
		record->kind = (uint16_t)(data[0] | data[1] << 8);
		record->units = (uint16_t)(2 + data[2]);
		record->seq = (uint32_t)seq;
		record->ticks = seq * 10;
		memcpy(record + 1, data + 3, body);
		wt_writer_record(writer, 1 + (uint32_t)(seq % 3), seq, record);
		data += 3 + body;
		bytes -= 3 + body;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wt_writer_options options;
	struct wt_writer *writer;
	struct wtt_seen seen;
	char path[64];
	uint64_t events;

	snprintf(path, sizeof(path), "/dev/shm/wheeltap-fuzz-%d", (int)getpid());
	unlink(path);
	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_MONOTONIC;
	PROMISE(!wt_writer_create(path, &options, &writer, NULL));
	write_records(writer, data, bytes);
	PROMISE(!wt_writer_finish(writer, NULL));
	events = wt_writer_events(writer);
	wt_writer_free(writer);
	seen = wtt_exercise(path);
	PROMISE(!seen.complained && seen.events == events);
	unlink(path);
	return 0;
}
