/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows the public reader, and where checksums stand in a file (docs/format.md); hides both from
 * campaigns and fuzz targets. A broken promise ends the process, so that every harness sees it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <wheeltap/trace.h>
#include <xxhash.h>

#include "exercise.h"

#define CURSOR_EVENTS_MAX 100000u /* a few bytes may stand for millions of rows */
#define PROBED_IDS 64u

/* Of the stream being looked at. */
static struct wtt_seen seen;
static bool ranges_true; /* every block's times lie in the range that its header says */

static void promise(bool kept, const char *what)
{
	if (kept)
		return;
	fprintf(stderr, "broken promise: %s\n", what);
	abort();
}

static void check_error(int result, const struct wt_err *err)
{
	promise(err->code == result, "the error has the code that was returned");
	promise(memchr(err->message, 0, sizeof(err->message)), "a message ends");
	promise(err->message[0], "an error has a message");
	promise(result != WT_E_NOMEM, "no file makes the reader ask for more than there is");
	seen.complained = true;
}

/* Reads all of it, so that a sanitizer sees what may not be read. */
static void touch(const void *data, size_t bytes)
{
	seen.content = XXH3_64bits_withSeed(data, bytes, seen.content);
}

static void touch_text(const char *text)
{
	touch(text, strlen(text));
}

static void touch_kinds(const struct wt_reader *reader)
{
	for (size_t k = 0; k < wt_reader_kind_count(reader); k++) {
		const struct wt_kind *kind = wt_reader_kind_at(reader, k);

		promise(kind->field_count <= WT_FIELDS_MAX, "a kind has at most 32 fields");
		touch_text(kind->name);
		touch_text(kind->doc);
		for (unsigned f = 0; f < kind->field_count; f++) {
			const struct wt_field *field = &kind->fields[f];

			touch_text(field->name);
			touch_text(field->unit);
			touch_text(field->doc);
			for (unsigned e = 0; e < field->enum_count; e++)
				touch_text(field->enum_names[e]);
		}
	}
}

static void touch_definitions(const struct wt_reader *reader)
{
	uint32_t string_count = wt_reader_string_count(reader);

	for (uint32_t id = 0; id <= PROBED_IDS || (id <= string_count && id < 1000); id++) {
		struct wt_text text = wt_reader_string(reader, id);
		const uint64_t *frames;
		size_t count = wt_reader_stack(reader, id, &frames);
		const struct wt_site *site = wt_reader_site(reader, id);

		promise(text.data, "a string is never NULL");
		touch(text.data, text.bytes);
		if (count)
			touch(frames, count * sizeof(*frames));
		if (site)
			touch(site, sizeof(*site));
	}
	for (size_t i = 0; i < wt_reader_track_count(reader); i++) {
		const struct wt_track *track = wt_reader_track_at(reader, i);

		touch(track->name, track->name_bytes);
		promise(wt_reader_track(reader, track->id), "a track is found by its id");
	}
	for (size_t i = 0; i < wt_reader_module_count(reader); i++) {
		const struct wt_module *module = wt_reader_module_at(reader, i);

		touch(module->build_id, module->build_id_bytes);
		touch(module->path, module->path_bytes);
	}
	wt_reader_string(reader, UINT32_MAX);
	wt_reader_site(reader, UINT32_MAX);
}

static bool range_is_true(const struct wt_batch *batch, const struct wt_block *block)
{
	for (uint32_t row = 0; row < batch->rows; row++)
		if (batch->time[row] < block->time_min || batch->time[row] > block->time_max)
			return false;
	return true;
}

static void touch_batch(const struct wt_batch *batch)
{
	uint32_t rows = batch->rows;

	promise(rows >= 1 && rows <= 65536, "a block has 1 to 65,536 rows");
	touch(batch->time, rows * sizeof(uint64_t));
	touch(batch->track, rows * sizeof(uint64_t));
	touch(batch->seq, rows * sizeof(uint64_t));
	for (unsigned i = 0; i < batch->kind->field_count; i++) {
		const uint32_t *at = batch->text_at[i];

		if (!wt_type_is_inline(batch->kind->fields[i].type)) {
			touch(batch->values[i], rows * sizeof(uint64_t));
			continue;
		}
		for (uint32_t row = 0; row < rows; row++)
			promise(at[row] <= at[row + 1], "texts stand one after the other");
		touch(batch->text[i] + at[0], at[rows] - at[0]);
	}
}

static void touch_blocks(const struct wt_reader *reader)
{
	struct wt_batch batch = {0};

	for (size_t i = 0; i < wt_reader_block_count(reader); i++) {
		const struct wt_block *block = wt_reader_block(reader, i);
		struct wt_err err = {0};
		int result = wt_reader_decode(reader, i, WT_ALL_FIELDS, &batch, &err);

		if (result < 0) {
			check_error(result, &err);
			continue;
		}
		promise(batch.rows == block->rows, "a block has the rows that its header says");
		touch_batch(&batch);
		ranges_true &= range_is_true(&batch, block);
		seen.events += batch.rows;
	}
	wt_batch_release(&batch);
}

static void walk(const struct wt_trace *trace, const struct wt_query *query)
{
	struct wt_cursor *cursor;
	struct wt_event event;
	struct wt_err err = {0};
	int64_t before_ns = INT64_MIN;
	int result = wt_cursor_open(trace, query, &cursor, &err);

	if (result < 0) {
		check_error(result, &err);
		return;
	}
	for (unsigned i = 0; i < CURSOR_EVENTS_MAX; i++) {
		result = wt_cursor_next(cursor, &event, &err);
		if (result <= 0)
			break;
		promise(!ranges_true || event.time_ns >= before_ns,
			"events come in the order of their times");
		before_ns = event.time_ns;
		for (int field = 0; field < event.kind->field_count; field++) {
			struct wt_text text = wt_event_text(&event, field);

			uint64_t bits = wt_event_u64(&event, field);

			touch(&bits, sizeof(bits));
			touch(text.data, text.bytes);
		}
	}
	if (result < 0)
		check_error(result, &err);
	wt_cursor_free(cursor);
}

static void touch_trace(const char *path)
{
	struct wt_trace *trace;
	struct wt_query query;
	struct wt_err err = {0};
	int result = wt_trace_open(path, &trace, &err);

	if (result < 0) {
		check_error(result, &err);
		return;
	}
	wt_query_init(&query);
	walk(trace, &query);
	query.name = "*a*";
	query.track = "1:*";
	query.context_key = "step";
	query.context_value = "3";
	query.from_ns = 1;
	query.to_ns = 1000;
	walk(trace, &query);
	wt_trace_free(trace);
}

struct wtt_seen wtt_exercise(const char *path)
{
	struct wt_reader *reader;
	struct wt_err err = {0};
	int result = wt_reader_open(path, &reader, &err);

	seen = (struct wtt_seen){0};
	ranges_true = true;
	if (result < 0) {
		check_error(result, &err);
		return seen;
	}
	if (wt_reader_damage(reader)->code)
		check_error(wt_reader_damage(reader)->code, wt_reader_damage(reader));
	touch_kinds(reader);
	touch_definitions(reader);
	touch_blocks(reader);
	promise(wt_reader_refresh(reader, &err) <= 0, "an unchanged file has no new blocks");
	wt_reader_free(reader);
	touch_trace(path);
	return seen;
}

int wtt_memory_file(const void *data, size_t bytes, char path[64])
{
	int fd = memfd_create("trace", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0) {
		perror("memfd_create");
		exit(1);
	}
	wtt_memory_file_set(fd, data, bytes);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

void wtt_memory_file_set(int fd, const void *data, size_t bytes)
{
	if (ftruncate(fd, (off_t)bytes) || pwrite(fd, data, bytes, 0) != (ssize_t)bytes) {
		perror("memory file");
		exit(1);
	}
}

static void put_hash(uint8_t *at, const uint8_t *data, size_t bytes)
{
	uint64_t hash = XXH3_64bits(data, bytes);

	memcpy(at, &hash, sizeof(hash));
}

void wtt_repair(uint8_t *data, size_t bytes)
{
	size_t at = 128;

	if (bytes < 128)
		return;
	put_hash(data + 120, data, 120);
	while (bytes - at >= 64 && !memcmp(data + at, "WTBK", 4)) {
		uint32_t payload;

		memcpy(&payload, data + at + 12, sizeof(payload));
		if (payload <= bytes - at - 64)
			put_hash(data + at + 48, data + at + 64, payload);
		put_hash(data + at + 56, data + at, 56);
		if (payload > bytes - at - 64)
			return;
		at += 64 + (size_t)payload;
	}
	if (bytes - at == 24)
		put_hash(data + at + 8, data + at, 8);
}
