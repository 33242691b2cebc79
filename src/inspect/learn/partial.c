/* SPDX-License-Identifier: Apache-2.0 */
/* Tables written and read. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/json_read.h"
#include "level.h"
#include "partial.h"
#include "phrases.h"
#include "relation.h"

#define TEXT_MAX 4096u
#define ANYWHERE UINT32_MAX /* as the number of a vector */

/* ---- Writing -------------------------------------------------------------------------------- */

struct writing {
	struct wti_buf *out;
	const struct wti_tables *tables;
	uint32_t *order;  /* vectors by name */
	uint32_t *places; /* place of each vector in that order */
};

static int by_vector(const void *a, const void *b, void *opaque)
{
	const struct wti_tables *tables = opaque;

	return wti_vector_compare(tables->symbols, &tables->vectors[*(const uint32_t *)a],
				  &tables->vectors[*(const uint32_t *)b]);
}

static void write_vector(struct writing *writing, const struct wti_vector *vector)
{
	struct wti_json json;

	wti_json_init(&json, writing->out, false);
	wti_json_object(&json);
	wti_json_key(&json, "vector");
	wti_json_object(&json);
	for (int i = 0; i < WTI_FEATURE_COUNT; i++) {
		if (!vector->values[i])
			continue;
		wti_json_key(&json, wti_features[i].name);
		if (wti_features[i].is_number)
			wti_json_u64(&json, vector->values[i] - 1);
		else
			wti_json_text(&json,
				      wti_symbol_text(writing->tables->symbols, vector->values[i]));
	}
	wti_json_object_end(&json);
	wti_json_object_end(&json);
	wti_buf_byte(writing->out, '\n');
}

static void write_sources(struct wti_json *json, const struct wti_origins *sources)
{
	wti_json_array(json);
	for (uint32_t i = 0; i < WTI_SOURCE_BITS; i++)
		if (sources->bits[i / 64] >> (i % 64) & 1)
			wti_json_u64(json, i);
	wti_json_array_end(json);
}

/* [vector, count, steps, four sets of sources, low, high]; -1 as vector: any. */
static void write_cell(struct writing *writing, struct wti_json *json, const struct wti_cell *cell,
		       bool is_measured)
{
	wti_json_array(json);
	if (cell->vector == ANYWHERE)
		wti_json_i64(json, -1);
	else
		wti_json_u64(json, writing->places[cell->vector]);
	wti_json_u64(json, cell->count);
	wti_json_u64(json, cell->step_count);
	write_sources(json, &cell->runs);
	write_sources(json, &cell->programs);
	write_sources(json, &cell->against_runs);
	write_sources(json, &cell->against_programs);
	if (is_measured) {
		wti_json_f64(json, cell->low);
		wti_json_f64(json, cell->high);
	}
	wti_json_array_end(json);
}

static int by_place(const void *a, const void *b, void *opaque)
{
	const struct wti_cell *left = a, *right = b;
	const uint32_t *places = opaque;
	uint32_t l = left->vector == ANYWHERE ? 0 : places[left->vector];
	uint32_t r = right->vector == ANYWHERE ? 0 : places[right->vector];

	return (l > r) - (l < r);
}

static void write_entry(struct writing *writing, const struct wti_entry *entry)
{
	const struct wti_symbols *symbols = writing->tables->symbols;
	struct wti_cell *cells = calloc(entry->cell_count + 1, sizeof(*cells));
	struct wti_json json;

	if (!cells) {
		writing->out->status = WT_E_NOMEM;
		return;
	}
	if (entry->cell_count)
		memcpy(cells, entry->cells, entry->cell_count * sizeof(*cells));
	qsort_r(cells, entry->cell_count, sizeof(*cells), by_place, writing->places);
	wti_json_init(&json, writing->out, false);
	wti_json_object(&json);
	wti_json_key(&json, "relation");
	wti_json_text(&json, wti_relations[entry->key.relation]->name);
	wti_json_key(&json, "subject");
	wti_json_array(&json);
	wti_json_text(&json, wti_symbol_text(symbols, entry->key.subject[0]));
	wti_json_text(&json, wti_symbol_text(symbols, entry->key.subject[1]));
	wti_json_array_end(&json);
	wti_json_key(&json, "form");
	wti_json_text(&json,
		      entry->key.form == WTI_FORM_TOTAL ? "total" : wti_forms[entry->key.form]);
	wti_json_key(&json, "a");
	wti_json_text(&json, wti_symbol_text(symbols, entry->key.a));
	wti_json_key(&json, "b");
	wti_json_text(&json, wti_symbol_text(symbols, entry->key.b));
	wti_json_key(&json, entry->is_dropped ? "dropped" : "cells");
	wti_json_array(&json);
	for (uint32_t i = 0; i < entry->cell_count; i++)
		write_cell(writing, &json, &cells[i],
			   entry->key.form == WTI_FORM_RANGE || entry->key.form == WTI_FORM_CALLS);
	wti_json_array_end(&json);
	wti_json_object_end(&json);
	wti_buf_byte(writing->out, '\n');
	free(cells);
}

static int by_key(const void *a, const void *b, void *symbols)
{
	const struct wti_entry *const *left = a, *const *right = b;

	return wti_entry_compare(symbols, &(*left)->key, &(*right)->key);
}

static void write_all(struct writing *writing, const struct wti_entry **sorted)
{
	const struct wti_tables *tables = writing->tables;

	wti_buf_printf(writing->out,
		       "{\"wheeltap\":\"partial\",\"version\":%d,\"runs\":%llu,\"levels\":%u}\n",
		       WTI_PACK_VERSION, (unsigned long long)tables->run_count, tables->levels);
	for (size_t i = 0; i < tables->vector_count; i++)
		writing->order[i] = (uint32_t)i;
	qsort_r(writing->order, tables->vector_count, sizeof(*writing->order), by_vector,
		(void *)tables);
	for (size_t i = 0; i < tables->vector_count; i++) {
		writing->places[writing->order[i]] = (uint32_t)i;
		write_vector(writing, &tables->vectors[writing->order[i]]);
	}
	for (size_t i = 0; i < tables->entry_count; i++)
		sorted[i] = &tables->entries[i];
	qsort_r(sorted, tables->entry_count, sizeof(*sorted), by_key, tables->symbols);
	for (size_t i = 0; i < tables->entry_count; i++)
		write_entry(writing, sorted[i]);
}

int wti_partial_write(struct wti_buf *out, struct wti_tables *tables, struct wt_err *err)
{
	struct writing writing = {.out = out, .tables = tables};
	const struct wti_entry **sorted;

	wti_tables_settle(tables);
	writing.order = calloc(tables->vector_count + 1, sizeof(*writing.order));
	writing.places = calloc(tables->vector_count + 1, sizeof(*writing.places));
	sorted = calloc(tables->entry_count + 1, sizeof(*sorted));
	if (writing.order && writing.places && sorted)
		write_all(&writing, sorted);
	else
		out->status = WT_E_NOMEM;
	free(writing.order);
	free(writing.places);
	free(sorted);
	return wti_buf_status(out) ? wti_err(err, wti_buf_status(out), "out of memory") : 0;
}

/* ---- Reading -------------------------------------------------------------------------------- */

struct reading {
	const char *name;
	struct wti_tables *tables;
	struct wti_vector *vectors;
	size_t vector_count;
	size_t vector_capacity;
	bool has_phrases; /* of version 1 */
	struct wt_err *err;
};

static int fail(struct reading *reading, const struct wti_doc *at, const char *what)
{
	return wti_doc_fail(at, reading->name, reading->err, WT_E_FORMAT, "%s", what);
}

static bool is_count(const struct wti_doc *doc, uint64_t ceiling)
{
	return doc && doc->type == WTI_DOC_INT && doc->integer >= 0 &&
	       (uint64_t)doc->integer <= ceiling;
}

/* `relation` is "" for what is of none. */
static uint32_t symbol_of(struct reading *reading, const char *relation, const struct wti_doc *doc)
{
	struct wti_symbols *symbols = reading->tables->symbols;

	return reading->has_phrases ? wti_symbol_of_phrase(symbols, relation, doc->string.data)
				    : wti_symbol(symbols, doc->string.data, doc->string.bytes);
}

static int read_feature(struct reading *reading, const struct wti_doc *value,
			struct wti_vector *vector)
{
	int feature = wti_feature_by_name(value->key);

	if (feature < 0)
		return fail(reading, value, "no such feature");
	if (wti_features[feature].is_number) {
		if (!is_count(value, UINT32_MAX - 2))
			return fail(reading, value, "expected a whole number");
		vector->values[feature] = (uint32_t)value->integer + 1;
		return 0;
	}
	if (!wti_doc_is_text(value, TEXT_MAX))
		return fail(reading, value, "expected a string");
	vector->values[feature] = symbol_of(reading, "", value);
	return 0;
}

static int read_vector(struct reading *reading, const struct wti_doc *doc)
{
	struct wti_vector vector = {0};
	int r = 0;

	for (const struct wti_doc *value = doc->first; value && !r; value = value->next)
		r = read_feature(reading, value, &vector);
	if (r)
		return r;
	if (wti_grow(&reading->vectors, reading->vector_count + 1, &reading->vector_capacity,
		     WTI_NO_CEILING))
		return wti_err(reading->err, WT_E_NOMEM, "out of memory");
	reading->vectors[reading->vector_count++] = vector;
	return 0;
}

static bool read_sources(const struct wti_doc *doc, struct wti_origins *sources)
{
	if (!doc || doc->type != WTI_DOC_ARRAY)
		return false;
	for (const struct wti_doc *hash = doc->first; hash; hash = hash->next) {
		if (!is_count(hash, WTI_SOURCE_BITS - 1))
			return false;
		wti_sources_add(sources, (uint32_t)hash->integer);
	}
	return true;
}

static double number_of(const struct wti_doc *doc)
{
	if (!doc || (doc->type != WTI_DOC_INT && doc->type != WTI_DOC_FLOAT))
		return 0;
	return doc->type == WTI_DOC_INT ? (double)doc->integer : doc->number;
}

static int read_cell(struct reading *reading, const struct wti_doc *doc, struct wti_entry *entry)
{
	const struct wti_doc *vector = doc->type == WTI_DOC_ARRAY ? doc->first : NULL;
	const struct wti_doc *count = vector ? vector->next : NULL;
	const struct wti_doc *steps = count ? count->next : NULL;
	const struct wti_doc *runs = steps ? steps->next : NULL;
	const struct wti_doc *programs = runs ? runs->next : NULL;
	const struct wti_doc *against_runs = programs ? programs->next : NULL;
	const struct wti_doc *against_programs = against_runs ? against_runs->next : NULL;
	struct wti_cell read = {0};
	struct wti_cell *cell;
	bool anywhere = vector && vector->type == WTI_DOC_INT && vector->integer == -1;

	if (!is_count(count, INT64_MAX / 4) || !is_count(steps, INT64_MAX / 4) ||
	    !read_sources(runs, &read.runs) || !read_sources(programs, &read.programs) ||
	    !read_sources(against_runs, &read.against_runs) ||
	    !read_sources(against_programs, &read.against_programs) ||
	    !(anywhere || is_count(vector, UINT32_MAX)) ||
	    (!anywhere && (uint64_t)vector->integer >= reading->vector_count))
		return fail(reading, doc,
			    "a cell is [vector, count, steps, [runs], [programs], [runs against], "
			    "[programs against]]");
	read.count = (uint64_t)count->integer;
	read.step_count = (uint64_t)steps->integer;
	read.low = number_of(against_programs->next);
	read.high = against_programs->next ? number_of(against_programs->next->next) : 0;
	cell = wti_tables_cell(reading->tables, entry,
			       anywhere ? NULL : &reading->vectors[vector->integer]);
	if (!cell)
		return wti_err(reading->err, WT_E_NOMEM, "out of memory");
	wti_cell_add(cell, &read);
	return 0;
}

static int read_entry(struct reading *reading, const struct wti_doc *doc)
{
	const struct wti_doc *relation = wti_doc_get(doc, "relation");
	const struct wti_doc *subject = wti_doc_get(doc, "subject");
	const struct wti_doc *form = wti_doc_get(doc, "form");
	const struct wti_doc *a = wti_doc_get(doc, "a"), *b = wti_doc_get(doc, "b");
	const struct wti_doc *cells = wti_doc_get(doc, "cells");
	const struct wti_doc *second = subject && subject->first ? subject->first->next : NULL;
	struct wti_entry_key key = {0};
	struct wti_entry *entry;
	int r = 0;

	if (!wti_doc_is_text(relation, TEXT_MAX) || wti_relation_by_name(relation->string.data) < 0)
		return fail(reading, relation ? relation : doc, "no such relation");
	if (!wti_doc_is_text(form, TEXT_MAX) || !wti_doc_is_text(a, TEXT_MAX) ||
	    !wti_doc_is_text(b, TEXT_MAX) || !second ||
	    !wti_doc_is_text(subject->first, TEXT_MAX) || !wti_doc_is_text(second, TEXT_MAX))
		return fail(reading, doc,
			    "a hypothesis needs \"subject\" (two names), \"form\", \"a\" "
			    "and \"b\"");
	if (strcmp(form->string.data, "total") && wti_form_by_name(form->string.data) < 0)
		return fail(reading, form, "no such form");
	key.relation = (uint32_t)wti_relation_by_name(relation->string.data);
	key.subject[0] = symbol_of(reading, relation->string.data, subject->first);
	key.subject[1] = symbol_of(reading, relation->string.data, second);
	key.form = strcmp(form->string.data, "total")
			   ? (uint32_t)wti_form_by_name(form->string.data)
			   : WTI_FORM_TOTAL;
	key.a = symbol_of(reading, relation->string.data, a);
	key.b = symbol_of(reading, relation->string.data, b);
	entry = wti_tables_entry(reading->tables, &key);
	if (!cells) {
		wti_tables_drop(reading->tables, &key);
		return 0;
	}
	for (const struct wti_doc *cell = cells->first; cell && entry && !r; cell = cell->next)
		r = read_cell(reading, cell, entry);
	return r;
}

static int read_head(struct reading *reading, const struct wti_doc *doc)
{
	const struct wti_doc *kind = wti_doc_get(doc, "wheeltap");
	const struct wti_doc *version = wti_doc_get(doc, "version");
	const struct wti_doc *runs = wti_doc_get(doc, "runs");
	const struct wti_doc *levels = wti_doc_get(doc, "levels");

	if (!wti_doc_is_text(kind, TEXT_MAX) || strcmp(kind->string.data, "partial"))
		return fail(reading, doc,
			    "this is not a partial result: its first line has no \"wheeltap\": "
			    "\"partial\"");
	if (!is_count(version, WTI_PACK_VERSION) || version->integer < WTI_PACK_VERSION_OF_PHRASES)
		return fail(reading, doc,
			    "a partial result of a version that this wheeltap does not know");
	reading->has_phrases = version->integer == WTI_PACK_VERSION_OF_PHRASES;
	reading->tables->run_count += is_count(runs, INT32_MAX) ? (uint64_t)runs->integer : 0;
	if (is_count(levels, (1 << WTI_LEVELS) - 1))
		reading->tables->levels |= (uint32_t)levels->integer;
	return 0;
}

static int read_line(struct reading *reading, unsigned line, const char *text, size_t bytes)
{
	struct wti_doc *doc;
	const struct wti_doc *vector;
	int r = wti_json_parse_line(reading->name, line, text, bytes, &doc, reading->err);

	if (r)
		return r;
	vector = wti_doc_get(doc, "vector");
	if (line == 1)
		r = read_head(reading, doc);
	else if (vector)
		r = read_vector(reading, vector);
	else
		r = read_entry(reading, doc);
	wti_doc_free(doc);
	return r;
}

int wti_partial_read(const char *name, const char *text, size_t bytes, struct wti_tables *tables,
		     struct wt_err *err)
{
	struct reading reading = {.name = name, .tables = tables, .err = err};
	const char *end = text + bytes;
	unsigned line = 0;
	int r = bytes ? 0 : wti_err(err, WT_E_FORMAT, "'%s' is empty", name);

	while (text < end && !r) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((stop ? stop : end) - text);

		r = read_line(&reading, ++line, text, length);
		text += length + 1;
	}
	free(reading.vectors);
	return r;
}
