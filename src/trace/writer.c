/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a stream. Rows gather in columns, one set a kind; a full set becomes a block. Definitions
 * gather too and are written before the next block of events, so that whatever a reader finds in a
 * cut file it can also name.
 *
 * A write that fails (disk full, ceiling) is final: the file is cut back to its last whole block,
 * and every later call returns the same error without touching it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wheeltap/trace.h>

#include "base/err.h"
#include "base/file.h"
#include "block.h"
#include "columns.h"
#include "encode.h"
#include "index.h"
#include "protocol.h"
#include "ring.h"
#include "schema.h"
#include "table.h"

#define DEFINITIONS_SEAL_BYTES ((size_t)1 << 20)
/* What a chunk adds to its content, at most. */
#define CHUNK_HEAD_BYTES 16u

struct wt_writer {
	int fd;
	struct wt_writer_options options;
	struct wti_encoder encoder;
	struct wti_columns columns[WT_KIND_END];
	struct wti_buf definitions;
	uint32_t definition_count;
	struct wti_buf block; /* the block being made: header and payload */
	struct wti_index index;
	uint64_t offset; /* end of the last whole block */
	uint64_t events;
	uint64_t own_events;   /* of them, the recorder's own */
	struct wt_err failure; /* code 0: none */
};

void wt_writer_options_init(struct wt_writer_options *options)
{
	*options = (struct wt_writer_options){.size = sizeof(*options), .level = 1};
}

static int fail(struct wt_writer *writer, int code, const char *what)
{
	if (!writer->failure.code)
		wti_err_at(&writer->failure, code, (int64_t)writer->offset,
			   "%s at byte %llu; the stream is whole up to there", what,
			   (unsigned long long)writer->offset);
	return code;
}

static int put(struct wt_writer *writer, const void *data, size_t bytes)
{
	int status;

	if (writer->failure.code)
		return writer->failure.code;
	status = wti_write_all(writer->fd, data, bytes);
	if (status) {
		/* Whatever was written of it is half a block: take it back. */
		if (ftruncate(writer->fd, (off_t)writer->offset))
			(void)0; /* readers stop at the damaged tail anyway */
		return fail(writer, WT_E_IO, strerror(-status));
	}
	writer->offset += bytes;
	return 0;
}

/* The index of `count` blocks, and what stands behind it; it may be smaller, compressed. */
static uint64_t ending_bytes(size_t count)
{
	return WTI_BLOCK_HEADER_BYTES + CHUNK_HEAD_BYTES + (uint64_t)count * WTI_INDEX_ENTRY_BYTES +
	       WTI_FOOTER_BYTES;
}

/* Completes the block in writer->block, whose payload stands behind room for the header. */
static int put_block(struct wt_writer *writer, struct wti_block_header *header)
{
	uint64_t offset = writer->offset;
	size_t bytes = writer->block.bytes;
	uint64_t ceiling = writer->options.bytes_max;
	int status = wti_buf_status(&writer->block);

	if (status)
		return fail(writer, status, "out of memory for a block");
	if (ceiling && header->type != WTI_BLOCK_INDEX &&
	    offset + bytes + ending_bytes(writer->index.count + 1) > ceiling)
		return fail(writer, WT_E_LIMIT, "the size limit was reached");
	header->payload_bytes = (uint32_t)(bytes - WTI_BLOCK_HEADER_BYTES);
	header->payload_hash =
		wti_hash(writer->block.data + WTI_BLOCK_HEADER_BYTES, header->payload_bytes);
	wti_block_header_write(header, writer->block.data);
	status = put(writer, writer->block.data, bytes);
	if (status || header->type == WTI_BLOCK_INDEX)
		return status;
	status = wti_index_add(&writer->index, header, offset);
	return status ? fail(writer, status, "out of memory for the index") : 0;
}

static void begin_block(struct wt_writer *writer)
{
	wti_buf_clear(&writer->block);
	if (wti_buf_reserve(&writer->block, WTI_BLOCK_HEADER_BYTES))
		wti_buf_added(&writer->block, WTI_BLOCK_HEADER_BYTES);
}

static int put_definitions(struct wt_writer *writer)
{
	struct wti_block_header header = {
		.type = WTI_BLOCK_DEFINITIONS,
		.rows = writer->definition_count,
	};
	int status;

	if (!writer->definition_count)
		return 0;
	begin_block(writer);
	wti_chunk_write(&writer->block, writer->encoder.zstd, writer->options.level,
			writer->definitions.data, writer->definitions.bytes);
	status = put_block(writer, &header);
	wti_buf_clear(&writer->definitions);
	writer->definition_count = 0;
	return status;
}

static int put_schema(struct wt_writer *writer, struct wti_columns *columns)
{
	struct wti_block_header header = {.type = WTI_BLOCK_SCHEMA, .rows = 1};

	if (columns->described)
		return 0;
	begin_block(writer);
	wti_schema_write(&writer->block, columns->kind);
	columns->described = true;
	return put_block(writer, &header);
}

__attribute__((noinline)) static int seal(struct wt_writer *writer, struct wti_columns *columns)
{
	struct wti_block_header header;
	int status = writer->failure.code;

	if (columns->rows && !status)
		status = put_definitions(writer);
	if (columns->rows && !status)
		status = put_schema(writer, columns);
	if (columns->rows && !status) {
		begin_block(writer);
		status = wti_encode_events(&writer->encoder, columns, &writer->block, &header);
		if (status)
			fail(writer, status, "out of memory for a block");
		else
			status = put_block(writer, &header);
		if (!status) {
			writer->events += columns->rows;
			writer->own_events += columns->own_rows;
		}
	}
	columns->own_rows = 0;
	wti_columns_clear(columns);
	return status;
}

static int open_file(struct wt_writer *writer, const char *path, struct wt_err *err)
{
	uint8_t header[WTI_FILE_HEADER_BYTES];
	int status;

	/* Appending: after a half block was taken back, the next one stands where that began. */
	writer->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	if (writer->fd < 0)
		return wti_err_errno(err, "cannot create stream", path);
	wti_file_header_write(&writer->options.identity, header);
	status = put(writer, header, sizeof(header));
	if (status && err)
		*err = writer->failure;
	if (status)
		unlink(path); /* an empty file would only puzzle readers */
	return status;
}

int wt_writer_create(const char *path, const struct wt_writer_options *options,
		     struct wt_writer **ret_writer, struct wt_err *err)
{
	struct wt_writer *writer = calloc(1, sizeof(*writer));
	int status;

	if (!writer)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	writer->fd = -1;
	wt_writer_options_init(&writer->options);
	memcpy(&writer->options, options,
	       options->size < sizeof(*options) ? options->size : sizeof(*options));
	wti_buf_init(&writer->definitions, WTI_PAYLOAD_MAX);
	wti_buf_init(&writer->block, WTI_PAYLOAD_MAX + WTI_BLOCK_HEADER_BYTES);
	wti_index_init(&writer->index);
	for (unsigned i = 0; i < wti_kind_table_count; i++)
		wti_columns_init(&writer->columns[wti_kind_table[i].number], &wti_kind_table[i]);
	status = wti_encoder_init(&writer->encoder, writer->options.level);
	if (status)
		wti_err(err, status, "out of memory");
	else
		status = open_file(writer, path, err);
	if (status) {
		wt_writer_free(writer);
		return status;
	}
	*ret_writer = writer;
	return 0;
}

void wt_writer_free(struct wt_writer *writer)
{
	if (!writer)
		return;
	for (unsigned i = 0; i < WT_KIND_END; i++) {
		if (writer->columns[i].kind)
			wti_columns_release(&writer->columns[i]);
	}
	wti_encoder_release(&writer->encoder);
	wti_buf_release(&writer->definitions);
	wti_buf_release(&writer->block);
	wti_index_release(&writer->index);
	if (writer->fd >= 0)
		close(writer->fd);
	free(writer);
}

/* ---- Definitions ------------------------------------------------------------------------- */

/* A definition from a fixed part and up to two byte strings. */
static int define(struct wt_writer *writer, uint16_t type, uint32_t id, const void *fixed,
		  size_t fixed_bytes, struct wt_text one, struct wt_text two)
{
	size_t bytes = fixed_bytes + one.bytes + two.bytes;
	uint8_t head[8];

	if (writer->failure.code)
		return writer->failure.code;
	if (bytes > UINT16_MAX || !id)
		return WT_E_ARG;
	wti_put16(head, type);
	wti_put16(head + 2, (uint16_t)bytes);
	wti_put32(head + 4, id);
	wti_buf_append(&writer->definitions, head, sizeof(head));
	wti_buf_append(&writer->definitions, fixed, fixed_bytes);
	wti_buf_append(&writer->definitions, one.data, one.bytes);
	wti_buf_append(&writer->definitions, two.data, two.bytes);
	if (wti_buf_status(&writer->definitions))
		return fail(writer, WT_E_NOMEM, "out of memory for definitions");
	writer->definition_count++;
	return writer->definitions.bytes > DEFINITIONS_SEAL_BYTES ? put_definitions(writer) : 0;
}

int wt_writer_string(struct wt_writer *writer, uint32_t id, const char *data, size_t bytes)
{
	return define(writer, WTI_DEF_STRING, id, "", 0, (struct wt_text){data, bytes},
		      (struct wt_text){"", 0});
}

int wt_writer_track(struct wt_writer *writer, const struct wt_track *track)
{
	uint8_t fixed[16] = {0};

	wti_put32(fixed, track->type);
	wti_put32(fixed + 4, track->tid);
	wti_put32(fixed + 8, track->device);
	return define(writer, WTI_DEF_TRACK, track->id, fixed, sizeof(fixed),
		      (struct wt_text){track->name ? track->name : "", track->name_bytes},
		      (struct wt_text){"", 0});
}

int wt_writer_stack(struct wt_writer *writer, uint32_t id, const uint64_t *frames, size_t count)
{
	return define(writer, WTI_DEF_STACK, id, "", 0,
		      (struct wt_text){(const char *)frames, count * sizeof(*frames)},
		      (struct wt_text){"", 0});
}

int wt_writer_module(struct wt_writer *writer, uint32_t id, const struct wt_module *module)
{
	uint8_t fixed[24];

	wti_put64(fixed, module->base);
	wti_put64(fixed + 8, module->bytes);
	wti_put32(fixed + 16, (uint32_t)module->build_id_bytes);
	wti_put32(fixed + 20, (uint32_t)module->path_bytes);
	return define(writer, WTI_DEF_MODULE, id, fixed, sizeof(fixed),
		      (struct wt_text){(const char *)module->build_id, module->build_id_bytes},
		      (struct wt_text){module->path, module->path_bytes});
}

int wt_writer_site(struct wt_writer *writer, uint32_t id, const struct wt_site *site)
{
	uint8_t fixed[16] = {0};

	wti_put32(fixed, site->file);
	wti_put32(fixed + 4, site->function);
	wti_put32(fixed + 8, site->line);
	return define(writer, WTI_DEF_SITE, id, fixed, sizeof(fixed), (struct wt_text){"", 0},
		      (struct wt_text){"", 0});
}

/* ---- Events ------------------------------------------------------------------------------- */

/*
 * The columns of a kind with room for one more row, or NULL. Here and below, what is rarely needed
 * stands apart, so that the usual way has no calls to save registers for.
 */
__attribute__((noinline)) static struct wti_columns *make_room(struct wt_writer *writer,
							       struct wti_columns *columns)
{
	if (!columns->kind)
		return NULL;
	if (!wti_columns_grow(columns))
		return columns;
	fail(writer, WT_E_NOMEM, "out of memory for events");
	return NULL;
}

static inline struct wti_columns *columns_for(struct wt_writer *writer, uint16_t kind)
{
	struct wti_columns *columns = &writer->columns[kind < WT_KIND_END ? kind : 0];

	return columns->rows < columns->capacity ? columns : make_room(writer, columns);
}

/* The row is complete; a full set of columns becomes a block. */
static inline int row_done(struct wt_writer *writer, struct wti_columns *columns, uint32_t track,
			   uint64_t seq, uint64_t ticks)
{
	uint32_t row = columns->rows++;

	columns->time[row] = ticks;
	columns->track[row] = track;
	columns->seq[row] = seq;
	if (__builtin_expect(row + 1 == WTI_ROWS_SEAL || columns->text_bytes > WTI_TEXT_SEAL_BYTES,
			     0))
		return seal(writer, columns);
	return 0;
}

int wt_writer_record(struct wt_writer *writer, uint32_t track, uint64_t seq,
		     const struct wti_record *record)
{
	struct wti_columns *columns;
	int status;

	if (writer->failure.code)
		return writer->failure.code;
	columns = columns_for(writer, record->kind);
	if (!columns)
		return writer->failure.code ? writer->failure.code : WT_E_FORMAT;
	status = wti_unpack(columns, columns->rows, record);
	if (status) {
		wti_columns_rollback(columns);
		return status;
	}
	return row_done(writer, columns, track, seq, record->ticks);
}

__attribute__((noinline)) static int append_texts(struct wti_columns *columns, uint32_t row,
						  const struct wt_text *texts, int known)
{
	static const struct wt_text empty = {"", 0};

	for (int i = 0; i < columns->kind->field_count; i++) {
		const struct wt_text *text = &empty;

		if (!wt_type_is_inline(columns->kind->fields[i].type))
			continue;
		if (i < known)
			text = texts++;
		if (wti_columns_text(columns, i, row, text->data, text->bytes)) {
			wti_columns_rollback(columns);
			return WT_E_NOMEM;
		}
	}
	return 0;
}

int wt_writer_append(struct wt_writer *writer, uint16_t kind, uint32_t track, uint64_t seq,
		     uint64_t ticks, const uint64_t *values, size_t value_count,
		     const struct wt_text *texts)
{
	struct wti_columns *columns;
	uint64_t *at; /* fields stand one stride apart: no need to look each of them up */
	size_t stride;
	uint32_t row;
	int known;

	if (writer->failure.code)
		return writer->failure.code;
	columns = columns_for(writer, kind);
	if (!columns)
		return writer->failure.code ? writer->failure.code : WT_E_ARG;
	row = columns->rows;
	known = value_count < columns->kind->field_count ? (int)value_count
							 : columns->kind->field_count;
	stride = columns->stride;
	at = columns->values[0] + row;
#pragma GCC unroll 4
	for (int i = 0; i < known; i++, at += stride)
		*at = values[i];
	for (int i = known; i < columns->kind->field_count; i++, at += stride)
		*at = 0;
	if (columns->has_text && append_texts(columns, row, texts, known))
		return WT_E_NOMEM;
	return row_done(writer, columns, track, seq, ticks);
}

int wt_writer_clock(struct wt_writer *writer, uint32_t track, uint64_t seq, uint64_t ticks,
		    uint32_t domain, uint64_t value, uint32_t error_ns)
{
	uint64_t values[] = {domain, error_ns, value};

	return wt_writer_append(writer, WT_KIND_CLOCK, track, seq, ticks, values, 3, NULL);
}

/* ---- Ending -------------------------------------------------------------------------------- */

int wt_writer_flush(struct wt_writer *writer, struct wt_err *err)
{
	for (unsigned i = 0; i < WT_KIND_END; i++) {
		if (writer->columns[i].rows)
			seal(writer, &writer->columns[i]);
	}
	put_definitions(writer);
	if (writer->failure.code && err)
		*err = writer->failure;
	return writer->failure.code;
}

int wt_writer_finish(struct wt_writer *writer, struct wt_err *err)
{
	struct wti_block_header header = {.type = WTI_BLOCK_INDEX};
	uint8_t footer[WTI_FOOTER_BYTES];
	struct wt_err earlier;

	wt_writer_flush(writer, NULL);
	/* After a failure the index of what is there is still worth trying: it may fit. */
	earlier = writer->failure;
	writer->failure.code = 0;
	header.rows = (uint32_t)writer->index.count;
	wti_footer_write(writer->offset, footer);
	begin_block(writer);
	if (wti_index_write(&writer->index, writer->encoder.zstd, writer->options.level,
			    &writer->block))
		fail(writer, WT_E_NOMEM, "out of memory for the index");
	else if (!put_block(writer, &header))
		put(writer, footer, sizeof(footer));
	if (earlier.code)
		writer->failure = earlier;
	if (close(writer->fd) && !writer->failure.code)
		fail(writer, WT_E_IO, strerror(errno));
	writer->fd = -1;
	if (writer->failure.code && err)
		*err = writer->failure;
	return writer->failure.code;
}

uint64_t wt_writer_bytes(const struct wt_writer *writer)
{
	return writer->offset;
}

uint64_t wt_writer_finished_bytes(const struct wt_writer *writer)
{
	return writer->offset + ending_bytes(writer->index.count);
}

void wt_writer_limit(struct wt_writer *writer, uint64_t bytes_max)
{
	writer->options.bytes_max = bytes_max;
}

uint64_t wt_writer_events(const struct wt_writer *writer)
{
	return writer->events;
}

void wt_writer_own(struct wt_writer *writer, uint16_t kind)
{
	writer->columns[kind < WT_KIND_END ? kind : 0].own_rows++;
}

uint64_t wt_writer_own_events(const struct wt_writer *writer)
{
	return writer->own_events;
}
