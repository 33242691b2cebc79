/* SPDX-License-Identifier: Apache-2.0 */
/* See stream.h. Knows the frame of the format: headers, index, footer. */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "trace/index.h"

#define FILE_BYTES_MAX ((size_t)256 << 20)
#define INDEX_CHANGES_MAX 4u

void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "mutate_stream: %s\n", what);
	exit(1);
}

/* ---- Loading --------------------------------------------------------------------------------- */

static void add_block(struct stream *stream, const struct wti_block_header *header,
		      const uint8_t *payload, size_t *events)
{
	struct block *block = &stream->blocks[stream->count++];

	*block = (struct block){.header = *header, .number = SIZE_MAX};
	wti_buf_init(&block->payload, FILE_BYTES_MAX);
	wti_buf_append(&block->payload, payload, header->payload_bytes);
	must(!wti_buf_status(&block->payload), "out of memory");
	if (header->type == WTI_BLOCK_EVENTS)
		block->number = (*events)++;
}

static void cut_into_blocks(struct stream *stream, const struct wti_buf *file)
{
	size_t at = WTI_FILE_HEADER_BYTES, events = 0;
	struct wti_block_header header;

	while (at + WTI_BLOCK_HEADER_BYTES <= file->bytes &&
	       stream->count < STREAM_BLOCKS_MAX / 4) {
		if (wti_block_header_read(file->data + at, at, &header, NULL))
			break; /* the footer */
		at += WTI_BLOCK_HEADER_BYTES;
		must(header.payload_bytes <= file->bytes - at, "the stream is cut");
		if (header.type == WTI_BLOCK_INDEX) {
			wti_buf_append(&stream->old_index, file->data + at, header.payload_bytes);
			stream->old_index_rows = header.rows;
			break;
		}
		add_block(stream, &header, file->data + at, &events);
		at += header.payload_bytes;
	}
	must(stream->count, "the stream has no blocks");
}

void stream_load(struct stream *stream, const char *path, uint64_t seed)
{
	struct wt_err err = {.offset = -1};
	struct wti_buf file;

	*stream = (struct stream){.chance = {seed}};
	wti_buf_init(&file, FILE_BYTES_MAX);
	wti_buf_init(&stream->old_index, FILE_BYTES_MAX);
	wti_buf_init(&stream->file, 2 * FILE_BYTES_MAX);
	wti_buf_init(&stream->said, 1u << 20);
	stream->blocks = calloc(STREAM_BLOCKS_MAX, sizeof(*stream->blocks));
	stream->zstd = ZSTD_createCCtx();
	stream->unzstd = ZSTD_createDCtx();
	must(stream->blocks && stream->zstd && stream->unzstd, "out of memory");
	must(!wt_reader_open(path, &stream->reader, &err), err.message);
	must(!wti_file_read(path, FILE_BYTES_MAX, &file, &err), err.message);
	memcpy(stream->header, file.data, sizeof(stream->header));
	cut_into_blocks(stream, &file);
	wti_buf_release(&file);
}

void stream_release(struct stream *stream)
{
	while (stream->count)
		stream_remove(stream, stream->count - 1);
	free(stream->blocks);
	wt_reader_free(stream->reader);
	ZSTD_freeCCtx(stream->zstd);
	ZSTD_freeDCtx(stream->unzstd);
	wti_buf_release(&stream->old_index);
	wti_buf_release(&stream->file);
	wti_buf_release(&stream->said);
}

void stream_insert(struct stream *stream, size_t at, const struct block *from)
{
	struct block copy = *from;

	if (stream->count == STREAM_BLOCKS_MAX)
		return;
	wti_buf_init(&copy.payload, FILE_BYTES_MAX);
	wti_buf_append(&copy.payload, from->payload.data, from->payload.bytes);
	must(!wti_buf_status(&copy.payload), "out of memory");
	memmove(stream->blocks + at + 1, stream->blocks + at,
		(stream->count - at) * sizeof(*stream->blocks));
	stream->blocks[at] = copy;
	stream->count++;
}

void stream_remove(struct stream *stream, size_t at)
{
	wti_buf_release(&stream->blocks[at].payload);
	stream->count--;
	memmove(stream->blocks + at, stream->blocks + at + 1,
		(stream->count - at) * sizeof(*stream->blocks));
}

/* ---- Saving ---------------------------------------------------------------------------------- */

static void put_block(struct stream *stream, struct wti_block_header header,
		      const struct wti_buf *payload)
{
	uint8_t bytes[WTI_BLOCK_HEADER_BYTES];

	header.payload_hash = wti_hash(payload->data, payload->bytes);
	wti_block_header_write(&header, bytes);
	wti_buf_append(&stream->file, bytes, sizeof(bytes));
	wti_buf_append(&stream->file, payload->data, payload->bytes);
}

/* The index, not compressed, so that changes in it mean something. */
static void make_index(struct stream *stream, const struct wti_index *index, struct wti_buf *out)
{
	struct chance *chance = &stream->chance;
	size_t changes;

	must(!wti_index_write(index, NULL, 0, out), "the index cannot be written");
	if (stream->ending != ENDING_WILD)
		return;
	changes = 1 + chance_below(chance, INDEX_CHANGES_MAX);
	for (size_t i = 0; i < changes && out->bytes > 8; i++) {
		size_t at = chance_below(chance, out->bytes - 8);

		wti_put64(out->data + at, chance_value(chance, wti_get64(out->data + at)));
	}
}

static void put_ending(struct stream *stream, const struct wti_index *index)
{
	struct wti_block_header header = {.type = WTI_BLOCK_INDEX, .rows = (uint32_t)index->count};
	uint64_t at = stream->file.bytes;
	uint8_t footer[WTI_FOOTER_BYTES];
	struct wti_buf payload;

	if (stream->ending == ENDING_NONE)
		return;
	wti_buf_init(&payload, FILE_BYTES_MAX);
	if (stream->ending == ENDING_STALE && stream->old_index.bytes) {
		header.rows = stream->old_index_rows;
		wti_buf_append(&payload, stream->old_index.data, stream->old_index.bytes);
	} else {
		make_index(stream, index, &payload);
	}
	header.payload_bytes = (uint32_t)payload.bytes;
	put_block(stream, header, &payload);
	wti_buf_release(&payload);
	wti_footer_write(at, footer);
	wti_buf_append(&stream->file, footer, sizeof(footer));
}

void stream_build(struct stream *stream)
{
	struct wti_index index;

	wti_index_init(&index);
	wti_put64(stream->header + 120, wti_hash(stream->header, 120));
	wti_buf_append(&stream->file, stream->header, sizeof(stream->header));
	for (size_t i = 0; i < stream->count; i++) {
		struct block *block = &stream->blocks[i];

		block->header.payload_bytes =
			block->is_lying ? block->said_bytes : (uint32_t)block->payload.bytes;
		must(!wti_index_add(&index, &block->header, stream->file.bytes), "out of memory");
		put_block(stream, block->header, &block->payload);
	}
	put_ending(stream, &index);
	wti_index_release(&index);
	must(!wti_buf_status(&stream->file), "the mutated stream is too large");
}
