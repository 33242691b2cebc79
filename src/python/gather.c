/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a table: columns by name, what has to be decoded for them, rows block by block. */
#include "gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "show/event.h"
#include "show/headings.h"

#define NAME_MAX_BYTES 256
#define TRACKS_MAX ((size_t)1 << 20)

static const struct wti_source heads[] = {
	{.name = "time_ns",
	 .unit = "ns",
	 .doc = "since the start of the run",
	 .type = WTI_COLUMN_I64,
	 .fill = wti_fill_time},
	{.name = "stream",
	 .unit = "",
	 .doc = "index of the stream, one a process",
	 .type = WTI_COLUMN_U32,
	 .fill = wti_fill_stream},
	{.name = "track",
	 .unit = "",
	 .doc = "thread or queue, within its stream",
	 .type = WTI_COLUMN_U32,
	 .fill = wti_fill_track},
	{.name = "seq",
	 .unit = "",
	 .doc = "sequence number within the track",
	 .type = WTI_COLUMN_U64,
	 .fill = wti_fill_seq},
};

static const struct wti_source extras[] = {
	{.name = "ticks",
	 .unit = "ticks",
	 .doc = "time stamp as recorded",
	 .type = WTI_COLUMN_U64,
	 .fill = wti_fill_ticks},
	{.name = "track_name",
	 .unit = "",
	 .doc = "the track by name",
	 .type = WTI_COLUMN_TEXT,
	 .fill = wti_fill_track_name},
};

const struct wt_kind *wti_trace_kind(const struct wt_trace *trace, const char *name)
{
	const struct wt_kind *best = NULL;

	for (size_t i = 0; i < wt_trace_stream_count(trace); i++) {
		const struct wt_reader *reader = wt_trace_stream(trace, i);

		for (size_t j = 0; j < wt_reader_kind_count(reader); j++) {
			const struct wt_kind *kind = wt_reader_kind_at(reader, j);

			if (!strcmp(kind->name, name) &&
			    (!best || kind->field_count > best->field_count))
				best = kind;
		}
	}
	return best ? best : wt_kind_by_name(name);
}

int wti_check_kind(const struct wt_trace *trace, const char *name, struct wt_err *err)
{
	const char *names[256];
	size_t count = 0;
	const char *near;

	if (wti_trace_kind(trace, name))
		return 0;
	for (; count < wt_kind_builtin_count() && count < sizeof(names) / sizeof(names[0]); count++)
		names[count] = wt_kind_builtin_at(count)->name;
	near = wti_suggest(name, names, count);
	if (near)
		return wti_err(err, WT_E_ARG, "unknown kind '%.64s'; did you mean '%s'?", name,
			       near);
	return wti_err(err, WT_E_ARG, "unknown kind '%.64s'; run.kinds lists those of the run",
		       name);
}

/* ---- Fields as columns ----------------------------------------------------------------------- */

static int index_of(const struct wt_kind *kind, const struct wt_field *field)
{
	return (int)(field - kind->fields);
}

/* A value whose type stands in another field. */
static bool is_typed(const struct wt_kind *kind, const struct wt_field *field)
{
	return wti_event_value_type(kind, index_of(kind, field)) >= 0;
}

/* The memory of a system call, which is shown as the whole call. */
static bool is_call_text(const struct wt_kind *kind, const struct wt_field *field)
{
	return kind->number == WT_KIND_SYSCALL && index_of(kind, field) == WT_SYSCALL_FIELD_TEXT;
}

static struct wti_source of_field(const struct wt_kind *kind, const struct wt_field *field)
{
	static const struct {
		enum wti_column_type type;
		wti_fill fill;
	} plain[] = {
		[WT_TYPE_U32] = {WTI_COLUMN_U32, wti_fill_bits32},
		[WT_TYPE_U64] = {WTI_COLUMN_U64, wti_fill_bits64},
		[WT_TYPE_I32] = {WTI_COLUMN_I32, wti_fill_bits32},
		[WT_TYPE_I64] = {WTI_COLUMN_I64, wti_fill_bits64},
		[WT_TYPE_F64] = {WTI_COLUMN_F64, wti_fill_bits64},
		[WT_TYPE_NAME] = {WTI_COLUMN_TEXT, wti_fill_name},
		[WT_TYPE_HASH] = {WTI_COLUMN_U64, wti_fill_bits64},
		[WT_TYPE_TICKS] = {WTI_COLUMN_I64, wti_fill_shown},
		[WT_TYPE_STR] = {WTI_COLUMN_TEXT, wti_fill_text},
		[WT_TYPE_ENUM] = {WTI_COLUMN_TEXT, wti_fill_enum},
		[WT_TYPE_BYTES] = {WTI_COLUMN_TEXT, wti_fill_hex},
	};
	struct wti_source source = {.unit = field->unit, .doc = field->doc, .field = field};

	source.type = plain[field->type].type;
	source.fill = plain[field->type].fill;
	if (field->type == WT_TYPE_TICKS || !strcmp(field->unit, "ticks")) {
		source.type = WTI_COLUMN_I64;
		source.unit = "ns";
		source.fill = wti_fill_shown;
	} else if (is_typed(kind, field)) {
		source.type = WTI_COLUMN_F64;
		source.fill = wti_fill_shown;
	} else if (wti_event_is_site(kind, index_of(kind, field))) {
		source.type = WTI_COLUMN_TEXT;
		source.fill = wti_fill_shown;
	} else if (is_call_text(kind, field)) {
		source.fill = wti_fill_call;
	} else if (wti_event_unread_flag(kind, index_of(kind, field))) {
		source.fill = wti_fill_measured;
	}
	return source;
}

/* The field as it was written, under a name of its own. */
static struct wti_source of_bits(const struct wt_field *field)
{
	return (struct wti_source){.unit = field->unit,
				   .doc = field->doc,
				   .field = field,
				   .type = WTI_COLUMN_U64,
				   .fill = wti_fill_bits64};
}

static int add(struct wti_gather *gather, const char *name, const struct wti_source *source,
	       struct wt_err *err)
{
	struct wti_source *added = &gather->sources[gather->count];

	if (gather->count == WTI_GATHER_COLUMNS_MAX)
		return wti_err(err, WT_E_LIMIT, "more than %u columns", WTI_GATHER_COLUMNS_MAX);
	*added = *source;
	added->name = strdup(name);
	if (!added->name)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	wti_map_init(&added->tracks, TRACKS_MAX);
	gather->count++;
	return 0;
}

/* What wti_fill_shown() reads besides the field itself. */
static void need(struct wti_gather *gather, const struct wt_kind *kind,
		 const struct wt_field *field)
{
	int index = index_of(kind, field);
	int type = wti_event_value_type(kind, index);

	gather->fields |= 1u << index;
	if (type >= 0)
		gather->fields |= 1u << type;
	if (kind->number == WT_KIND_DEVICE_OP && field->type == WT_TYPE_TICKS)
		gather->fields |= 1u << WT_DEVICE_OP_FIELD_CLOCK;
	if (wti_event_unread_flag(kind, index))
		gather->fields |= 1u << WT_TENSOR_FIELD_FLAGS;
	if (is_call_text(kind, field))
		gather->fields = WT_ALL_FIELDS;
}

static int add_field(struct wti_gather *gather, const struct wt_kind *kind,
		     const struct wt_field *field, const char *name, struct wti_source source,
		     struct wt_err *err)
{
	need(gather, kind, field);
	source.place = index_of(kind, field);
	return add(gather, name, &source, err);
}

/* ---- Which columns --------------------------------------------------------------------------- */

static int add_defaults(struct wti_gather *gather, const struct wt_kind *kind,
			const struct wti_headings *headings, struct wt_err *err)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]) && !r; i++)
		r = add(gather, heads[i].name, &heads[i], err);
	for (int i = 0; i < kind->field_count && !r; i++) {
		const struct wt_field *field = &kind->fields[i];
		const char *name = wti_headings_name(headings, i);
		char bits[NAME_MAX_BYTES];

		r = add_field(gather, kind, field, name, of_field(kind, field), err);
		snprintf(bits, sizeof(bits), "%s_bits", name);
		if (!r && is_typed(kind, field))
			r = add_field(gather, kind, field, bits, of_bits(field), err);
	}
	return r;
}

/* `name` is the field's with `suffix` behind it. */
static bool is_variant(const char *name, const struct wt_field *field, const char *suffix)
{
	size_t bytes = strlen(field->name);

	return !strncmp(name, field->name, bytes) && !strcmp(name + bytes, suffix);
}

static int unknown(const struct wt_kind *kind, const char *name, struct wt_err *err)
{
	const char *names[WT_FIELDS_MAX];
	size_t count = 0;
	const char *near;

	for (; count < kind->field_count; count++)
		names[count] = kind->fields[count].name;
	near = wti_suggest(name, names, count);
	if (near)
		return wti_err(err, WT_E_ARG, "no field '%.64s' in '%s'; did you mean '%s'?", name,
			       kind->name, near);
	return wti_err(err, WT_E_ARG, "no field '%.64s' in '%s'; run.kinds lists them", name,
		       kind->name);
}

static int add_named(struct wti_gather *gather, const struct wt_kind *kind,
		     const struct wti_headings *headings, const char *name, struct wt_err *err)
{
	int index = wti_headings_find(headings, kind, name);

	if (index >= 0)
		return add_field(gather, kind, &kind->fields[index], name,
				 of_field(kind, &kind->fields[index]), err);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		if (!strcmp(heads[i].name, name))
			return add(gather, name, &heads[i], err);
	}
	for (size_t i = 0; i < sizeof(extras) / sizeof(extras[0]); i++) {
		if (!strcmp(extras[i].name, name))
			return add(gather, name, &extras[i], err);
	}
	for (int i = 0; i < kind->field_count; i++) {
		const struct wt_field *field = &kind->fields[i];

		if ((field->type == WT_TYPE_TICKS && is_variant(name, field, "_ticks")) ||
		    (is_typed(kind, field) && is_variant(name, field, "_bits")))
			return add_field(gather, kind, field, name, of_bits(field), err);
	}
	return unknown(kind, name, err);
}

static int add_context(struct wti_gather *gather, const char *key, struct wt_err *err)
{
	struct wti_source source = {.unit = "", .doc = "context", .fill = wti_fill_variable};
	int r;

	source.variable = calloc(1, sizeof(*source.variable));
	if (!source.variable)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	r = wti_variable_read(source.variable, gather->trace, key, err);
	source.type = r ? WTI_COLUMN_I64 : source.variable->type;
	/* Stages are texts, even before anybody has set one. */
	if (!r && !strcmp(key, "stage"))
		source.type = WTI_COLUMN_TEXT;
	if (!r)
		r = add(gather, key, &source, err);
	if (r) {
		wti_variable_release(source.variable);
		free(source.variable);
	}
	return r;
}

/* A kind of the same name that has its fields in another order in some stream. */
static bool is_the_same_everywhere(const struct wt_trace *trace, const struct wt_kind *kind)
{
	for (size_t i = 0; i < wt_trace_stream_count(trace); i++) {
		const struct wt_reader *reader = wt_trace_stream(trace, i);

		for (size_t j = 0; j < wt_reader_kind_count(reader); j++) {
			const struct wt_kind *other = wt_reader_kind_at(reader, j);

			if (other == kind || strcmp(other->name, kind->name) != 0)
				continue;
			for (int f = 0; f < other->field_count; f++) {
				if (strcmp(other->fields[f].name, kind->fields[f].name) != 0)
					return false;
			}
		}
	}
	return true;
}

/* Adds the columns of the kind. Names are unique; columns that all kinds have come first. */
static int add_columns(struct wti_gather *gather, const struct wt_kind *kind, char *const *names,
		       size_t name_count, struct wt_err *err)
{
	const char *taken[sizeof(heads) / sizeof(heads[0]) + 1] = {NULL};
	struct wti_headings headings;
	int r;

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		taken[i] = heads[i].name;
	wti_headings_init(&headings, kind, WTI_HEADINGS_KEYS, taken);
	r = wti_headings_status(&headings) ? wti_err(err, WT_E_NOMEM, "out of memory") : 0;
	if (!r && !names)
		r = add_defaults(gather, kind, &headings, err);
	for (size_t i = 0; i < name_count && !r; i++)
		r = add_named(gather, kind, &headings, names[i], err);
	wti_headings_release(&headings);
	return r;
}

int wti_gather_init(struct wti_gather *gather, const struct wt_trace *trace, const char *kind_name,
		    char *const *names, size_t name_count, char *const *contexts,
		    size_t context_count, struct wt_err *err)
{
	const struct wt_kind *kind = wti_trace_kind(trace, kind_name);
	int r;

	*gather = (struct wti_gather){.trace = trace, .bytes_max = SIZE_MAX};
	if (!kind)
		return wti_check_kind(trace, kind_name, err);
	if (names && !name_count && !context_count)
		return wti_err(err, WT_E_ARG, "no fields are asked for");
	r = add_columns(gather, kind, names, name_count, err);
	for (size_t i = 0; i < context_count && !r; i++)
		r = add_context(gather, contexts[i], err);
	if (!is_the_same_everywhere(trace, kind))
		gather->fields = WT_ALL_FIELDS;
	if (r)
		wti_gather_release(gather);
	return r;
}

/* ---- Gathering ------------------------------------------------------------------------------- */

static void forget_codes(struct wti_gather *gather, struct wti_source *source)
{
	for (size_t i = 0; source->codes && i < wt_trace_stream_count(gather->trace); i++)
		free(source->codes[i]);
	free(source->codes);
	source->codes = NULL;
	wti_map_release(&source->tracks);
	wti_map_init(&source->tracks, TRACKS_MAX);
}

void wti_gather_release(struct wti_gather *gather)
{
	for (size_t i = 0; i < gather->count; i++) {
		struct wti_source *source = &gather->sources[i];

		forget_codes(gather, source);
		wti_map_release(&source->tracks);
		wti_column_unref(source->column);
		if (source->variable)
			wti_variable_release(source->variable);
		free(source->variable);
		free(source->name);
	}
	gather->count = 0;
}

int wti_gather_begin(struct wti_gather *gather, struct wt_err *err)
{
	for (size_t i = 0; i < gather->count; i++) {
		struct wti_source *source = &gather->sources[i];

		wti_column_unref(source->column);
		forget_codes(gather, source); /* they are numbers of the old column */
		source->column =
			wti_column_new(source->type, source->name, source->unit, source->doc);
		if (!source->column)
			return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	return 0;
}

/* Memory that is never written to costs nothing; what is left over is given back in the end. */
void wti_gather_expect(struct wti_gather *gather, size_t rows)
{
	for (size_t i = 0; i < gather->count; i++) {
		struct wti_column *column = gather->sources[i].column;
		size_t width = wti_column_format(column->type)->width;

		if (rows && gather->bytes_max / rows / gather->count > width)
			wti_column_reserve(column, rows);
	}
}

size_t wti_trace_rows(const struct wt_trace *trace, const char *name)
{
	size_t rows = 0;

	for (size_t i = 0; i < wt_trace_stream_count(trace); i++) {
		const struct wt_reader *reader = wt_trace_stream(trace, i);

		for (size_t j = 0; j < wt_reader_block_count(reader); j++) {
			const struct wt_block *block = wt_reader_block(reader, j);
			const struct wt_kind *kind = wt_reader_kind(reader, block->kind);

			rows += kind && !strcmp(kind->name, name) ? block->rows : 0;
		}
	}
	return rows;
}

size_t wti_gather_count(const struct wti_gather *gather)
{
	return gather->count ? gather->sources[0].column->rows : 0;
}

static size_t bytes_of(const struct wti_gather *gather)
{
	size_t bytes = 0;

	for (size_t i = 0; i < gather->count; i++)
		bytes += wti_column_bytes(gather->sources[i].column);
	return bytes;
}

int wti_gather_rows(struct wti_gather *gather, const struct wti_rows *rows, struct wt_err *err)
{
	char size[16];

	for (size_t i = 0; i < gather->count; i++) {
		struct wti_source *source = &gather->sources[i];
		int r = source->fill(source, rows);

		if (r == WT_E_LIMIT)
			return wti_err(err, r,
				       "the texts of '%s' are too many for one table; narrow it "
				       "(time, step, fields) or read it in batches",
				       source->name);
		if (r)
			return wti_err(err, r, "out of memory for a table");
	}
	if (bytes_of(gather) > gather->bytes_max)
		return wti_err(err, WT_E_LIMIT,
			       "the table has more than %s; narrow it (time, step, fields) or read "
			       "it in batches",
			       wti_format_bytes(size, gather->bytes_max));
	return 0;
}

void wti_gather_seal(struct wti_gather *gather)
{
	for (size_t i = 0; i < gather->count; i++)
		wti_column_seal(gather->sources[i].column);
}
