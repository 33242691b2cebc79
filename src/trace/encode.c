/* SPDX-License-Identifier: Apache-2.0 */
/* A column at a time: plan, cut into planes, store each plane in its smallest form. */
#include "encode.h"

#include <stdlib.h>
#include <string.h>

#include "pack.h"
#include "schema.h"

#define PLANE_WORTH_COMPRESSING 64u

int wti_encoder_init(struct wti_encoder *encoder, int level)
{
	*encoder = (struct wti_encoder){
		.zstd = level ? ZSTD_createCCtx() : NULL,
		.level = level,
		.residuals = malloc(sizeof(uint64_t) * WTI_ROWS_SEAL),
	};
	if ((level && !encoder->zstd) || !encoder->residuals) {
		wti_encoder_release(encoder);
		return WT_E_NOMEM;
	}
	return 0;
}

void wti_encoder_release(struct wti_encoder *encoder)
{
	ZSTD_freeCCtx(encoder->zstd);
	free(encoder->residuals);
	*encoder = (struct wti_encoder){0};
}

static bool all_the_same(const uint8_t *plane, uint32_t rows)
{
	return rows < 2 || !memcmp(plane, plane + 1, rows - 1);
}

/* Appends one plane in whichever of its three forms is smallest. It is cut in the place where it
 * will stand if it is kept as it is. */
static int put_plane(struct wti_encoder *encoder, const uint64_t *residuals, uint32_t rows,
		     uint64_t bias, unsigned index, struct wti_buf *out)
{
	uint8_t *at = wti_buf_reserve(out, 1 + (size_t)rows + 5 + ZSTD_compressBound(rows));
	uint8_t *packed_at;
	size_t packed = 0;

	if (!at)
		return wti_buf_status(out);
	wti_pack_plane(residuals, rows, bias, index, at + 1);
	if (all_the_same(at + 1, rows)) {
		at[0] = WTI_PLANE_CONSTANT;
		wti_buf_added(out, 2);
		return 0;
	}
	packed_at = at + 1 + rows;
	if (encoder->level && rows >= PLANE_WORTH_COMPRESSING)
		packed = ZSTD_compressCCtx(encoder->zstd, packed_at, ZSTD_compressBound(rows),
					   at + 1, rows, encoder->level);
	if (packed && !ZSTD_isError(packed) && packed + 4 < rows) {
		at[0] = WTI_PLANE_ZSTD;
		wti_put32(at + 1, (uint32_t)packed);
		memmove(at + 5, packed_at, packed);
		wti_buf_added(out, 5 + packed);
		return 0;
	}
	at[0] = WTI_PLANE_RAW;
	wti_buf_added(out, 1 + (size_t)rows);
	return 0;
}

struct column {
	uint8_t encoding;
	uint8_t transform;
	uint8_t relative_to;
	const uint64_t *values; /* lengths, for text */
	const uint64_t *ref;
	const struct wti_buf *text;
};

/* Which rows stand beside the planes, before them. */
static void put_patches(const struct wti_packing *packing, struct wti_buf *out)
{
	uint8_t bytes[10];

	if (!packing->patch_count)
		return;
	wti_put16(bytes, (uint16_t)packing->patch_count);
	wti_buf_append(out, bytes, 2);
	for (uint32_t i = 0; i < packing->patch_count; i++) {
		wti_put16(bytes, (uint16_t)packing->patches[i].row);
		wti_put64(bytes + 2, packing->patches[i].packed);
		wti_buf_append(out, bytes, sizeof(bytes));
	}
}

static int put_column(struct wti_encoder *encoder, const struct column *column,
		      const struct wti_runs *runs, uint32_t rows, struct wti_buf *out)
{
	const struct wti_pack_input input = {column->transform, rows, column->values, column->ref,
					     runs};
	size_t head_at = out->bytes;
	struct wti_packing packing;
	const uint64_t *residuals = wti_pack_plan(&input, encoder->residuals, &packing);
	uint8_t head[WTI_COLUMN_HEAD_BYTES] = {column->encoding, packing.transform, 0,
					       packing.width};

	if (packing.patch_count)
		head[0] |= WTI_ENCODING_PATCHED;

	if (wti_is_relative(packing.transform))
		head[2] = column->relative_to;
	wti_put64(head + 8, packing.first);
	wti_put64(head + 16, packing.bias);
	wti_buf_append(out, head, sizeof(head));
	put_patches(&packing, out);
	for (unsigned i = 0; i < packing.width; i++)
		put_plane(encoder, residuals, rows, packing.bias, i, out);
	if (column->encoding == WTI_ENCODING_TEXT)
		wti_chunk_write(out, encoder->zstd, encoder->level, column->text->data,
				column->text->bytes);
	if (wti_buf_status(out))
		return wti_buf_status(out);
	wti_put32(out->data + head_at + 4,
		  (uint32_t)(out->bytes - head_at - WTI_COLUMN_HEAD_BYTES));
	return 0;
}

static struct column field_column(const struct wti_columns *columns, int index)
{
	const struct wt_field *field = &columns->kind->fields[index];
	struct column column = {
		.transform = field->transform,
		.relative_to = field->relative_to,
		.values = columns->values[index],
	};

	if (wt_type_is_inline(field->type)) {
		column.encoding = WTI_ENCODING_TEXT;
		column.text = &columns->texts[index];
	}
	if (wti_is_relative(field->transform))
		column.ref = field->relative_to == WT_FIELD_TIME
				     ? columns->time
				     : columns->values[field->relative_to];
	return column;
}

/* Within a run the track is the same, so its first row speaks for it. */
static uint64_t track_filter(const struct wti_columns *columns, const struct wti_runs *runs)
{
	uint64_t filter = 0;

	if (!runs->complete)
		return wti_pack_filter(columns->track, columns->rows);
	for (uint32_t i = 0; i < runs->count; i++)
		filter |= wti_pack_filter(&columns->track[runs->begin[i]], 1);
	return filter;
}

static void summarise(const struct wti_columns *columns, const struct wti_runs *runs,
		      struct wti_block_header *header)
{
	int name_field = wti_kind_name_field(columns->kind);

	wti_pack_bounds(columns->time, columns->rows, &header->time_min, &header->time_max);
	header->track_filter = track_filter(columns, runs);
	header->name_filter =
		name_field < 0 ? 0 : wti_pack_filter(columns->values[name_field], columns->rows);
}

int wti_encode_events(struct wti_encoder *encoder, const struct wti_columns *columns,
		      struct wti_buf *out, struct wti_block_header *ret_header)
{
	const struct column common[3] = {
		{.transform = WT_DELTA, .values = columns->time},
		{.transform = WT_DELTA, .values = columns->track},
		{.transform = WT_DELTA, .values = columns->seq},
	};
	int status = wti_buf_byte(out, (uint8_t)(3 + columns->kind->field_count));
	struct wti_runs runs;

	wti_runs_find(columns->track, columns->rows, &runs);
	for (int i = 0; i < 3 && !status; i++)
		status = put_column(encoder, &common[i], &runs, columns->rows, out);
	for (int i = 0; i < columns->kind->field_count && !status; i++) {
		struct column column = field_column(columns, i);

		status = put_column(encoder, &column, &runs, columns->rows, out);
	}
	if (status)
		return status;
	*ret_header = (struct wti_block_header){
		.type = WTI_BLOCK_EVENTS,
		.kind = columns->kind->number,
		.rows = columns->rows,
	};
	summarise(columns, &runs, ret_header);
	return 0;
}
