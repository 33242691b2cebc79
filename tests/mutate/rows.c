/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes events blocks by rows: the block is decoded, values, texts and rows are changed, and it
 * is encoded again in the plainest way that the format allows, so that later changes of bytes meet
 * values and not a compressor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"
#include "trace/columns.h"

#define TEXT_COPIES_MAX 200u /* rows that get the same long text */
#define REPEATED_ROWS_MAX 4096u

/* A decoded block; column 0 is the time, 1 the track, 2 the sequence number, then the fields. */
struct rows {
	const struct wt_kind *kind;
	size_t columns;
	uint32_t count;
	uint64_t *values[3 + WT_FIELDS_MAX];
	struct wt_text *texts[3 + WT_FIELDS_MAX]; /* NULL: numbers */
	struct wt_batch batch;
	char *hostile; /* the text that was put in */
};

static bool rows_load(struct stream *stream, const struct block *block, struct rows *rows)
{
	uint64_t *heads[3];

	*rows = (struct rows){0};
	if (wt_reader_decode(stream->reader, block->number, WT_ALL_FIELDS, &rows->batch, NULL))
		return false;
	rows->kind = rows->batch.kind;
	rows->columns = 3u + rows->kind->field_count;
	rows->count = rows->batch.rows;
	heads[0] = rows->batch.time;
	heads[1] = rows->batch.track;
	heads[2] = rows->batch.seq;
	for (size_t i = 0; i < rows->columns; i++) {
		size_t bytes = rows->count * sizeof(uint64_t);
		const uint64_t *from = i < 3 ? heads[i] : rows->batch.values[i - 3];

		rows->values[i] = calloc(rows->count, sizeof(uint64_t));
		must(rows->values[i], "out of memory");
		if (i >= 3 && wt_type_is_inline(rows->kind->fields[i - 3].type)) {
			rows->texts[i] = calloc(rows->count, sizeof(struct wt_text));
			must(rows->texts[i], "out of memory");
			for (uint32_t row = 0; row < rows->count; row++) {
				const uint32_t *at = rows->batch.text_at[i - 3] + row;

				rows->texts[i][row] = (struct wt_text){
					rows->batch.text[i - 3] + at[0], at[1] - at[0]};
			}
		} else if (from) {
			memcpy(rows->values[i], from, bytes);
		}
	}
	return true;
}

static void rows_release(struct rows *rows)
{
	for (size_t i = 0; i < rows->columns; i++) {
		free(rows->values[i]);
		free(rows->texts[i]);
	}
	free(rows->hostile);
	wt_batch_release(&rows->batch);
}

/* ---- Encoding -------------------------------------------------------------------------------- */

static void put_planes(struct wti_buf *out, const uint64_t *values, uint32_t count)
{
	for (unsigned plane = 0; plane < 8; plane++) {
		wti_buf_byte(out, WTI_PLANE_RAW);
		for (uint32_t i = 0; i < count; i++)
			wti_buf_byte(out, (uint8_t)(values[i] >> 8 * plane));
	}
}

static void put_column(struct stream *stream, struct wti_buf *out, struct rows *rows, size_t column)
{
	uint8_t head[WTI_COLUMN_HEAD_BYTES] = {0};
	const struct wt_text *texts = rows->texts[column];
	struct wti_buf body, all;

	wti_buf_init(&body, WTI_PAYLOAD_MAX);
	wti_buf_init(&all, WTI_TEXT_BLOCK_MAX);
	for (uint32_t i = 0; texts && i < rows->count; i++) {
		if (wti_buf_append(&all, texts[i].data, texts[i].bytes)) {
			wti_buf_clear(&all); /* too much together: none, then */
			memset(rows->values[column], 0, rows->count * sizeof(uint64_t));
			break;
		}
		rows->values[column][i] = texts[i].bytes;
	}
	put_planes(&body, rows->values[column], rows->count);
	if (texts)
		must(!wti_chunk_write(&body, NULL, 0, all.data, all.bytes), "a text is too large");
	head[0] = texts ? WTI_ENCODING_TEXT : WTI_ENCODING_NUMBERS;
	head[3] = 8;
	wti_put32(head + 4, (uint32_t)body.bytes);
	wti_buf_append(out, head, sizeof(head));
	wti_buf_append(out, body.data, body.bytes);
	wti_buf_release(&body);
	wti_buf_release(&all);
}

static uint64_t filter_of(const uint64_t *ids, uint32_t count)
{
	uint64_t filter = 0;

	for (uint32_t i = 0; i < count; i++)
		filter |= 1ull << ids[i] % 64;
	return filter;
}

/* What the header has to say of these rows. */
static void describe(const struct rows *rows, struct wti_block_header *header)
{
	header->rows = rows->count;
	header->time_min = UINT64_MAX;
	header->time_max = 0;
	for (uint32_t i = 0; i < rows->count; i++) {
		uint64_t time = rows->values[0][i];

		header->time_min = time < header->time_min ? time : header->time_min;
		header->time_max = time > header->time_max ? time : header->time_max;
	}
	header->track_filter = filter_of(rows->values[1], rows->count);
	header->name_filter = 0;
	for (size_t i = 3; i < rows->columns; i++) {
		if (rows->kind->fields[i - 3].type == WT_TYPE_NAME) {
			header->name_filter = filter_of(rows->values[i], rows->count);
			break;
		}
	}
}

static void rows_save(struct stream *stream, struct rows *rows, struct block *block)
{
	wti_buf_clear(&block->payload);
	wti_buf_byte(&block->payload, (uint8_t)rows->columns);
	for (size_t i = 0; i < rows->columns; i++)
		put_column(stream, &block->payload, rows, i);
	must(!wti_buf_status(&block->payload), "a block is too large");
	if (!chance_once_in(&stream->chance, 8)) /* otherwise the header speaks of other rows */
		describe(rows, &block->header);
	block->header.rows = rows->count;
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void note(struct stream *stream, const struct rows *rows, const char *what, size_t column)
{
	static const char *const heads[] = {"time", "track", "seq"};

	wti_buf_printf(&stream->said, "%s %s.%s; ", what, rows->kind->name,
		       column < 3 ? heads[column] : rows->kind->fields[column - 3].name);
}

/* Of one row, of some in a row, or of all. */
static void choose_range(struct stream *stream, uint32_t count, uint32_t *ret_from,
			 uint32_t *ret_to)
{
	struct chance *chance = &stream->chance;
	size_t from = chance_below(chance, count);

	*ret_from = (uint32_t)from;
	*ret_to = (uint32_t)from + 1;
	if (chance_once_in(chance, 3)) {
		*ret_from = 0;
		*ret_to = count;
	} else if (chance_once_in(chance, 2)) {
		*ret_to = (uint32_t)(from + 1 + chance_below(chance, count - from));
	}
}

static void change_numbers(struct stream *stream, struct rows *rows, size_t column)
{
	struct chance *chance = &stream->chance;
	uint64_t *values = rows->values[column], value;
	bool fresh = chance_once_in(chance, 3);
	uint32_t from, to;

	choose_range(stream, rows->count, &from, &to);
	value = chance_value(chance, values[from]);
	if (chance_once_in(chance, 4)) /* what another row or another column has */
		value = rows->values[chance_below(chance, rows->columns)]
				    [chance_below(chance, rows->count)];
	for (uint32_t i = from; i < to; i++)
		values[i] = fresh ? chance_value(chance, values[i]) : value;
	note(stream, rows, "values", column);
}

static void change_texts(struct stream *stream, struct rows *rows, size_t column)
{
	struct chance *chance = &stream->chance;
	uint32_t from, to;
	size_t bytes;
	const char *text = chance_text(chance, &bytes);

	if (rows->hostile)
		return;
	rows->hostile = malloc(bytes + 1);
	must(rows->hostile, "out of memory");
	memcpy(rows->hostile, text, bytes);
	choose_range(stream, rows->count, &from, &to);
	for (uint32_t i = from; i < to && i - from < TEXT_COPIES_MAX; i++) {
		struct wt_text *at = &rows->texts[column][i];

		if (at->bytes > 4 && chance_once_in(chance, 2)) { /* it only ends earlier */
			at->bytes = chance_below(chance, at->bytes);
			continue;
		}
		*at = (struct wt_text){rows->hostile, bytes};
	}
	note(stream, rows, "texts", column);
}

static void swap_rows(struct stream *stream, struct rows *rows)
{
	size_t a = chance_below(&stream->chance, rows->count),
	       b = chance_below(&stream->chance, rows->count);
	bool but_time = chance_once_in(&stream->chance, 2);

	for (size_t i = but_time ? 3 : 0; i < rows->columns; i++) {
		uint64_t value = rows->values[i][a];

		rows->values[i][a] = rows->values[i][b];
		rows->values[i][b] = value;
		if (rows->texts[i]) {
			struct wt_text text = rows->texts[i][a];

			rows->texts[i][a] = rows->texts[i][b];
			rows->texts[i][b] = text;
		}
	}
	wti_buf_printf(&stream->said, "swap rows of %s; ", rows->kind->name);
}

/* The rows again and again, or fewer of them. */
static void change_count(struct stream *stream, struct rows *rows)
{
	uint32_t old = rows->count, count = 1 + (uint32_t)chance_below(&stream->chance, old);

	uint32_t most = chance_once_in(&stream->chance, 6) ? WTI_ROWS_MAX : REPEATED_ROWS_MAX;

	if (chance_once_in(&stream->chance, 2) && old < most)
		count = old + 1 + (uint32_t)chance_below(&stream->chance, most - old);
	for (size_t i = 0; i < rows->columns; i++) {
		rows->values[i] = reallocarray(rows->values[i], count, sizeof(uint64_t));
		must(rows->values[i], "out of memory");
		for (uint32_t row = old; row < count; row++)
			rows->values[i][row] = rows->values[i][row % old];
		if (!rows->texts[i])
			continue;
		rows->texts[i] = reallocarray(rows->texts[i], count, sizeof(struct wt_text));
		must(rows->texts[i], "out of memory");
		for (uint32_t row = old; row < count; row++)
			rows->texts[i][row] = rows->texts[i][row % old];
	}
	rows->count = count;
	wti_buf_printf(&stream->said, "%u instead of %u rows of %s; ", count, old,
		       rows->kind->name);
}

static void change_some(struct stream *stream, struct rows *rows)
{
	size_t column = chance_below(&stream->chance, rows->columns);

	switch (chance_below(&stream->chance, 12)) {
	case 0:
		swap_rows(stream, rows);
		break;
	case 1:
		change_count(stream, rows);
		break;
	default:
		if (rows->texts[column])
			change_texts(stream, rows, column);
		else
			change_numbers(stream, rows, column);
	}
}

void change_rows(struct stream *stream, struct block *block)
{
	struct rows rows;

	if (block->number == SIZE_MAX || !rows_load(stream, block, &rows))
		return;
	for (size_t i = 1 + chance_below(&stream->chance, 4); i; i--)
		change_some(stream, &rows);
	rows_save(stream, &rows, block);
	if (chance_once_in(&stream->chance, 10))
		change_bytes(stream, &block->payload);
	rows_release(&rows);
}
