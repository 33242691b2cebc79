/* SPDX-License-Identifier: Apache-2.0 */
/* Hypotheses and how often they held, by circumstances. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "example.h"
#include "relation.h"
#include "tables.h"

#define VECTORS_MAX 65536u
#define INDEX_MAX (1u << 22)
#define BLURRED UINT32_MAX /* as the vector of a cell: any circumstances */

/* ---- Sets of sources ------------------------------------------------------------------------ */

void wti_sources_add(struct wti_origins *sources, uint32_t hash)
{
	uint32_t bit = hash % WTI_SOURCE_BITS;

	sources->bits[bit / 64] |= 1ull << (bit % 64);
}

void wti_sources_merge(struct wti_origins *sources, const struct wti_origins *other)
{
	for (size_t i = 0; i < WTI_SOURCE_BITS / 64; i++)
		sources->bits[i] |= other->bits[i];
}

struct wti_origins wti_sources_without(const struct wti_origins *sources,
				       const struct wti_origins *other)
{
	struct wti_origins result;

	for (size_t i = 0; i < WTI_SOURCE_BITS / 64; i++)
		result.bits[i] = sources->bits[i] & ~other->bits[i];
	return result;
}

/* Linear counting. */
uint32_t wti_sources_count(const struct wti_origins *sources)
{
	double clear = WTI_SOURCE_BITS;

	for (size_t i = 0; i < WTI_SOURCE_BITS / 64; i++)
		clear -= __builtin_popcountll(sources->bits[i]);
	if (clear < 1)
		clear = 1;
	return (uint32_t)lround(-WTI_SOURCE_BITS * log(clear / WTI_SOURCE_BITS));
}

/* ---- Made and let go ------------------------------------------------------------------------ */

int wti_tables_init(struct wti_tables *tables, struct wti_symbols *symbols, struct wt_err *err)
{
	*tables = (struct wti_tables){.symbols = symbols};
	wti_map_init(&tables->vector_index, VECTORS_MAX);
	wti_map_init(&tables->entry_index, INDEX_MAX);
	wti_map_init(&tables->cell_index, INDEX_MAX);
	wti_map_init(&tables->field_index, INDEX_MAX);
	tables->relations = calloc(WTI_RELATIONS_MAX, sizeof(*tables->relations));
	return tables->relations ? 0 : wti_err(err, WT_E_NOMEM, "out of memory");
}

void wti_tables_release(struct wti_tables *tables)
{
	for (size_t i = 0; i < tables->entry_count; i++)
		free(tables->entries[i].cells);
	free(tables->entries);
	free(tables->vectors);
	free(tables->relations);
	wti_map_release(&tables->vector_index);
	wti_map_release(&tables->entry_index);
	wti_map_release(&tables->cell_index);
	wti_map_release(&tables->field_index);
	*tables = (struct wti_tables){0};
}

static uint32_t vector_of(struct wti_tables *tables, const struct wti_vector *vector)
{
	size_t before = tables->vector_index.count;
	uint64_t *slot = wti_map_text(&tables->vector_index, (const char *)vector, sizeof(*vector));

	if (!slot)
		return BLURRED;
	if (tables->vector_index.count == before)
		return (uint32_t)*slot;
	if (wti_grow(&tables->vectors, tables->vector_count + 1, &tables->vector_capacity,
		     VECTORS_MAX)) {
		tables->failed = true;
		return BLURRED;
	}
	tables->vectors[tables->vector_count] = *vector;
	*slot = tables->vector_count++;
	return (uint32_t)*slot;
}

/* ---- Entries -------------------------------------------------------------------------------- */

static int compare_texts(const struct wti_symbols *symbols, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(wti_symbol_text(symbols, a), wti_symbol_text(symbols, b));
}

int wti_entry_compare(const struct wti_symbols *symbols, const struct wti_entry_key *a,
		      const struct wti_entry_key *b)
{
	int order = (a->relation > b->relation) - (a->relation < b->relation);

	for (size_t i = 0; i < 2 && !order; i++)
		order = compare_texts(symbols, a->subject[i], b->subject[i]);
	if (!order)
		order = (a->form > b->form) - (a->form < b->form);
	if (!order)
		order = compare_texts(symbols, a->a, b->a);
	return order ? order : compare_texts(symbols, a->b, b->b);
}

int wti_vector_compare(const struct wti_symbols *symbols, const struct wti_vector *a,
		       const struct wti_vector *b)
{
	int order = 0;

	for (int i = 0; i < WTI_FEATURE_COUNT && !order; i++) {
		uint32_t left = a->values[i], right = b->values[i];

		order = wti_features[i].is_number ? (left > right) - (left < right)
						  : compare_texts(symbols, left, right);
	}
	return order;
}

static void drop(struct wti_tables *tables, struct wti_entry *entry)
{
	if (!entry->is_dropped)
		tables->relations[entry->key.relation].count--;
	entry->is_dropped = true;
	free(entry->cells);
	entry->cells = NULL;
	entry->cell_count = 0;
	entry->cell_capacity = 0;
}

/* A field that takes too many values is constant for nobody: none of its values stays. */
static bool is_wild(struct wti_tables *tables, const struct wti_entry_key *key, bool is_new)
{
	uint64_t *values;

	if (key->form != WTI_FORM_IS)
		return false;
	values = wti_map_text(&tables->field_index, (const char *)key,
			      offsetof(struct wti_entry_key, b));
	if (values && is_new)
		++*values;
	return !values || *values > WTI_VALUES_MAX;
}

static void drop_field(struct wti_tables *tables, const struct wti_entry_key *key)
{
	for (size_t i = 0; i < tables->entry_count; i++)
		if (!memcmp(&tables->entries[i].key, key, offsetof(struct wti_entry_key, b)))
			drop(tables, &tables->entries[i]);
}

static int by_name(const void *a, const void *b, void *symbols)
{
	const struct wti_entry *const *left = a, *const *right = b;

	return wti_entry_compare(symbols, &(*left)->key, &(*right)->key);
}

/* Of too many of a relation the first half by name stays. What counts occasions always does. */
static void prune(struct wti_tables *tables, uint32_t relation)
{
	struct wti_entry **sorted = calloc(tables->entry_count + 1, sizeof(struct wti_entry *));
	size_t count = 0;

	if (!sorted) {
		tables->failed = true;
		return;
	}
	for (size_t i = 0; i < tables->entry_count; i++) {
		struct wti_entry *entry = &tables->entries[i];

		if (entry->key.relation == relation && !entry->is_dropped &&
		    entry->key.form != WTI_FORM_TOTAL)
			sorted[count++] = entry;
	}
	qsort_r(sorted, count, sizeof(struct wti_entry *), by_name, tables->symbols);
	if (count > WTI_ENTRIES_MAX / 2) {
		tables->relations[relation].has_bar = true;
		tables->relations[relation].bar = sorted[WTI_ENTRIES_MAX / 2]->key;
	}
	for (size_t i = WTI_ENTRIES_MAX / 2; i < count; i++) {
		drop(tables, sorted[i]);
		tables->left_out_count++;
	}
	free(sorted);
}

static bool is_behind_bar(const struct wti_tables *tables, const struct wti_entry_key *key)
{
	const struct wti_relation_tally *relation = &tables->relations[key->relation];

	return relation->has_bar && key->form != WTI_FORM_TOTAL &&
	       wti_entry_compare(tables->symbols, key, &relation->bar) >= 0;
}

void wti_tables_settle(struct wti_tables *tables)
{
	for (uint32_t i = 0; i < WTI_RELATIONS_MAX; i++)
		if (tables->relations[i].has_bar)
			prune(tables, i);
}

static struct wti_entry *add_entry(struct wti_tables *tables, const struct wti_entry_key *key,
				   uint64_t *slot)
{
	struct wti_entry *entry;

	if (wti_grow(&tables->entries, tables->entry_count + 1, &tables->entry_capacity,
		     INDEX_MAX)) {
		tables->failed = true;
		return NULL;
	}
	entry = &tables->entries[tables->entry_count];
	*entry = (struct wti_entry){.key = *key};
	*slot = tables->entry_count++;
	tables->relations[key->relation].count++;
	if (is_wild(tables, key, true))
		drop_field(tables, key);
	else if (is_behind_bar(tables, key))
		drop(tables, entry);
	if (tables->relations[key->relation].count > WTI_ENTRIES_MAX)
		prune(tables, key->relation);
	return entry;
}

/* The map remembers every key, so that what was dropped is not begun anew. */
struct wti_entry *wti_tables_entry(struct wti_tables *tables, const struct wti_entry_key *key)
{
	size_t before = tables->entry_index.count;
	uint64_t *slot = NULL;
	struct wti_entry *entry;

	if (key->relation >= WTI_RELATIONS_MAX)
		return NULL;
	if (key->form == WTI_FORM_IS && is_wild(tables, key, false))
		return NULL;
	slot = wti_map_text(&tables->entry_index, (const char *)key, sizeof(*key));
	if (!slot) {
		tables->left_out_count++;
		return NULL;
	}
	entry = tables->entry_index.count > before ? add_entry(tables, key, slot)
						   : &tables->entries[*slot];
	/* Places may have moved, and it may have been dropped at once. */
	return entry && !entry->is_dropped ? entry : NULL;
}

/* ---- Cells ---------------------------------------------------------------------------------- */

void wti_cell_add(struct wti_cell *cell, const struct wti_cell *other)
{
	if (!cell->count || other->low < cell->low)
		cell->low = other->low;
	if (!cell->count || other->high > cell->high)
		cell->high = other->high;
	cell->count += other->count;
	cell->step_count += other->step_count;
	wti_sources_merge(&cell->runs, &other->runs);
	wti_sources_merge(&cell->programs, &other->programs);
	wti_sources_merge(&cell->against_runs, &other->against_runs);
	wti_sources_merge(&cell->against_programs, &other->against_programs);
}

static struct wti_cell *blur(struct wti_entry *entry)
{
	if (!entry->is_blurred) {
		for (uint32_t i = 1; i < entry->cell_count; i++)
			wti_cell_add(&entry->cells[0], &entry->cells[i]);
		entry->cell_count = 1;
		entry->cells[0].vector = BLURRED;
		entry->is_blurred = true;
	}
	return &entry->cells[0];
}

static uint64_t cell_key(const struct wti_tables *tables, const struct wti_entry *entry,
			 uint32_t vector)
{
	return (uint64_t)(entry - tables->entries) << 32 | vector;
}

const struct wti_cell *wti_entry_cell(const struct wti_tables *tables,
				      const struct wti_entry *entry, uint32_t vector)
{
	const uint64_t *slot =
		wti_map_find_number(&tables->cell_index, cell_key(tables, entry, vector));

	if (entry->is_blurred || entry->is_dropped || !slot || !*slot)
		return NULL;
	return &entry->cells[*slot - 1];
}

static struct wti_cell *cell_at(struct wti_tables *tables, struct wti_entry *entry, uint32_t vector)
{
	uint64_t *slot;

	if (entry->is_blurred)
		return &entry->cells[0];
	slot = vector == BLURRED
		       ? NULL
		       : wti_map_number(&tables->cell_index, cell_key(tables, entry, vector));
	if (slot && *slot)
		return &entry->cells[*slot - 1];
	if (wti_grow(&entry->cells, entry->cell_count + 1, &entry->cell_capacity,
		     WTI_VECTORS_MAX + 1)) {
		tables->failed = true;
		return NULL;
	}
	if (!slot || entry->cell_count >= WTI_VECTORS_MAX) {
		if (!entry->cell_count)
			entry->cells[entry->cell_count++] = (struct wti_cell){.last_step = -2};
		return blur(entry);
	}
	entry->cells[entry->cell_count] = (struct wti_cell){.vector = vector, .last_step = -2};
	*slot = ++entry->cell_count;
	return &entry->cells[*slot - 1];
}

struct wti_cell *wti_tables_cell(struct wti_tables *tables, struct wti_entry *entry,
				 const struct wti_vector *vector)
{
	return cell_at(tables, entry, vector ? vector_of(tables, vector) : BLURRED);
}

const struct wti_entry *wti_tables_total(const struct wti_tables *tables,
					 const struct wti_entry *entry)
{
	struct wti_entry_key key = {.relation = entry->key.relation,
				    .subject = {entry->key.subject[0], entry->key.subject[1]},
				    .form = WTI_FORM_TOTAL};
	const uint64_t *slot =
		wti_map_find_text(&tables->entry_index, (const char *)&key, sizeof(key));

	return slot ? &tables->entries[*slot] : NULL;
}

/* ---- Taking occasions ----------------------------------------------------------------------- */

static void tally(struct wti_tables *tables, const struct wti_entry_key *key, uint32_t vector,
		  int64_t step, double measure)
{
	struct wti_entry *entry = wti_tables_entry(tables, key);
	struct wti_cell *cell;

	if (!entry || entry->stamp == tables->occasion_count)
		return;
	entry->stamp = tables->occasion_count;
	cell = cell_at(tables, entry, vector);
	if (!cell)
		return;
	if (!cell->count || measure < cell->low)
		cell->low = measure;
	if (!cell->count || measure > cell->high)
		cell->high = measure;
	cell->count++;
	cell->step_count += cell->last_step != step;
	cell->last_step = step;
}

struct counting {
	struct wti_tables *tables;
	uint32_t vector;
	int64_t step;
};

static bool count_occasion(void *opaque, const struct wti_entry_key *subject)
{
	const struct counting *counting = opaque;

	counting->tables->occasion_count++;
	tally(counting->tables, subject, counting->vector, counting->step, 0);
	return true;
}

static void count_said(void *opaque, const struct wti_entry_key *key, double measure)
{
	const struct counting *counting = opaque;

	tally(counting->tables, key, counting->vector, counting->step, measure);
}

void wti_tables_take(struct wti_tables *tables, const struct wti_occasion *occasion)
{
	struct counting counting = {tables, vector_of(tables, &occasion->vector),
				    occasion->moment->scope.step};

	wti_examples(occasion, &(struct wti_example_taker){
				       .self = &counting,
				       .begin = count_occasion,
				       .said = count_said,
			       });
}

/* ---- Many runs ------------------------------------------------------------------------------ */

/* Of one run only: whether each held always, in each of its circumstances. */
static void mark_cell(const struct wti_tables *tables, const struct wti_entry *total, uint32_t form,
		      struct wti_cell *cell, uint32_t run, uint32_t program)
{
	const struct wti_cell *all = total ? wti_entry_cell(tables, total, cell->vector) : NULL;

	wti_sources_add(&cell->runs, run);
	wti_sources_add(&cell->programs, program);
	if (!all || !wti_against_count(form, all->count, cell->count))
		return;
	wti_sources_add(&cell->against_runs, run);
	wti_sources_add(&cell->against_programs, program);
}

void wti_tables_source(struct wti_tables *tables, uint32_t run, uint32_t program)
{
	for (size_t i = 0; i < tables->entry_count; i++) {
		struct wti_entry *entry = &tables->entries[i];
		const struct wti_entry *total =
			entry->key.form == WTI_FORM_TOTAL ? NULL : wti_tables_total(tables, entry);

		for (uint32_t j = 0; j < entry->cell_count; j++)
			mark_cell(tables, total, entry->key.form, &entry->cells[j], run, program);
	}
	tables->run_count = 1;
}

static uint32_t translate(struct wti_tables *tables, const struct wti_tables *other,
			  uint32_t symbol)
{
	return wti_symbol_word(tables->symbols, wti_symbol_text(other->symbols, symbol));
}

static struct wti_vector translate_vector(struct wti_tables *tables, const struct wti_tables *other,
					  const struct wti_vector *vector)
{
	struct wti_vector result = *vector;

	for (int i = 0; i < WTI_FEATURE_COUNT; i++)
		if (!wti_features[i].is_number)
			result.values[i] = translate(tables, other, vector->values[i]);
	return result;
}

void wti_tables_drop(struct wti_tables *tables, const struct wti_entry_key *key)
{
	struct wti_entry *mine = wti_tables_entry(tables, key);
	uint64_t *values;

	if (mine && key->form != WTI_FORM_IS)
		drop(tables, mine);
	if (!mine || key->form != WTI_FORM_IS)
		return;
	values = wti_map_text(&tables->field_index, (const char *)key,
			      offsetof(struct wti_entry_key, b));
	if (values)
		*values = WTI_VALUES_MAX + 1;
	drop_field(tables, key);
}

static void merge_entry(struct wti_tables *tables, const struct wti_tables *other,
			const struct wti_entry *entry, const uint32_t *vectors)
{
	struct wti_entry_key key = entry->key;
	struct wti_entry *mine;

	key.subject[0] = translate(tables, other, key.subject[0]);
	key.subject[1] = translate(tables, other, key.subject[1]);
	key.a = translate(tables, other, key.a);
	key.b = translate(tables, other, key.b);
	mine = wti_tables_entry(tables, &key);
	if (!mine)
		return;
	if (entry->is_dropped) {
		wti_tables_drop(tables, &key);
		return;
	}
	for (uint32_t i = 0; i < entry->cell_count; i++) {
		uint32_t vector = entry->cells[i].vector;
		struct wti_cell *cell =
			cell_at(tables, mine, vector == BLURRED ? BLURRED : vectors[vector]);

		if (cell)
			wti_cell_add(cell, &entry->cells[i]);
	}
}

int wti_tables_merge(struct wti_tables *tables, const struct wti_tables *other, struct wt_err *err)
{
	uint32_t *vectors = calloc(other->vector_count + 1, sizeof(*vectors));

	if (!vectors)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < other->vector_count; i++) {
		struct wti_vector vector = translate_vector(tables, other, &other->vectors[i]);

		vectors[i] = vector_of(tables, &vector);
	}
	for (size_t i = 0; i < other->entry_count; i++)
		merge_entry(tables, other, &other->entries[i], vectors);
	for (uint32_t i = 0; i < WTI_RELATIONS_MAX; i++)
		if (other->relations[i].has_bar)
			prune(tables, i);
	free(vectors);
	tables->run_count += other->run_count;
	tables->levels |= other->levels;
	tables->left_out_count += other->left_out_count;
	return tables->failed ? wti_err(err, WT_E_NOMEM, "out of memory") : 0;
}

uint64_t wti_tables_steps(const struct wti_tables *tables)
{
	uint64_t most = 0;

	for (size_t i = 0; i < tables->entry_count; i++)
		for (uint32_t j = 0; j < tables->entries[i].cell_count; j++)
			if (tables->entries[i].cells[j].step_count > most)
				most = tables->entries[i].cells[j].step_count;
	return most;
}
