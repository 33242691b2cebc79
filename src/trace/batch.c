/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block of events to columns in memory. Only what is asked for is unpacked: columns that nobody
 * wants are stepped over by their size. A column that is stored relative to another brings that
 * other one along.
 */
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "base/err.h"
#include "columns.h"
#include "pack.h"
#include "reader.h"

#define COLUMNS_MAX (3 + WT_FIELDS_MAX)
#define TIME_COLUMN 0

enum { UNTOUCHED, UNDER_WAY, DONE };

/* Behind wt_batch.memory: what is kept from one decode to the next. */
struct memory {
	struct wti_buf payload;
	struct wti_buf texts[WT_FIELDS_MAX];
	uint64_t *numbers;
	size_t number_capacity;
	uint32_t *text_at[WT_FIELDS_MAX];
	size_t text_at_capacity[WT_FIELDS_MAX];
	uint8_t *planes; /* behind the numbers: a byte a row, eight times */
	ZSTD_DCtx *zstd;
};

struct column {
	uint8_t encoding;
	bool patched;
	uint8_t relative_to;
	struct wti_packing packing;
	struct wti_bytes body;
	int state;
	uint64_t *values;
};

struct job {
	struct memory *memory;
	struct wt_batch *batch;
	uint32_t rows;
	unsigned column_count;
	size_t text_bytes; /* of all text columns so far */
	struct column columns[COLUMNS_MAX];
};

static struct memory *memory_of(struct wt_batch *batch)
{
	struct memory *memory = batch->memory;

	if (!memory) {
		memory = calloc(1, sizeof(*memory));
		if (!memory)
			return NULL;
		wti_buf_init(&memory->payload, WTI_PAYLOAD_MAX + WTI_BLOCK_HEADER_BYTES);
		for (int i = 0; i < WT_FIELDS_MAX; i++)
			wti_buf_init(&memory->texts[i], WTI_TEXT_BLOCK_MAX + 1);
		batch->memory = memory;
		batch->memory_bytes = sizeof(*memory);
	}
	/* It may have been refused before. */
	if (!memory->zstd)
		memory->zstd = ZSTD_createDCtx();
	return memory->zstd ? memory : NULL;
}

void wt_batch_release(struct wt_batch *batch)
{
	struct memory *memory = batch->memory;

	if (memory) {
		wti_buf_release(&memory->payload);
		for (int i = 0; i < WT_FIELDS_MAX; i++) {
			wti_buf_release(&memory->texts[i]);
			free(memory->text_at[i]);
		}
		free(memory->numbers);
		ZSTD_freeDCtx(memory->zstd);
		free(memory);
	}
	*batch = (struct wt_batch){0};
}

/* Of a batch and all that belongs to it. */
static size_t bytes_of(const struct memory *memory)
{
	size_t bytes = sizeof(*memory) + memory->payload.capacity +
		       memory->number_capacity * sizeof(uint64_t);

	for (int i = 0; i < WT_FIELDS_MAX; i++)
		bytes += memory->texts[i].capacity + memory->text_at_capacity[i] * sizeof(uint32_t);
	return bytes + ZSTD_sizeof_DCtx(memory->zstd);
}

static int parse_column(struct wti_bytes *in, struct column *column)
{
	const uint8_t *head = wti_bytes_take(in, WTI_COLUMN_HEAD_BYTES);
	uint32_t body_bytes;
	const uint8_t *body;

	if (!head)
		return WT_E_FORMAT;
	column->encoding = head[0] & (uint8_t)~WTI_ENCODING_PATCHED;
	column->patched = head[0] & WTI_ENCODING_PATCHED;
	column->packing.transform = head[1];
	column->relative_to = head[2];
	column->packing.width = head[3];
	body_bytes = wti_get32(head + 4);
	column->packing.first = wti_get64(head + 8);
	column->packing.bias = wti_get64(head + 16);
	body = wti_bytes_take(in, body_bytes);
	if (!body || column->encoding > WTI_ENCODING_TEXT || column->packing.width > 8 ||
	    column->packing.transform > WT_REL_PREVIOUS)
		return WT_E_FORMAT;
	column->body = (struct wti_bytes){body, body + body_bytes, false};
	return 0;
}

/* One plane: where it stands, unpacked into `room` if it has to be. NULL if it is damaged. */
static const uint8_t *take_plane(struct memory *memory, struct wti_bytes *in, uint32_t rows,
				 uint8_t *room)
{
	uint8_t mode = wti_bytes_u8(in);
	const uint8_t *at;
	uint32_t stored;

	switch (mode) {
	case WTI_PLANE_RAW:
		return wti_bytes_take(in, rows);
	case WTI_PLANE_ZSTD:
		stored = wti_bytes_u32(in);
		at = wti_bytes_take(in, stored);
		if (!at || ZSTD_decompressDCtx(memory->zstd, room, rows, at, stored) != rows)
			return NULL;
		return room;
	case WTI_PLANE_CONSTANT:
		at = wti_bytes_take(in, 1);
		if (!at)
			return NULL;
		memset(room, *at, rows);
		return room;
	default:
		return NULL;
	}
}

/* The patches stand before the planes; they count once the planes have been put together. */
static int apply_patches(struct wti_bytes patches, uint32_t rows, uint64_t *values)
{
	while (wti_bytes_left(&patches)) {
		uint16_t row = wti_bytes_u16(&patches);
		uint64_t packed = wti_bytes_u64(&patches);

		if (row >= rows)
			return WT_E_FORMAT;
		values[row] = packed;
	}
	return 0;
}

static int unpack_planes(struct job *job, struct column *column)
{
	const uint8_t *planes[8];
	unsigned width = column->packing.width;
	size_t patch_bytes = column->patched ? wti_bytes_u16(&column->body) * 10u : 0;
	struct wti_bytes patches = wti_bytes_part(&column->body, patch_bytes);

	if (patches.bad)
		return WT_E_FORMAT;
	for (unsigned i = 0; i < width; i++) {
		uint8_t *room = job->memory->planes + (size_t)i * job->rows;

		planes[i] = take_plane(job->memory, &column->body, job->rows, room);
		if (!planes[i])
			return WT_E_FORMAT;
	}
	wti_unpack_planes(planes, width, job->rows, column->values);
	return apply_patches(patches, job->rows, column->values);
}

/*
 * The column that `column` is relative to, or NULL if there is no such column. `index` of the
 * format: 255 is the time, others are fields.
 */
static struct column *referred(struct job *job, const struct column *column)
{
	unsigned index =
		column->relative_to == WT_FIELD_TIME ? TIME_COLUMN : column->relative_to + 3u;

	if (index >= job->column_count || job->columns[index].encoding != WTI_ENCODING_NUMBERS)
		return NULL;
	return &job->columns[index];
}

static bool is_relative(const struct column *column)
{
	return wti_is_relative(column->packing.transform);
}

static int unpack_one(struct job *job, struct column *column)
{
	struct column *ref = is_relative(column) ? referred(job, column) : NULL;
	int status = unpack_planes(job, column);

	if (status)
		return status;
	wti_unpack_transform(&column->packing, ref ? ref->values : NULL, job->rows, column->values);
	column->state = DONE;
	return 0;
}

/* Unpacks a column after all those that it depends on: the chain is followed to its end and
 * unpacked backwards. A chain longer than there are columns is a circle. */
static int unpack_column(struct job *job, unsigned index)
{
	struct column *chain[COLUMNS_MAX];
	struct column *column = &job->columns[index];
	unsigned length = 0;

	while (column->state != DONE) {
		if (length == job->column_count || column->state == UNDER_WAY)
			return WT_E_FORMAT;
		column->state = UNDER_WAY;
		chain[length++] = column;
		if (!is_relative(column))
			break;
		column = referred(job, column);
		if (!column)
			return WT_E_FORMAT;
	}
	while (length--) {
		int status = unpack_one(job, chain[length]);

		if (status)
			return status;
	}
	return 0;
}

static uint32_t *text_offsets(struct memory *memory, int field, uint32_t rows)
{
	if (memory->text_at_capacity[field] < rows + 1u) {
		uint32_t *text_at = realloc(memory->text_at[field], sizeof(*text_at) * (rows + 1u));

		if (!text_at)
			return NULL;
		memory->text_at[field] = text_at;
		memory->text_at_capacity[field] = rows + 1u;
	}
	return memory->text_at[field];
}

static int unpack_text(struct job *job, int field)
{
	struct column *column = &job->columns[3 + field];
	uint32_t *text_at = text_offsets(job->memory, field, job->rows);
	struct wti_buf *text = &job->memory->texts[field];
	uint64_t end = 0;
	int status;

	if (!text_at)
		return WT_E_NOMEM;
	for (uint32_t i = 0; i < job->rows; i++) {
		text_at[i] = (uint32_t)end;
		if (column->values[i] > WTI_TEXT_BLOCK_MAX - end)
			return WT_E_FORMAT;
		end += column->values[i];
	}
	text_at[job->rows] = (uint32_t)end;
	job->text_bytes += end;
	if (job->text_bytes > WTI_TEXTS_BLOCK_MAX)
		return WT_E_FORMAT;
	wti_buf_clear(text);
	status = wti_chunk_read(&column->body, job->memory->zstd, WTI_TEXT_BLOCK_MAX, text);
	if (status)
		return status;
	if (text->bytes != end)
		return WT_E_FORMAT;
	job->batch->text_at[field] = text_at;
	job->batch->text[field] = (char *)text->data;
	return 0;
}

/* Room for all columns that may be unpacked, in one piece, and for the planes of one. */
static int lay_out(struct job *job)
{
	struct memory *memory = job->memory;
	unsigned columns = 3u + job->batch->kind->field_count;
	size_t need = (size_t)job->rows * (columns + 1);

	if (memory->number_capacity < need) {
		free(memory->numbers);
		memory->number_capacity = 0;
		memory->numbers = malloc(sizeof(uint64_t) * need);
		if (!memory->numbers)
			return WT_E_NOMEM;
		memory->number_capacity = need;
	}
	for (unsigned i = 0; i < job->column_count; i++)
		job->columns[i].values = memory->numbers + (size_t)i * job->rows;
	memory->planes = (uint8_t *)(memory->numbers + (size_t)columns * job->rows);
	return 0;
}

/* A field that the block does not have, because its writer was older than its schema. */
static int fill_missing(struct job *job, int field)
{
	uint64_t *values = job->memory->numbers + (size_t)(3 + field) * job->rows;

	memset(values, 0, sizeof(*values) * job->rows);
	job->batch->values[field] = values;
	if (wt_type_is_inline(job->batch->kind->fields[field].type)) {
		uint32_t *text_at = text_offsets(job->memory, field, job->rows);

		if (!text_at)
			return WT_E_NOMEM;
		memset(text_at, 0, sizeof(*text_at) * (job->rows + 1u));
		job->batch->text_at[field] = text_at;
		job->batch->text[field] = "";
	}
	return 0;
}

static int unpack_field(struct job *job, int field)
{
	bool is_text = wt_type_is_inline(job->batch->kind->fields[field].type);
	unsigned index = 3u + (unsigned)field;
	int status;

	if (index >= job->column_count)
		return fill_missing(job, field);
	if (is_text != (job->columns[index].encoding == WTI_ENCODING_TEXT))
		return WT_E_FORMAT;
	status = unpack_column(job, index);
	if (status)
		return status;
	job->batch->values[field] = job->columns[index].values;
	return is_text ? unpack_text(job, field) : 0;
}

static bool in_order(const struct wt_batch *batch)
{
	for (uint32_t i = 1; i < batch->rows; i++) {
		if (batch->time[i] < batch->time[i - 1] ||
		    (batch->time[i] == batch->time[i - 1] && batch->track[i] < batch->track[i - 1]))
			return false;
	}
	return true;
}

/* Whoever merges streams relies on the times that the header promises. */
static bool keeps_promise(const struct wt_batch *batch, const struct wt_block *block)
{
	bool within = true;

	for (uint32_t i = 0; i < batch->rows; i++)
		within &= batch->time[i] >= block->time_min && batch->time[i] <= block->time_max;
	return within;
}

static int unpack(struct job *job, struct wti_bytes in, uint32_t fields)
{
	struct wt_batch *batch = job->batch;
	int status = 0;

	job->column_count = wti_bytes_u8(&in);
	if (job->column_count < 3 || job->column_count > 3u + batch->kind->field_count)
		return WT_E_FORMAT;
	for (unsigned i = 0; i < job->column_count && !status; i++)
		status = parse_column(&in, &job->columns[i]);
	if (!status)
		status = lay_out(job);
	for (unsigned i = 0; i < 3 && !status; i++)
		status = job->columns[i].encoding == WTI_ENCODING_NUMBERS ? unpack_column(job, i)
									  : WT_E_FORMAT;
	batch->time = job->columns[0].values;
	batch->track = job->columns[1].values;
	batch->seq = job->columns[2].values;
	for (int i = 0; i < batch->kind->field_count && !status; i++) {
		if (fields & (1u << i))
			status = unpack_field(job, i);
	}
	return status;
}

int wt_reader_decode(const struct wt_reader *reader, size_t index, uint32_t fields,
		     struct wt_batch *batch, struct wt_err *err)
{
	const struct wt_block *block = wt_reader_block(reader, index);
	struct wti_block_header header;
	struct job job = {.batch = batch};
	int status;

	if (!block)
		return wti_err(err, WT_E_ARG, "no block %zu", index);
	memset(batch, 0, offsetof(struct wt_batch, memory));
	batch->reader = reader;
	batch->kind = wt_reader_kind(reader, block->kind);
	if (!batch->kind)
		return wti_err_at(err, WT_E_FORMAT, (int64_t)block->offset,
				  "block at byte %llu is of kind %u, which nothing describes",
				  (unsigned long long)block->offset, block->kind);
	job.memory = memory_of(batch);
	if (!job.memory)
		return wti_err(err, WT_E_NOMEM, "out of memory for a block");
	status = wti_reader_payload(reader, block, &header, &job.memory->payload, err);
	if (status)
		return status;
	batch->rows = job.rows = block->rows;
	status = unpack(&job,
			(struct wti_bytes){job.memory->payload.data + WTI_BLOCK_HEADER_BYTES,
					   job.memory->payload.data + block->bytes, false},
			fields);
	if (!status && !keeps_promise(batch, block))
		status = WT_E_FORMAT;
	if (status) {
		batch->rows = 0;
		return wti_err_at(err, status, (int64_t)block->offset,
				  status == WT_E_NOMEM ? "out of memory for the block at byte %llu"
						       : "damaged block at byte %llu",
				  (unsigned long long)block->offset);
	}
	batch->in_time_order = in_order(batch);
	batch->memory_bytes = bytes_of(job.memory);
	return 0;
}
