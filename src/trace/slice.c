/* SPDX-License-Identifier: Apache-2.0 */
/* One piece of memory: numbers, then offsets of texts, then texts. */
#include "slice.h"

#include <stdlib.h>
#include <string.h>

static uint32_t text_bytes(const struct wt_batch *batch, int field, uint32_t row)
{
	return batch->text_at[field][row + 1] - batch->text_at[field][row];
}

size_t wti_slice_row_bytes(const struct wt_batch *whole, uint32_t row)
{
	size_t bytes = 3 * sizeof(uint64_t);

	for (int i = 0; i < whole->kind->field_count; i++) {
		if (whole->values[i])
			bytes += sizeof(uint64_t);
		if (whole->text_at[i])
			bytes += sizeof(uint32_t) + text_bytes(whole, i, row);
	}
	return bytes;
}

/* Offsets end with one more than there are rows. */
static size_t all_bytes(const struct wt_batch *whole, const uint32_t *rows, uint32_t count)
{
	size_t bytes = (size_t)whole->kind->field_count * sizeof(uint32_t);

	for (uint32_t i = 0; i < count; i++)
		bytes += wti_slice_row_bytes(whole, rows[i]);
	return bytes;
}

static uint64_t *copy_column(uint64_t **room, const uint64_t *from, const uint32_t *rows,
			     uint32_t count)
{
	uint64_t *to = *room;

	for (uint32_t i = 0; i < count; i++)
		to[i] = from[rows[i]];
	*room += count;
	return to;
}

static void copy_offsets(const struct wt_batch *whole, int field, const uint32_t *rows,
			 uint32_t count, uint32_t *to)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		to[i] = at;
		at += text_bytes(whole, field, rows[i]);
	}
	to[count] = at;
}

static char *copy_texts(const struct wt_batch *whole, int field, const uint32_t *rows,
			uint32_t count, char *to)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t bytes = text_bytes(whole, field, rows[i]);

		if (bytes)
			memcpy(to, whole->text[field] + whole->text_at[field][rows[i]], bytes);
		to += bytes;
	}
	return to;
}

static void copy_all(const struct wt_batch *whole, const uint32_t *rows, uint32_t count,
		     uint64_t *numbers, struct wt_batch *slice)
{
	uint32_t *offsets;
	char *texts;

	slice->time = copy_column(&numbers, whole->time, rows, count);
	slice->track = copy_column(&numbers, whole->track, rows, count);
	slice->seq = copy_column(&numbers, whole->seq, rows, count);
	for (int i = 0; i < whole->kind->field_count; i++)
		if (whole->values[i])
			slice->values[i] = copy_column(&numbers, whole->values[i], rows, count);
	offsets = (uint32_t *)numbers;
	for (int i = 0; i < whole->kind->field_count; i++) {
		if (!whole->text_at[i])
			continue;
		slice->text_at[i] = offsets;
		copy_offsets(whole, i, rows, count, offsets);
		offsets += count + 1;
	}
	texts = (char *)offsets;
	for (int i = 0; i < whole->kind->field_count; i++) {
		if (!whole->text_at[i])
			continue;
		slice->text[i] = texts;
		texts = copy_texts(whole, i, rows, count, texts);
	}
}

int wti_slice_copy(const struct wt_batch *whole, const uint32_t *rows, uint32_t count,
		   struct wt_batch *ret_slice, void **ret_memory)
{
	/* One more, so that an empty text at the end has an address within. */
	void *memory = malloc(all_bytes(whole, rows, count) + 1);

	if (!memory)
		return WT_E_NOMEM;
	*ret_slice = (struct wt_batch){
		.reader = whole->reader,
		.kind = whole->kind,
		.rows = count,
		.in_time_order = true,
	};
	copy_all(whole, rows, count, memory, ret_slice);
	*ret_memory = memory;
	return 0;
}
