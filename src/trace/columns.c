/* SPDX-License-Identifier: Apache-2.0 */
/* Growing the arrays; one piece of memory a kind. */
#include "columns.h"

#include <stdlib.h>

#define ROWS_FIRST 256u
/*
 * Columns must not begin at the same place of a cache's sets: a row that is stored across all of
 * them would throw its own lines out. Hence a few lines between one column and the next.
 */
#define COLUMN_GAP 72u

void wti_columns_init(struct wti_columns *columns, const struct wt_kind *kind)
{
	*columns = (struct wti_columns){.kind = kind};
	for (int i = 0; i < kind->field_count; i++)
		columns->has_text |= wt_type_is_inline(kind->fields[i].type);
}

void wti_columns_release(struct wti_columns *columns)
{
	free(columns->time);
	if (columns->texts) {
		for (int i = 0; i < columns->kind->field_count; i++)
			wti_buf_release(&columns->texts[i]);
	}
	free(columns->texts);
	wti_columns_init(columns, columns->kind);
}

void wti_columns_clear(struct wti_columns *columns)
{
	columns->rows = 0;
	columns->text_bytes = 0;
	for (int i = 0; columns->texts && i < columns->kind->field_count; i++)
		wti_buf_clear(&columns->texts[i]);
}

/* All columns live in one piece of memory that begins with the times. */
static void lay_out(struct wti_columns *columns, uint64_t *memory, uint32_t capacity)
{
	uint64_t **column[3 + WT_FIELDS_MAX] = {&columns->time, &columns->track, &columns->seq};
	int count = 3 + columns->kind->field_count;

	for (int i = 3; i < count; i++)
		column[i] = &columns->values[i - 3];
	for (int i = 0; i < count; i++) {
		uint64_t *to = memory + (size_t)i * (capacity + COLUMN_GAP);

		if (columns->rows)
			memcpy(to, *column[i], sizeof(*to) * columns->rows);
		*column[i] = to;
	}
}

static int make_texts(struct wti_columns *columns)
{
	const struct wt_kind *kind = columns->kind;

	columns->texts = calloc(kind->field_count ? kind->field_count : 1, sizeof(*columns->texts));
	if (!columns->texts)
		return WT_E_NOMEM;
	for (int i = 0; i < kind->field_count; i++)
		wti_buf_init(&columns->texts[i], WTI_TEXT_BLOCK_MAX);
	return 0;
}

int wti_columns_grow(struct wti_columns *columns)
{
	uint32_t capacity = columns->capacity ? columns->capacity * 2 : ROWS_FIRST;
	uint64_t *old = columns->time;
	uint64_t *memory;

	if (!columns->texts && make_texts(columns))
		return WT_E_NOMEM;
	memory = malloc(sizeof(*memory) * (capacity + COLUMN_GAP) *
			(3u + columns->kind->field_count));
	if (!memory)
		return WT_E_NOMEM;
	lay_out(columns, memory, capacity);
	free(old);
	columns->capacity = capacity;
	columns->stride = capacity + COLUMN_GAP;
	return 0;
}

int wti_columns_text(struct wti_columns *columns, int field, uint32_t row, const char *text,
		     size_t bytes)
{
	int status = wti_buf_append(&columns->texts[field], text, bytes);

	if (status)
		return status;
	columns->values[field][row] = bytes;
	columns->text_bytes += bytes;
	return 0;
}

void wti_columns_rollback(struct wti_columns *columns)
{
	columns->text_bytes = 0;
	for (int i = 0; i < columns->kind->field_count; i++) {
		size_t bytes = 0;

		if (!wt_type_is_inline(columns->kind->fields[i].type))
			continue;
		for (uint32_t row = 0; row < columns->rows; row++)
			bytes += columns->values[i][row];
		columns->texts[i].bytes = bytes;
		columns->texts[i].status = 0;
		columns->text_bytes += bytes;
	}
}
