/* SPDX-License-Identifier: Apache-2.0 */
/* Growing arrays with validity bits and lists of texts. */
#include "column.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"

#define ROWS_LEAST 64u
#define TEXTS_MAX ((size_t)1 << 28)
#define TEXT_BYTES_MAX ((size_t)INT32_MAX) /* offsets are 32 bits wide */
#define REPLACEMENT "\xef\xbf\xbd"         /* U+FFFD, for bytes that are not UTF-8 */

const struct wti_column_format *wti_column_format(enum wti_column_type type)
{
	static const struct wti_column_format formats[WTI_COLUMN_TYPES] = {
		[WTI_COLUMN_FLAG] = {"uint8", "?", "C", 1},
		[WTI_COLUMN_I32] = {"int32", "i", "i", 4},
		[WTI_COLUMN_U32] = {"uint32", "I", "I", 4},
		[WTI_COLUMN_I64] = {"int64", "q", "l", 8},
		[WTI_COLUMN_U64] = {"uint64", "Q", "L", 8},
		[WTI_COLUMN_F64] = {"float64", "d", "g", 8},
		[WTI_COLUMN_TEXT] = {"text", "i", "i", 4},
	};

	return &formats[type];
}

static void texts_release(struct wti_texts *texts)
{
	wti_buf_release(&texts->bytes);
	wti_buf_release(&texts->scratch);
	wti_map_release(&texts->index);
	free(texts->ends);
	texts->ends = NULL;
}

struct wti_column *wti_column_new(enum wti_column_type type, const char *name, const char *unit,
				  const char *doc)
{
	struct wti_column *column = calloc(1, sizeof(*column));

	if (!column)
		return NULL;
	column->references = 1;
	column->type = type;
	column->name = strdup(name);
	column->unit = strdup(unit);
	column->doc = strdup(doc);
	wti_buf_init(&column->texts.bytes, TEXT_BYTES_MAX);
	wti_buf_init(&column->texts.scratch, TEXT_BYTES_MAX);
	wti_map_init(&column->texts.index, TEXTS_MAX);
	column->texts.ends = calloc(1, sizeof(int32_t));
	/* Takers want to see an address even where there are no rows. */
	if (!column->name || !column->unit || !column->doc || !column->texts.ends ||
	    !wti_column_reserve(column, 1)) {
		wti_column_unref(column);
		return NULL;
	}
	return column;
}

struct wti_column *wti_column_ref(struct wti_column *column)
{
	atomic_fetch_add_explicit(&column->references, 1, memory_order_relaxed);
	return column;
}

void wti_column_unref(struct wti_column *column)
{
	if (!column || atomic_fetch_sub_explicit(&column->references, 1, memory_order_acq_rel) != 1)
		return;
	texts_release(&column->texts);
	free(column->valid);
	free(column->data);
	free(column->name);
	free(column->unit);
	free(column->doc);
	free(column);
}

static size_t bitmap_bytes(size_t rows)
{
	return (rows + 7) / 8;
}

static int grow(struct wti_column *column, size_t rows)
{
	size_t width = wti_column_format(column->type)->width;
	size_t capacity = column->capacity ? column->capacity : ROWS_LEAST;
	void *data;

	/* Room that was asked for at once is made at once. */
	if (capacity < rows)
		capacity += capacity / 2;
	if (capacity < rows)
		capacity = rows;
	data = realloc(column->data, capacity * width);
	if (!data)
		return WT_E_NOMEM;
	column->data = data;
	if (column->valid) {
		uint8_t *valid = realloc(column->valid, bitmap_bytes(capacity));

		if (!valid)
			return WT_E_NOMEM;
		column->valid = valid;
	}
	column->capacity = capacity;
	return 0;
}

void *wti_column_reserve(struct wti_column *column, size_t count)
{
	size_t width = wti_column_format(column->type)->width;

	if (count > SIZE_MAX / 32 - column->rows)
		return NULL;
	if (column->rows + count > column->capacity && grow(column, column->rows + count))
		return NULL;
	return (uint8_t *)column->data + column->rows * width;
}

void wti_column_added(struct wti_column *column, size_t count)
{
	size_t end = column->rows + count;

	for (size_t row = column->rows; column->valid && row < end;) {
		if (row % 8 || end - row < 8) {
			column->valid[row / 8] |= (uint8_t)(1u << row % 8);
			row++;
		} else {
			column->valid[row / 8] = 0xff;
			row += 8;
		}
	}
	column->rows = end;
}

int wti_column_null(struct wti_column *column, size_t row)
{
	if (!column->valid) {
		column->valid = malloc(bitmap_bytes(column->capacity));
		if (!column->valid)
			return WT_E_NOMEM;
		memset(column->valid, 0xff, bitmap_bytes(column->capacity));
	}
	column->null_count += !wti_column_is_null(column, row);
	column->valid[row / 8] &= (uint8_t) ~(1u << row % 8);
	return 0;
}

void wti_column_not_null(struct wti_column *column, size_t row)
{
	if (!wti_column_is_null(column, row))
		return;
	column->valid[row / 8] |= (uint8_t)(1u << row % 8);
	column->null_count--;
}

bool wti_column_is_null(const struct wti_column *column, size_t row)
{
	return column->valid && !(column->valid[row / 8] >> row % 8 & 1);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

struct wt_text wti_utf8_text(struct wti_buf *scratch, struct wt_text text)
{
	size_t at = 0;

	while (at < text.bytes) {
		size_t length = wti_utf8_length(text.data + at, text.bytes - at);

		if (!length)
			break;
		at += length;
	}
	if (at == text.bytes)
		return text;
	wti_buf_clear(scratch);
	for (at = 0; at < text.bytes;) {
		size_t length = wti_utf8_length(text.data + at, text.bytes - at);

		if (length)
			wti_buf_append(scratch, text.data + at, length);
		else
			wti_buf_text(scratch, REPLACEMENT);
		at += length ? length : 1;
	}
	return (struct wt_text){(const char *)scratch->data, scratch->bytes};
}

static int append_text(struct wti_texts *texts, struct wt_text text)
{
	if (wti_grow(&texts->ends, texts->count + 2, &texts->capacity, TEXTS_MAX + 1))
		return WT_E_NOMEM;
	if (wti_buf_append(&texts->bytes, text.data, text.bytes))
		return wti_buf_status(&texts->bytes);
	texts->ends[++texts->count] = (int32_t)texts->bytes.bytes;
	return 0;
}

int wti_column_code(struct wti_column *column, struct wt_text text, int32_t *ret_code)
{
	struct wti_texts *texts = &column->texts;
	uint64_t *slot;
	int r;

	text = wti_utf8_text(&texts->scratch, text);
	if (wti_buf_status(&texts->scratch))
		return wti_buf_status(&texts->scratch);
	slot = wti_map_text(&texts->index, text.data, text.bytes);
	if (!slot)
		return texts->index.count >= TEXTS_MAX ? WT_E_LIMIT : WT_E_NOMEM;
	if (!*slot) {
		r = append_text(texts, text);
		if (r)
			return r;
		*slot = texts->count;
	}
	*ret_code = (int32_t)(*slot - 1);
	return 0;
}

struct wt_text wti_column_text(const struct wti_column *column, int32_t code)
{
	const struct wti_texts *texts = &column->texts;

	if (code < 0 || (size_t)code >= texts->count)
		return (struct wt_text){"", 0};
	return (struct wt_text){(const char *)texts->bytes.data + texts->ends[code],
				(size_t)(texts->ends[code + 1] - texts->ends[code])};
}

void wti_column_seal(struct wti_column *column)
{
	size_t width = wti_column_format(column->type)->width;
	size_t rows = column->rows ? column->rows : 1;
	void *data = realloc(column->data, rows * width);

	if (data)
		column->data = data;
	column->capacity = rows;
	wti_map_release(&column->texts.index);
	wti_buf_release(&column->texts.scratch);
}

size_t wti_column_bytes(const struct wti_column *column)
{
	size_t bytes = column->rows * wti_column_format(column->type)->width;

	return bytes + (column->valid ? bitmap_bytes(column->rows) : 0) +
	       column->texts.bytes.capacity + column->texts.capacity * sizeof(int32_t);
}
