/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row is given up at its first element that differs, a column at its first row that does: of a
 * trained tensor hardly anything is looked at twice.
 */
#include "model/units.h"

#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "digest/digest.h"

#define ROW_BYTES_MAX ((uint64_t)4 << 20) /* of which columns are watched */

int wti_units_begin(struct wti_units_watch *watch, const struct wti_model_tensor *tensor,
		    struct wti_model_units *units)
{
	uint64_t columns;

	*watch = (struct wti_units_watch){.units = units, .unit = wti_dtype_bytes(tensor->dtype)};
	*units = (struct wti_model_units){0};
	if (tensor->rank < 2 || !tensor->count || !watch->unit)
		return 0;
	units->rows = tensor->shape[0];
	columns = tensor->count / units->rows;
	if (columns < 2)
		return 0;
	watch->row_bytes = columns * watch->unit;
	if (tensor->dtype >= WT_DTYPE_F16)
		watch->sign = 0x80;
	if (tensor->rank > 2 || units->rows < 2 || watch->row_bytes > ROW_BYTES_MAX)
		return 0;
	units->columns = columns;
	watch->first_row = malloc(watch->row_bytes);
	watch->alive = malloc(columns * sizeof(*watch->alive));
	if (!watch->first_row || !watch->alive)
		return WT_E_NOMEM;
	for (uint64_t i = 0; i < columns; i++)
		watch->alive[i] = (uint32_t)i;
	watch->alive_count = (size_t)columns;
	return 0;
}

/* Negative zeros are zeros. */
static bool is_zero(const struct wti_units_watch *watch, const uint8_t *element)
{
	uint8_t any = element[watch->unit - 1] & (uint8_t)~watch->sign;

	for (size_t i = 0; i + 1 < watch->unit; i++)
		any |= element[i];
	return !any;
}

static bool is_same(const struct wti_units_watch *watch, const uint8_t *a, const uint8_t *b)
{
	return !memcmp(a, b, watch->unit) || (is_zero(watch, a) && is_zero(watch, b));
}

static void end_row(struct wti_units_watch *watch)
{
	struct wti_model_units *units = watch->units;

	if (watch->is_equal) {
		if (!units->zero_rows && !units->equal_rows)
			units->first_row = watch->row;
		if (is_zero(watch, watch->first))
			units->zero_rows++;
		else
			units->equal_rows++;
	}
	if (watch->row)
		watch->alive_count = watch->kept;
	watch->next = watch->kept = 0;
	watch->row++;
	watch->at = 0;
}

/* Columns of this row that lie in the piece. */
static void compare_columns(struct wti_units_watch *watch, const uint8_t *data, size_t bytes)
{
	uint64_t end = watch->at + bytes;

	if (!watch->row) {
		memcpy(watch->first_row + watch->at, data, bytes);
		return;
	}
	for (; watch->next < watch->alive_count; watch->next++) {
		uint32_t column = watch->alive[watch->next];
		uint64_t place = column * watch->unit;

		if (place >= end)
			return;
		if (is_same(watch, watch->first_row + place, data + (place - watch->at)))
			watch->alive[watch->kept++] = column;
	}
}

/* A piece of one row. */
static void take_piece(struct wti_units_watch *watch, const uint8_t *data, size_t bytes)
{
	if (!watch->at) {
		memcpy(watch->first, data, watch->unit);
		watch->is_equal = true;
	}
	for (size_t i = 0; watch->is_equal && i < bytes; i += watch->unit)
		watch->is_equal = is_same(watch, watch->first, data + i);
	if (watch->first_row)
		compare_columns(watch, data, bytes);
	watch->at += bytes;
	if (watch->at == watch->row_bytes)
		end_row(watch);
}

void wti_units_take(struct wti_units_watch *watch, const uint8_t *data, size_t bytes)
{
	while (bytes && watch->row_bytes) {
		uint64_t left = watch->row_bytes - watch->at;
		size_t piece = bytes < left ? bytes : (size_t)left;

		take_piece(watch, data, piece);
		data += piece;
		bytes -= piece;
	}
}

void wti_units_end(struct wti_units_watch *watch)
{
	struct wti_model_units *units = watch->units;

	if (watch->first_row && watch->alive && watch->row == units->rows) {
		for (size_t i = 0; i < watch->alive_count; i++) {
			if (!i)
				units->first_column = watch->alive[i];
			if (is_zero(watch, watch->first_row + watch->alive[i] * watch->unit))
				units->zero_columns++;
			else
				units->equal_columns++;
		}
		units->has_same_rows = watch->alive_count == units->columns;
	}
	free(watch->first_row);
	free(watch->alive);
	watch->first_row = NULL;
	watch->alive = NULL;
}
