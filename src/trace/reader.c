/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a stream: through its index where there is a sound one, otherwise by walking from block
 * to block. Definitions and schema are taken in at once, events only as they are asked for.
 *
 * Files are read with pread, never mapped: a file that is cut while we look gives an error, not
 * SIGBUS.
 */
#include "reader.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/grow.h"
#include "columns.h"
#include "index.h"
#include "protocol.h"

void wti_reader_damaged(struct wt_reader *reader, const struct wt_err *err)
{
	int none = WTI_DAMAGE_NONE;

	if (!atomic_compare_exchange_strong(&reader->damage_state, &none, WTI_DAMAGE_WRITTEN))
		return;
	reader->damage = *err;
	atomic_store_explicit(&reader->damage_state, WTI_DAMAGE_TOLD, memory_order_release);
}

bool wti_reader_is_cut(const struct wt_reader *reader)
{
	return wt_reader_damage(reader)->code && !reader->has_met_index;
}

static int read_at(const struct wt_reader *reader, uint64_t offset, void *data, size_t bytes,
		   struct wt_err *err)
{
	ssize_t got = wti_pread_all(reader->fd, data, bytes, offset);

	if (got < 0) {
		errno = (int)-got;
		return wti_err_errno(err, "cannot read", reader->path);
	}
	if ((size_t)got < bytes)
		return wti_err_at(err, WT_E_FORMAT, (int64_t)offset + got,
				  "'%s' ends in the middle of a block, at byte %lld", reader->path,
				  (long long)offset + got);
	return 0;
}

int wti_reader_payload(const struct wt_reader *reader, const struct wt_block *block,
		       struct wti_block_header *ret_header, struct wti_buf *out, struct wt_err *err)
{
	uint8_t *data;
	int status;

	wti_buf_clear(out);
	data = wti_buf_reserve(out, block->bytes);
	if (!data)
		return wti_err(err, WT_E_NOMEM, "out of memory for a block of %u bytes",
			       block->bytes);
	status = read_at(reader, block->offset, data, block->bytes, err);
	if (!status)
		status = wti_block_header_read(data, block->offset, ret_header, err);
	if (status)
		return status;
	if (ret_header->payload_bytes != block->bytes - WTI_BLOCK_HEADER_BYTES ||
	    ret_header->kind != block->kind || ret_header->rows != block->rows ||
	    ret_header->payload_hash !=
		    wti_hash(data + WTI_BLOCK_HEADER_BYTES, ret_header->payload_bytes))
		return wti_err_at(err, WT_E_FORMAT, (int64_t)block->offset,
				  "damaged block at byte %llu: its checksum does not match",
				  (unsigned long long)block->offset);
	wti_buf_added(out, block->bytes);
	return 0;
}

static int add_event_block(struct wt_reader *reader, const struct wt_block *block)
{
	if (wti_grow(&reader->blocks, reader->block_count + 1, &reader->block_capacity,
		     WTI_NO_CEILING))
		return WT_E_NOMEM;
	reader->blocks[reader->block_count++] = *block;
	return 0;
}

static int take_definitions(struct wt_reader *reader, const struct wt_block *block,
			    struct wt_err *err)
{
	struct wti_bytes in = {reader->scratch.data + WTI_BLOCK_HEADER_BYTES,
			       reader->scratch.data + reader->scratch.bytes, false};
	struct wti_buf content;
	int status;

	wti_buf_init(&content, WTI_PAYLOAD_MAX);
	status = wti_chunk_read(&in, reader->zstd, WTI_PAYLOAD_MAX, &content);
	if (!status)
		status = wti_definitions_read(&reader->definitions, content.data, content.bytes,
					      block->rows);
	wti_buf_release(&content);
	if (status == WT_E_NOMEM)
		return wti_err(err, status, "out of memory for definitions");
	if (status)
		return wti_err_at(err, status, (int64_t)block->offset,
				  "damaged definitions at byte %llu",
				  (unsigned long long)block->offset);
	return 0;
}

/* One block that the index or the walk has found. */
static int take_block(struct wt_reader *reader, const struct wti_index_entry *entry,
		      struct wt_err *err)
{
	struct wti_block_header header;
	int status;

	if (entry->type == WTI_BLOCK_EVENTS) {
		if (!entry->block.rows || entry->block.rows > WTI_ROWS_MAX)
			return wti_err_at(err, WT_E_FORMAT, (int64_t)entry->block.offset,
					  "block at byte %llu has %u rows, which cannot be",
					  (unsigned long long)entry->block.offset,
					  entry->block.rows);
		return add_event_block(reader, &entry->block)
			       ? wti_err(err, WT_E_NOMEM, "out of memory for the list of blocks")
			       : 0;
	}
	if (entry->type != WTI_BLOCK_SCHEMA && entry->type != WTI_BLOCK_DEFINITIONS)
		return 0;
	status = wti_reader_payload(reader, &entry->block, &header, &reader->scratch, err);
	if (status)
		return status;
	if (entry->type == WTI_BLOCK_DEFINITIONS)
		return take_definitions(reader, &entry->block, err);
	return wti_schema_read(&reader->schema, reader->scratch.data + WTI_BLOCK_HEADER_BYTES,
			       header.payload_bytes, entry->block.rows,
			       entry->block.offset + WTI_BLOCK_HEADER_BYTES, err);
}

/* The index block that the footer points at, as a list of blocks; false if there is none. */
static bool read_index(struct wt_reader *reader, struct wti_index *index)
{
	uint8_t footer[WTI_FOOTER_BYTES];
	uint8_t head[WTI_BLOCK_HEADER_BYTES];
	struct wti_block_header header;
	struct wt_block block = {0};

	if (reader->file_bytes < WTI_FILE_HEADER_BYTES + WTI_BLOCK_HEADER_BYTES + WTI_FOOTER_BYTES)
		return false;
	if (read_at(reader, reader->file_bytes - WTI_FOOTER_BYTES, footer, sizeof(footer), NULL) ||
	    !wti_footer_read(footer, &block.offset) || block.offset >= reader->file_bytes ||
	    read_at(reader, block.offset, head, sizeof(head), NULL) ||
	    wti_block_header_read(head, block.offset, &header, NULL) ||
	    header.type != WTI_BLOCK_INDEX)
		return false;
	block.bytes = WTI_BLOCK_HEADER_BYTES + header.payload_bytes;
	block.rows = header.rows;
	if (block.offset + block.bytes + WTI_FOOTER_BYTES != reader->file_bytes ||
	    wti_reader_payload(reader, &block, &header, &reader->scratch, NULL))
		return false;
	return !wti_index_read(index, reader->scratch.data + WTI_BLOCK_HEADER_BYTES,
			       header.payload_bytes, header.rows, block.offset);
}

static int open_by_index(struct wt_reader *reader, const struct wti_index *index,
			 struct wt_err *err)
{
	for (size_t i = 0; i < index->count; i++) {
		struct wt_err damage;
		int status = take_block(reader, &index->entries[i], &damage);

		/* One damaged block does not hide the others: the index says where they are. */
		if (status == WT_E_NOMEM) {
			if (err)
				*err = damage;
			return status;
		}
		if (status)
			wti_reader_damaged(reader, &damage);
	}
	reader->scanned = reader->file_bytes;
	reader->finished = true;
	reader->has_met_index = true;
	return 0;
}

/* The block at reader->scanned: 1 and its entry, 0 at the end of the file, or what is wrong. */
static int find_block(struct wt_reader *reader, struct wti_index_entry *ret_entry,
		      struct wt_err *err)
{
	uint64_t left = reader->file_bytes - reader->scanned;
	uint8_t head[WTI_BLOCK_HEADER_BYTES];
	struct wti_block_header header;
	int status;

	if (!left)
		return 0;
	if (left < WTI_BLOCK_HEADER_BYTES)
		return wti_err_at(err, WT_E_FORMAT, (int64_t)reader->scanned,
				  "cut in the middle of a block header at byte %llu",
				  (unsigned long long)reader->file_bytes);
	status = read_at(reader, reader->scanned, head, sizeof(head), err);
	if (!status)
		status = wti_block_header_read(head, reader->scanned, &header, err);
	if (status)
		return status;
	reader->has_met_index = header.type == WTI_BLOCK_INDEX;
	if (left - WTI_BLOCK_HEADER_BYTES < header.payload_bytes)
		return wti_err_at(err, WT_E_FORMAT, (int64_t)reader->file_bytes,
				  "cut in the middle of the block at byte %llu",
				  (unsigned long long)reader->scanned);
	*ret_entry = (struct wti_index_entry){
		.type = header.type,
		.block = {reader->scanned, WTI_BLOCK_HEADER_BYTES + header.payload_bytes,
			  header.rows, header.kind, header.time_min, header.time_max,
			  header.track_filter, header.name_filter},
	};
	return 1;
}

/*
 * Behind an index stands the footer and nothing else. A footer that is still being written is
 * looked at again by a refresh: reader->scanned stays before the index.
 */
static void end_at_index(struct wt_reader *reader, const struct wt_block *block)
{
	uint64_t end = block->offset + block->bytes;
	struct wti_index index;
	struct wt_err damage;

	reader->finished = reader->file_bytes == end + WTI_FOOTER_BYTES;
	wti_index_init(&index);
	if (reader->file_bytes > end && !read_index(reader, &index)) {
		wti_err_at(&damage, WT_E_FORMAT, (int64_t)end,
			   "damaged index or footer at byte %llu; the blocks before it were found "
			   "without",
			   (unsigned long long)end);
		wti_reader_damaged(reader, &damage);
	}
	wti_index_release(&index);
}

/* Walks from reader->scanned on. A bad header ends the walk: what follows cannot be found. */
static int walk(struct wt_reader *reader, struct wt_err *err)
{
	struct wti_index_entry entry;
	struct wt_err damage = {0};
	int found;

	while ((found = find_block(reader, &entry, &damage)) > 0) {
		int status = take_block(reader, &entry, &damage);

		if (status == WT_E_NOMEM) {
			if (err)
				*err = damage;
			return status;
		}
		if (status)
			wti_reader_damaged(reader, &damage);
		if (entry.type == WTI_BLOCK_INDEX) {
			end_at_index(reader, &entry.block);
			return 0;
		}
		reader->scanned += entry.block.bytes;
	}
	if (found < 0)
		wti_reader_damaged(reader, &damage);
	return 0;
}

static int look_at_size(struct wt_reader *reader, struct wt_err *err)
{
	struct stat info;

	if (fstat(reader->fd, &info))
		return wti_err_errno(err, "cannot look at", reader->path);
	if (!S_ISREG(info.st_mode))
		return wti_err(err, WT_E_FORMAT, "'%s' is not a file", reader->path);
	reader->file_bytes = (uint64_t)info.st_size;
	wti_definitions_bound(&reader->definitions, reader->file_bytes);
	return 0;
}

static int open_stream(struct wt_reader *reader, struct wt_err *err)
{
	uint8_t head[WTI_FILE_HEADER_BYTES];
	struct wti_index index;
	ssize_t got;
	int status = look_at_size(reader, err);

	if (status)
		return status;
	got = wti_pread_all(reader->fd, head, sizeof(head), 0);
	if (got < 0) {
		errno = (int)-got;
		return wti_err_errno(err, "cannot read", reader->path);
	}
	status = wti_file_header_read(head, (size_t)got, &reader->identity, err);
	if (status)
		return status;
	reader->scanned = WTI_FILE_HEADER_BYTES;
	wti_index_init(&index);
	if (read_index(reader, &index)) {
		status = open_by_index(reader, &index, err);
	} else {
		status = walk(reader, err);
	}
	wti_index_release(&index);
	return status;
}

int wt_reader_open(const char *path, struct wt_reader **ret_reader, struct wt_err *err)
{
	struct wt_reader *reader = calloc(1, sizeof(*reader));
	struct wt_err cause = {0};
	int status = 0;

	if (!reader)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	wti_schema_init(&reader->schema);
	wti_definitions_init(&reader->definitions);
	wti_buf_init(&reader->scratch, WTI_PAYLOAD_MAX + WTI_BLOCK_HEADER_BYTES);
	reader->path = strdup(path);
	reader->zstd = ZSTD_createDCtx();
	reader->fd = wti_open_regular(path, &cause);
	if (!reader->path || !reader->zstd)
		status = wti_err(&cause, WT_E_NOMEM, "out of memory");
	else if (reader->fd < 0)
		status = reader->fd;
	else
		status = open_stream(reader, &cause);
	if (status) {
		wt_reader_free(reader);
		if (err && (status == WT_E_FORMAT || status == WT_E_VERSION))
			wti_err_at(err, status, cause.offset, "'%s': %s", path, cause.message);
		else if (err)
			*err = cause;
		return status;
	}
	wti_buf_release(&reader->scratch); /* grows again if a refresh needs it */
	*ret_reader = reader;
	return 0;
}

void wt_reader_free(struct wt_reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	wti_schema_release(&reader->schema);
	wti_definitions_release(&reader->definitions);
	wti_buf_release(&reader->scratch);
	ZSTD_freeDCtx(reader->zstd);
	free(reader->blocks);
	free(reader->path);
	free(reader);
}

int wt_reader_refresh(struct wt_reader *reader, struct wt_err *err)
{
	size_t before = reader->block_count;
	int64_t damaged_at = wt_reader_damage(reader)->offset;
	int status = look_at_size(reader, err);

	if (status || reader->finished || reader->scanned >= reader->file_bytes)
		return status;
	/* A tail that was half written when we last looked may be whole by now. */
	if (wt_reader_damage(reader)->code && damaged_at >= (int64_t)reader->scanned)
		reader->damage_state = WTI_DAMAGE_NONE;
	status = walk(reader, err);
	return status ? status : (int)(reader->block_count - before);
}
