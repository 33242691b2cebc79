/* SPDX-License-Identifier: Apache-2.0 */
/* The list grows in memory, is written as one chunk, and is believed only if it covers the file. */
#include "index.h"

#include <stdlib.h>

#include "base/grow.h"
#include "columns.h"

void wti_index_init(struct wti_index *index)
{
	*index = (struct wti_index){0};
}

void wti_index_release(struct wti_index *index)
{
	free(index->entries);
	wti_index_init(index);
}

static int add(struct wti_index *index, const struct wti_index_entry *entry)
{
	if (wti_grow(&index->entries, index->count + 1, &index->capacity, WTI_NO_CEILING))
		return WT_E_NOMEM;
	index->entries[index->count++] = *entry;
	return 0;
}

int wti_index_add(struct wti_index *index, const struct wti_block_header *header, uint64_t offset)
{
	struct wti_index_entry entry = {
		.type = header->type,
		.block =
			{
				.offset = offset,
				.bytes = WTI_BLOCK_HEADER_BYTES + header->payload_bytes,
				.rows = header->rows,
				.kind = header->kind,
				.time_min = header->time_min,
				.time_max = header->time_max,
				.track_filter = header->track_filter,
				.name_filter = header->name_filter,
			},
	};

	return add(index, &entry);
}

int wti_index_write(const struct wti_index *index, ZSTD_CCtx *zstd, int level, struct wti_buf *out)
{
	size_t bytes = index->count * WTI_INDEX_ENTRY_BYTES;
	uint8_t *entries = calloc(1, bytes ? bytes : 1);
	int status;

	if (!entries)
		return WT_E_NOMEM;
	for (size_t i = 0; i < index->count; i++) {
		const struct wti_index_entry *entry = &index->entries[i];
		uint8_t *at = entries + i * WTI_INDEX_ENTRY_BYTES;

		wti_put64(at, entry->block.offset);
		wti_put32(at + 8, entry->block.bytes);
		wti_put16(at + 12, entry->type);
		wti_put16(at + 14, entry->block.kind);
		wti_put32(at + 16, entry->block.rows);
		wti_put64(at + 24, entry->block.time_min);
		wti_put64(at + 32, entry->block.time_max);
		wti_put64(at + 40, entry->block.track_filter);
		wti_put64(at + 48, entry->block.name_filter);
	}
	status = wti_chunk_write(out, zstd, level, entries, bytes);
	free(entries);
	return status;
}

static struct wti_index_entry parse(const uint8_t *at)
{
	return (struct wti_index_entry){
		.type = wti_get16(at + 12),
		.block =
			{
				.offset = wti_get64(at),
				.bytes = wti_get32(at + 8),
				.kind = wti_get16(at + 14),
				.rows = wti_get32(at + 16),
				.time_min = wti_get64(at + 24),
				.time_max = wti_get64(at + 32),
				.track_filter = wti_get64(at + 40),
				.name_filter = wti_get64(at + 48),
			},
	};
}

static int take(struct wti_index *index, const uint8_t *entries, uint32_t rows, uint64_t end)
{
	uint64_t offset = WTI_FILE_HEADER_BYTES;

	for (uint32_t i = 0; i < rows; i++) {
		struct wti_index_entry entry = parse(entries + (size_t)i * WTI_INDEX_ENTRY_BYTES);
		int status;

		if (entry.block.offset != offset || entry.block.bytes < WTI_BLOCK_HEADER_BYTES ||
		    entry.block.bytes > WTI_BLOCK_HEADER_BYTES + WTI_PAYLOAD_MAX)
			return WT_E_FORMAT;
		offset += entry.block.bytes;
		status = add(index, &entry);
		if (status)
			return status;
	}
	return offset == end ? 0 : WT_E_FORMAT;
}

int wti_index_read(struct wti_index *index, const uint8_t *payload, size_t bytes, uint32_t rows,
		   uint64_t end)
{
	struct wti_bytes in = {payload, payload + bytes, false};
	struct wti_buf entries;
	ZSTD_DCtx *zstd;
	int status;

	/* Each entry is of a block before the index, so that small files have small ones. */
	if (rows > end / WTI_BLOCK_HEADER_BYTES)
		return WT_E_FORMAT;
	zstd = ZSTD_createDCtx();
	if (!zstd)
		return WT_E_NOMEM;
	wti_buf_init(&entries, WTI_PAYLOAD_MAX);
	status = wti_chunk_read(&in, zstd, (size_t)rows * WTI_INDEX_ENTRY_BYTES, &entries);
	if (!status && entries.bytes != (uint64_t)rows * WTI_INDEX_ENTRY_BYTES)
		status = WT_E_FORMAT;
	if (!status)
		status = take(index, entries.data, rows, end);
	wti_buf_release(&entries);
	ZSTD_freeDCtx(zstd);
	return status;
}
