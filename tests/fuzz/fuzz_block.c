/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The payload of an events block. The input is a u8 that picks the kind, a u16 that gives the rows,
 * and the payload; around it comes a sound stream that describes all kinds. Rows are few, so that
 * there is time for many inputs.
 */
#include <string.h>
#include <unistd.h>

#include <wheeltap/trace.h>

#include "exercise.h"
#include "fuzz.h"

#define STREAM_BYTES_MAX (1u << 20)
#define ROWS_MAX 512u

static struct {
	uint8_t bytes[STREAM_BYTES_MAX];
	size_t prefix_bytes;
} stream;

static void keep_schema_blocks(void)
{
	size_t to = 128;

	for (size_t from = 128, size; from < stream.prefix_bytes; from += size) {
		uint32_t payload;

		memcpy(&payload, stream.bytes + from + 12, sizeof(payload));
		size = 64 + (size_t)payload;
		if (stream.bytes[from + 4] != 1)
			continue;
		memmove(stream.bytes + to, stream.bytes + from, size);
		to += size;
	}
	stream.prefix_bytes = to;
}

/* From a stream with one event of each kind, so that all kinds are described. */
static void make_prefix(void)
{
	static const uint64_t values[WT_FIELDS_MAX];
	static const struct wt_text texts[WT_FIELDS_MAX];
	struct wt_writer_options options;
	struct wt_writer *writer;
	char path[] = "/tmp/wheeltap-fuzz-XXXXXX";
	FILE *file;

	close(mkstemp(path));
	unlink(path);
	wt_writer_options_init(&options);
	PROMISE(!wt_writer_create(path, &options, &writer, NULL));
	for (size_t i = 0; i < wt_kind_builtin_count(); i++)
		wt_writer_append(writer, wt_kind_builtin_at(i)->number, 1, i, i, values,
				 wt_kind_builtin_at(i)->field_count, texts);
	PROMISE(!wt_writer_flush(writer, NULL));
	wt_writer_free(writer);
	file = fopen(path, "rb");
	PROMISE(file);
	stream.prefix_bytes = fread(stream.bytes, 1, sizeof(stream.bytes), file);
	fclose(file);
	unlink(path);
	keep_schema_blocks();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t *block;
	uint32_t payload, rows;
	char path[64];
	int fd;

	if (!stream.prefix_bytes)
		make_prefix();
	block = stream.bytes + stream.prefix_bytes;
	if (bytes < 3 || bytes > STREAM_BYTES_MAX - stream.prefix_bytes - 64)
		return 0;
	payload = (uint32_t)bytes - 3;
	rows = (data[1] | (uint32_t)data[2] << 8) % ROWS_MAX + 1;
	memset(block, 0, 64);
	memcpy(block, "WTBK\3", 5);
	memcpy(block + 6, &wt_kind_builtin_at(data[0] % wt_kind_builtin_count())->number, 2);
	memcpy(block + 8, &rows, 4);
	memcpy(block + 12, &payload, 4);
	memcpy(block + 64, data + 3, payload);
	wtt_repair(stream.bytes, stream.prefix_bytes + 64 + payload);
	fd = wtt_memory_file(stream.bytes, stream.prefix_bytes + 64 + payload, path);
	wtt_exercise(path);
	close(fd);
	return 0;
}
