/* SPDX-License-Identifier: Apache-2.0 */
/* One function a kind of column: rows of a block in, values at the end of the column out. */
#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather.h"
#include "inspect/core/label.h"
#include "show/call.h"
#include "show/event.h"
#include "show/headings.h"

/* Beyond this, names are looked up by their text each time: ids are meant to be dense. */
#define CODES_MAX (1u << 22)
#define HEX_MAX ((size_t)1 << 25) /* twice what a block has of text */

/* The numbers of the field in this block, or NULL: the stream's kind has no such field. */
static const uint64_t *numbers_of(struct wti_source *source, const struct wti_rows *rows)
{
	const struct wt_batch *batch = rows->first.batch;

	if (source->found_kind != batch->kind) {
		int index = wti_same_field(batch->kind, source->field->name, source->place);

		if (index >= 0 && batch->kind->fields[index].type != source->field->type)
			index = -1; /* another stream means something else by it */
		source->found_kind = batch->kind;
		source->found_index = index;
	}
	return source->found_index < 0 ? NULL : batch->values[source->found_index];
}

/* The row, which has been added, has no value. */
static int set_null(struct wti_column *column, size_t row)
{
	if (column->type == WTI_COLUMN_F64)
		((double *)column->data)[row] = NAN;
	else if (column->type == WTI_COLUMN_I64)
		((int64_t *)column->data)[row] = WTI_NULL_I64;
	else if (column->type == WTI_COLUMN_U64)
		((uint64_t *)column->data)[row] = 0;
	else if (column->type == WTI_COLUMN_TEXT)
		((int32_t *)column->data)[row] = WTI_NULL_CODE;
	else
		((uint32_t *)column->data)[row] = 0;
	return wti_column_null(column, row);
}

/* `count` nulls at the end of the column. */
static int add_nulls(struct wti_column *column, size_t count)
{
	size_t from = column->rows;
	int r = 0;

	if (!wti_column_reserve(column, count))
		return WT_E_NOMEM;
	wti_column_added(column, count);
	for (size_t i = 0; i < count && !r; i++)
		r = set_null(column, from + i);
	return r;
}

/* Rows stand one behind the other, as they do unless tracks or streams interleave. */
static bool in_a_row(const struct wti_rows *rows)
{
	return rows->first.batch->in_time_order &&
	       rows->rows[rows->count - 1] - rows->rows[0] == rows->count - 1;
}

static void copy64(uint64_t *out, const uint64_t *in, const struct wti_rows *rows)
{
	if (in_a_row(rows)) {
		memcpy(out, in + rows->rows[0], rows->count * sizeof(*out));
		return;
	}
	for (size_t i = 0; i < rows->count; i++)
		out[i] = in[rows->rows[i]];
}

static void copy32(uint32_t *out, const uint64_t *in, const struct wti_rows *rows)
{
	if (in_a_row(rows)) {
		in += rows->rows[0];
		for (size_t i = 0; i < rows->count; i++)
			out[i] = (uint32_t)in[i];
		return;
	}
	for (size_t i = 0; i < rows->count; i++)
		out[i] = (uint32_t)in[rows->rows[i]];
}

static int put64(struct wti_column *column, const uint64_t *in, const struct wti_rows *rows)
{
	uint64_t *out = wti_column_reserve(column, rows->count);

	if (!out)
		return WT_E_NOMEM;
	copy64(out, in, rows);
	wti_column_added(column, rows->count);
	return 0;
}

static int put32(struct wti_column *column, const uint64_t *in, const struct wti_rows *rows)
{
	uint32_t *out = wti_column_reserve(column, rows->count);

	if (!out)
		return WT_E_NOMEM;
	copy32(out, in, rows);
	wti_column_added(column, rows->count);
	return 0;
}

/* ---- What every event has -------------------------------------------------------------------- */

int wti_fill_time(struct wti_source *source, const struct wti_rows *rows)
{
	int64_t *out = wti_column_reserve(source->column, rows->count);

	if (!out)
		return WT_E_NOMEM;
	memcpy(out, rows->times_ns, rows->count * sizeof(*out));
	wti_column_added(source->column, rows->count);
	return 0;
}

int wti_fill_ticks(struct wti_source *source, const struct wti_rows *rows)
{
	return put64(source->column, rows->first.batch->time, rows);
}

int wti_fill_stream(struct wti_source *source, const struct wti_rows *rows)
{
	uint32_t *out = wti_column_reserve(source->column, rows->count);

	if (!out)
		return WT_E_NOMEM;
	for (size_t i = 0; i < rows->count; i++)
		out[i] = (uint32_t)rows->first.stream;
	wti_column_added(source->column, rows->count);
	return 0;
}

int wti_fill_track(struct wti_source *source, const struct wti_rows *rows)
{
	return put32(source->column, rows->first.batch->track, rows);
}

int wti_fill_seq(struct wti_source *source, const struct wti_rows *rows)
{
	return put64(source->column, rows->first.batch->seq, rows);
}

static int track_code(struct wti_source *source, const struct wti_rows *rows, uint32_t track,
		      int32_t *ret_code)
{
	size_t stream = rows->first.stream;
	uint64_t *slot = wti_map_number(&source->tracks, (uint64_t)stream << 32 | track);
	char label[WTI_LABEL_BYTES];
	int r = 0;

	if (!slot)
		return WT_E_NOMEM;
	if (!*slot) {
		r = wti_column_code(source->column,
				    wti_label_track(label, rows->first.trace, stream, track),
				    ret_code);
		*slot = r ? 0 : (uint64_t)*ret_code + 1;
	} else {
		*ret_code = (int32_t)(*slot - 1);
	}
	return r;
}

int wti_fill_track_name(struct wti_source *source, const struct wti_rows *rows)
{
	const uint64_t *tracks = rows->first.batch->track;
	int32_t *out = wti_column_reserve(source->column, rows->count);
	int r = out ? 0 : WT_E_NOMEM;

	for (size_t i = 0; i < rows->count && !r; i++) {
		uint64_t track = tracks[rows->rows[i]];

		if (i && track == tracks[rows->rows[i - 1]])
			out[i] = out[i - 1];
		else
			r = track_code(source, rows, (uint32_t)track, &out[i]);
	}
	if (!r)
		wti_column_added(source->column, rows->count);
	return r;
}

/* ---- Fields ---------------------------------------------------------------------------------- */

int wti_fill_bits32(struct wti_source *source, const struct wti_rows *rows)
{
	const uint64_t *in = numbers_of(source, rows);

	return in ? put32(source->column, in, rows) : add_nulls(source->column, rows->count);
}

int wti_fill_bits64(struct wti_source *source, const struct wti_rows *rows)
{
	const uint64_t *in = numbers_of(source, rows);

	return in ? put64(source->column, in, rows) : add_nulls(source->column, rows->count);
}

/* 64 bits that are null where a flag beside them says that they were not measured. */
int wti_fill_measured(struct wti_source *source, const struct wti_rows *rows)
{
	size_t from = source->column->rows;
	int r = wti_fill_bits64(source, rows);
	const struct wt_batch *batch = rows->first.batch;
	uint64_t flag = source->found_index < 0
				? 0
				: wti_event_unread_flag(batch->kind, source->found_index);
	const uint64_t *flags = flag ? batch->values[WT_TENSOR_FIELD_FLAGS] : NULL;

	for (size_t i = 0; flags && i < rows->count && !r; i++)
		if (flags[rows->rows[i]] & flag)
			r = set_null(source->column, from + i);
	return r;
}

static double number_of(const struct wti_shown *shown)
{
	switch (shown->type) {
	case WTI_SHOWN_BOOL:
		return shown->u != 0;
	case WTI_SHOWN_UINT:
		return (double)shown->u;
	case WTI_SHOWN_FLOAT:
		return shown->f;
	default:
		return (double)shown->i;
	}
}

/* Into a row that has been added. */
static int set_shown(struct wti_column *column, size_t row, const struct wti_shown *shown)
{
	bool is_text = column->type == WTI_COLUMN_TEXT;

	/* Hashes are no numbers, and call sites that nothing defines are no texts. */
	if (shown->type == WTI_SHOWN_ABSENT || shown->type == WTI_SHOWN_HASH ||
	    is_text != (shown->type == WTI_SHOWN_TEXT))
		return set_null(column, row);
	if (is_text)
		return wti_column_code(column, shown->text, (int32_t *)column->data + row);
	if (column->type == WTI_COLUMN_I64)
		((int64_t *)column->data)[row] = shown->i;
	else
		((double *)column->data)[row] = number_of(shown);
	return 0;
}

/* Fields whose meaning depends on others, as the command line shows them. */
int wti_fill_shown(struct wti_source *source, const struct wti_rows *rows)
{
	struct wti_column *column = source->column;
	struct wt_event event = rows->first;
	size_t from = column->rows;
	struct wti_shown shown;
	int r = 0;

	if (!numbers_of(source, rows))
		return add_nulls(column, rows->count);
	if (!wti_column_reserve(column, rows->count))
		return WT_E_NOMEM;
	wti_column_added(column, rows->count);
	for (size_t i = 0; i < rows->count && !r; i++) {
		event.row = rows->rows[i];
		event.ticks = event.batch->time[event.row];
		event.time_ns = rows->times_ns[i];
		wti_event_field(&shown, &event, source->found_index);
		r = set_shown(column, from + i, &shown);
	}
	return r;
}

/* The numbers that the names of a stream have in the column; NULL without memory. */
static uint32_t *codes_of(struct wti_source *source, const struct wti_rows *rows,
			  uint32_t *ret_count)
{
	uint32_t count = wt_reader_string_count(rows->first.reader);
	size_t streams = wt_trace_stream_count(rows->first.trace);
	size_t stream = rows->first.stream;

	*ret_count = count < CODES_MAX ? count : CODES_MAX;
	if (!source->codes)
		source->codes = calloc(streams, sizeof(*source->codes));
	if (source->codes && !source->codes[stream])
		source->codes[stream] = calloc(*ret_count + 1u, sizeof(uint32_t));
	return source->codes ? source->codes[stream] : NULL;
}

int wti_fill_name(struct wti_source *source, const struct wti_rows *rows)
{
	const uint64_t *in = numbers_of(source, rows);
	uint32_t known;
	uint32_t *codes = codes_of(source, rows, &known);
	int32_t *out = wti_column_reserve(source->column, rows->count);
	int r = codes && out ? 0 : WT_E_NOMEM;

	if (!in)
		return add_nulls(source->column, rows->count);
	for (size_t i = 0; i < rows->count && !r; i++) {
		uint64_t id = in[rows->rows[i]];

		if (id < known && codes[id]) {
			out[i] = (int32_t)(codes[id] - 1);
			continue;
		}
		r = wti_column_code(source->column,
				    wt_reader_string(rows->first.reader, (uint32_t)id), &out[i]);
		if (!r && id < known)
			codes[id] = (uint32_t)out[i] + 1;
	}
	if (!r)
		wti_column_added(source->column, rows->count);
	return r;
}

static int enum_code(struct wti_source *source, const struct wt_field *field, uint64_t value,
		     int32_t *ret_code)
{
	char number[24];

	if (value < field->enum_count)
		return wti_column_code(source->column,
				       (struct wt_text){field->enum_names[value],
							strlen(field->enum_names[value])},
				       ret_code);
	/* Appended since this schema was written: by its number. */
	return wti_column_code(source->column,
			       (struct wt_text){number, (size_t)snprintf(number, sizeof(number),
									 "%" PRIu64, value)},
			       ret_code);
}

int wti_fill_enum(struct wti_source *source, const struct wti_rows *rows)
{
	const uint64_t *in = numbers_of(source, rows);
	int32_t *out = wti_column_reserve(source->column, rows->count);
	int32_t codes[256];
	const struct wt_field *field;
	int r = out ? 0 : WT_E_NOMEM;

	if (!in)
		return add_nulls(source->column, rows->count);
	field = &rows->first.kind->fields[source->found_index];
	memset(codes, 0xff, sizeof(codes));
	for (size_t i = 0; i < rows->count && !r; i++) {
		uint64_t value = in[rows->rows[i]];

		if (value >= 256) {
			r = enum_code(source, field, value, &out[i]);
			continue;
		}
		if (codes[value] < 0)
			r = enum_code(source, field, value, &codes[value]);
		out[i] = codes[value];
	}
	if (!r)
		wti_column_added(source->column, rows->count);
	return r;
}

/* `hex`: bytes become two digits each in it; NULL: they are text. */
static int fill_inline(struct wti_source *source, const struct wti_rows *rows, struct wti_buf *hex)
{
	const struct wt_batch *batch = rows->first.batch;
	int32_t *out = wti_column_reserve(source->column, rows->count);
	const uint32_t *at;
	int r = out ? 0 : WT_E_NOMEM;

	if (!numbers_of(source, rows) || !batch->text_at[source->found_index])
		return add_nulls(source->column, rows->count);
	at = batch->text_at[source->found_index];
	for (size_t i = 0; i < rows->count && !r; i++) {
		uint32_t row = rows->rows[i];
		struct wt_text text = {batch->text[source->found_index] + at[row],
				       at[row + 1] - at[row]};

		if (hex) {
			wti_buf_clear(hex);
			wti_buf_hex(hex, text.data, text.bytes);
			text = (struct wt_text){(const char *)hex->data, hex->bytes};
			r = wti_buf_status(hex);
		}
		if (!r)
			r = wti_column_code(source->column, text, &out[i]);
	}
	if (!r)
		wti_column_added(source->column, rows->count);
	return r;
}

int wti_fill_text(struct wti_source *source, const struct wti_rows *rows)
{
	return fill_inline(source, rows, NULL);
}

int wti_fill_hex(struct wti_source *source, const struct wti_rows *rows)
{
	struct wti_buf hex;
	int r;

	wti_buf_init(&hex, HEX_MAX);
	r = fill_inline(source, rows, &hex);
	wti_buf_release(&hex);
	return r;
}

int wti_fill_call(struct wti_source *source, const struct wti_rows *rows)
{
	int32_t *out = wti_column_reserve(source->column, rows->count);
	struct wt_event event = rows->first;
	struct wti_buf text;
	int r = out ? 0 : WT_E_NOMEM;

	wti_buf_init(&text, WTI_CALL_TEXT_MAX);
	for (size_t i = 0; i < rows->count && !r; i++) {
		event.row = rows->rows[i];
		event.ticks = event.batch->time[event.row];
		event.time_ns = rows->times_ns[i];
		wti_buf_clear(&text);
		wti_put_call(&text, &event);
		r = wti_buf_status(&text);
		if (!r)
			r = wti_column_code(source->column,
					    (struct wt_text){(const char *)text.data, text.bytes},
					    &out[i]);
	}
	wti_buf_release(&text);
	if (!r)
		wti_column_added(source->column, rows->count);
	return r;
}

/* ---- Context --------------------------------------------------------------------------------- */

static int change_text(struct wti_source *source, const struct wti_change *change,
		       int32_t *ret_code)
{
	char scratch[40];
	double number;
	int bytes;

	switch (change->type) {
	case WT_VALUE_TYPE_BOOL:
		bytes = snprintf(scratch, sizeof(scratch), "%s", change->bits ? "true" : "false");
		break;
	case WT_VALUE_TYPE_INT:
		bytes = snprintf(scratch, sizeof(scratch), "%" PRId64, (int64_t)change->bits);
		break;
	case WT_VALUE_TYPE_FLOAT:
		memcpy(&number, &change->bits, sizeof(number));
		bytes = snprintf(scratch, sizeof(scratch), "%.17g", number);
		break;
	case WT_VALUE_TYPE_HASH:
		bytes = snprintf(scratch, sizeof(scratch), "0x%016" PRIx64, change->bits);
		break;
	default:
		return wti_column_code(
			source->column,
			(struct wt_text){(const char *)source->variable->texts.data + change->text,
					 change->text_bytes},
			ret_code);
	}
	return wti_column_code(source->column, (struct wt_text){scratch, (size_t)bytes}, ret_code);
}

/* Into a row that has been added. */
static int set_change(struct wti_source *source, size_t row, const struct wti_change *change)
{
	struct wti_column *column = source->column;
	int64_t whole =
		change->type == WT_VALUE_TYPE_BOOL ? change->bits != 0 : (int64_t)change->bits;

	if (column->type == WTI_COLUMN_TEXT)
		return change_text(source, change, (int32_t *)column->data + row);
	if (column->type == WTI_COLUMN_F64 && change->type != WT_VALUE_TYPE_FLOAT)
		((double *)column->data)[row] = (double)whole;
	else
		((int64_t *)column->data)[row] = whole;
	return 0;
}

int wti_fill_variable(struct wti_source *source, const struct wti_rows *rows)
{
	const struct wt_batch *batch = rows->first.batch;
	struct wti_column *column = source->column;
	size_t from = column->rows;
	int r = 0;

	if (!wti_column_reserve(column, rows->count))
		return WT_E_NOMEM;
	wti_column_added(column, rows->count);
	for (size_t i = 0; i < rows->count && !r; i++) {
		uint32_t row = rows->rows[i];
		const struct wti_change *change = wti_variable_at(
			source->variable, rows->first.stream, batch->track[row], batch->time[row]);

		r = change ? set_change(source, from + i, change) : set_null(column, from + i);
	}
	return r;
}
