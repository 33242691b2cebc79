/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of this build (generated) and those that a stream describes for itself. */
#include "schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/grow.h"
#include "table.h"

#define SCHEMA_BYTES_MAX ((size_t)4 << 20)
#define SCHEMA_KINDS_MAX 4096

const struct wt_kind *wt_kind_builtin(uint16_t number)
{
	for (unsigned i = 0; i < wti_kind_table_count; i++) {
		if (wti_kind_table[i].number == number)
			return &wti_kind_table[i];
	}
	return NULL;
}

const struct wt_kind *wt_kind_by_name(const char *name)
{
	for (unsigned i = 0; i < wti_kind_table_count; i++) {
		if (!strcmp(wti_kind_table[i].name, name))
			return &wti_kind_table[i];
	}
	return NULL;
}

size_t wt_kind_builtin_count(void)
{
	return wti_kind_table_count;
}

const struct wt_kind *wt_kind_builtin_at(size_t index)
{
	return index < wti_kind_table_count ? &wti_kind_table[index] : NULL;
}

int wt_kind_field(const struct wt_kind *kind, const char *name)
{
	for (int i = 0; i < kind->field_count; i++) {
		if (!strcmp(kind->fields[i].name, name))
			return i;
	}
	return -1;
}

int wti_kind_name_field(const struct wt_kind *kind)
{
	for (int i = 0; i < kind->field_count; i++) {
		if (kind->fields[i].type == WT_TYPE_NAME)
			return i;
	}
	return -1;
}

void wti_schema_init(struct wti_schema *schema)
{
	*schema = (struct wti_schema){0};
	wti_arena_init(&schema->arena, SCHEMA_BYTES_MAX);
}

void wti_schema_release(struct wti_schema *schema)
{
	wti_arena_release(&schema->arena);
	free(schema->kinds);
	schema->kinds = NULL;
	schema->count = schema->capacity = 0;
}

const struct wt_kind *wti_schema_kind(const struct wti_schema *schema, uint16_t number)
{
	for (size_t i = 0; i < schema->count; i++) {
		if (schema->kinds[i]->number == number)
			return schema->kinds[i];
	}
	return NULL;
}

static void write_u16(struct wti_buf *out, uint16_t value)
{
	uint8_t bytes[2];

	wti_put16(bytes, value);
	wti_buf_append(out, bytes, sizeof(bytes));
}

static void write_string(struct wti_buf *out, const char *text)
{
	write_u16(out, (uint16_t)strlen(text));
	wti_buf_text(out, text);
}

int wti_schema_write(struct wti_buf *out, const struct wt_kind *kind)
{
	write_u16(out, kind->number);
	write_u16(out, kind->field_count);
	write_string(out, kind->name);
	write_string(out, kind->doc);
	for (int i = 0; i < kind->field_count; i++) {
		const struct wt_field *field = &kind->fields[i];
		uint8_t head[4] = {field->type, field->transform, field->relative_to,
				   field->enum_count};

		wti_buf_append(out, head, sizeof(head));
		write_string(out, field->name);
		write_string(out, field->unit);
		write_string(out, field->doc);
		for (int j = 0; j < field->enum_count; j++)
			write_string(out, field->enum_names[j]);
	}
	return wti_buf_status(out);
}

/* A string of the payload as a C string; NULL when cut short (in->bad) or out of memory. */
static const char *read_string(struct wti_schema *schema, struct wti_bytes *in)
{
	uint16_t length = wti_bytes_u16(in);
	const uint8_t *at = wti_bytes_take(in, length);

	return at ? wti_arena_text(&schema->arena, (const char *)at, length) : NULL;
}

static int read_field(struct wti_schema *schema, struct wti_bytes *in, struct wt_field *field)
{
	const char **names;

	field->type = wti_bytes_u8(in);
	field->transform = wti_bytes_u8(in);
	field->relative_to = wti_bytes_u8(in);
	field->enum_count = wti_bytes_u8(in);
	field->name = read_string(schema, in);
	field->unit = read_string(schema, in);
	field->doc = read_string(schema, in);
	if (in->bad || field->type < WT_TYPE_U32 || field->type > WT_TYPE_BYTES)
		return WT_E_FORMAT;
	names = wti_arena_alloc(&schema->arena, sizeof(*names) * field->enum_count);
	if (!field->name || !field->unit || !field->doc || !names)
		return schema->arena.status;
	for (int i = 0; i < field->enum_count; i++) {
		names[i] = read_string(schema, in);
		if (!names[i])
			return in->bad ? WT_E_FORMAT : schema->arena.status;
	}
	field->enum_names = names;
	return 0;
}

static int read_kind(struct wti_schema *schema, struct wti_bytes *in, struct wt_kind **ret_kind)
{
	struct wt_kind *kind = wti_arena_alloc(&schema->arena, sizeof(*kind));
	struct wt_field *fields;

	if (!kind)
		return schema->arena.status;
	kind->number = wti_bytes_u16(in);
	kind->field_count = wti_bytes_u16(in);
	kind->name = read_string(schema, in);
	kind->doc = read_string(schema, in);
	if (in->bad || kind->field_count > WT_FIELDS_MAX)
		return WT_E_FORMAT;
	fields = wti_arena_alloc(&schema->arena, sizeof(*fields) * kind->field_count);
	if (!kind->name || !kind->doc || !fields)
		return schema->arena.status;
	if (!kind->name[0])
		return WT_E_FORMAT;
	for (int i = 0; i < kind->field_count; i++) {
		int status = read_field(schema, in, &fields[i]);

		if (status)
			return status;
	}
	kind->fields = fields;
	*ret_kind = kind;
	return 0;
}

static int add(struct wti_schema *schema, const struct wt_kind *kind)
{
	int r;

	if (wti_schema_kind(schema, kind->number))
		return 0; /* the first meaning stays */
	r = wti_grow(&schema->kinds, schema->count + 1, &schema->capacity, SCHEMA_KINDS_MAX);
	if (r)
		return r;
	schema->kinds[schema->count++] = kind;
	return 0;
}

int wti_schema_read(struct wti_schema *schema, const uint8_t *payload, size_t bytes, uint32_t rows,
		    uint64_t offset, struct wt_err *err)
{
	struct wti_bytes in = {payload, payload + bytes, false};

	for (uint32_t i = 0; i < rows; i++) {
		int64_t at = (int64_t)(offset + (uint64_t)(in.at - payload));
		struct wt_kind *kind = NULL;
		int status = read_kind(schema, &in, &kind);

		if (!status)
			status = add(schema, kind);
		if (status == WT_E_NOMEM)
			return wti_err(err, status, "out of memory for the schema");
		if (status)
			return wti_err_at(err, status, at, "damaged schema entry at byte %lld",
					  (long long)at);
	}
	return 0;
}
