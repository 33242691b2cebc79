/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of a run, or of many: for each hypothesis, in which circumstances it held how often;
 * for each subject, how often there was such an occasion. That is all that preconditions and
 * confidence need, it is bounded, and tables are merged by adding them: in any order they give the
 * same.
 *
 * Ceilings keep that promise because what is left out depends on names and numbers alone, and what
 * was left out once never comes back: a field with more values than WTI_VALUES_MAX is constant for
 * nobody; a hypothesis seen in more circumstances than WTI_VECTORS_MAX can only hold
 * unconditionally; of too many hypotheses of a relation the first by name are kept.
 */
#ifndef WTI_LEARN_TABLES_H
#define WTI_LEARN_TABLES_H

#include "occasion.h"

enum {
	WTI_VALUES_MAX = 16,
	WTI_VECTORS_MAX = 256,
	WTI_ENTRIES_MAX = 65536, /* of a relation */
	WTI_SOURCE_BITS = 128,
	WTI_FORM_TOTAL = 100, /* of an entry that counts occasions */
};

/*
 * How many different runs, or programs, without remembering which: a bit for each hash. The number
 * is estimated from the bits that are still clear; up to a dozen it is nearly always exact.
 */
struct wti_origins {
	uint64_t bits[WTI_SOURCE_BITS / 64];
};

void wti_sources_add(struct wti_origins *sources, uint32_t hash);
void wti_sources_merge(struct wti_origins *sources, const struct wti_origins *other);
uint32_t wti_sources_count(const struct wti_origins *sources);
/* Those that are in the one and not in the other. */
struct wti_origins wti_sources_without(const struct wti_origins *sources,
				       const struct wti_origins *other);

struct wti_cell {
	uint32_t vector; /* place in vectors */
	uint64_t count;
	uint64_t step_count; /* different steps, as far as one after the other shows */
	int64_t last_step;
	double low, high; /* of measures */
	struct wti_origins runs, programs;
	struct wti_origins against_runs, against_programs; /* where it did not always hold */
};

struct wti_entry_key {
	uint32_t relation;
	uint32_t subject[2];
	uint32_t form;
	uint32_t a, b;
};

struct wti_entry {
	struct wti_entry_key key;
	struct wti_cell *cells;
	size_t cell_capacity;
	uint32_t cell_count;
	uint32_t value_count; /* of a field: how many values it has, on the first of them */
	bool is_blurred;      /* too many circumstances: one cell for all */
	bool is_dropped;      /* a field with too many values, a name behind the bar */
	uint64_t stamp;       /* of the last occasion: a fact is true once */
};

struct wti_tables {
	struct wti_symbols *symbols;
	struct wti_map vector_index; /* bytes: place */
	struct wti_vector *vectors;
	size_t vector_count, vector_capacity;
	struct wti_map entry_index; /* bytes of the key: place */
	struct wti_entry *entries;
	size_t entry_count, entry_capacity;
	struct wti_map cell_index;  /* entry and vector: place in its cells, plus one */
	struct wti_map field_index; /* bytes of a key without its b: how many values */
	struct wti_relation_tally {
		uint32_t count;           /* hypotheses */
		bool has_bar;             /* there were too many once */
		struct wti_entry_key bar; /* names from here on are left out */
	} * relations;
	uint64_t run_count;
	uint32_t levels; /* at which they were recorded, enum wti_level */
	uint64_t occasion_count;
	uint64_t left_out_count; /* hypotheses behind the ceiling */
	bool failed;             /* out of memory */
};

int wti_tables_init(struct wti_tables *tables, struct wti_symbols *symbols, struct wt_err *err);
void wti_tables_release(struct wti_tables *tables);
void wti_tables_take(struct wti_tables *tables, const struct wti_occasion *occasion);
/* Marks everything as seen in this run of this program. */
void wti_tables_source(struct wti_tables *tables, uint32_t run, uint32_t program);
/* Adds the other's, whose symbols may be others. */
int wti_tables_merge(struct wti_tables *tables, const struct wti_tables *other, struct wt_err *err);
/* Of relations that had too many hypotheses once, the same number stays in the end. */
void wti_tables_settle(struct wti_tables *tables);
/* The most different steps in which one thing was seen in the same circumstances. */
uint64_t wti_tables_steps(const struct wti_tables *tables);
/* The entry that counts the occasions of the same subject; NULL: there is none. */
const struct wti_entry *wti_tables_total(const struct wti_tables *tables,
					 const struct wti_entry *entry);
const struct wti_cell *wti_entry_cell(const struct wti_tables *tables,
				      const struct wti_entry *entry, uint32_t vector);
/* For readers of partial results. NULL: no room, or out of memory. */
struct wti_entry *wti_tables_entry(struct wti_tables *tables, const struct wti_entry_key *key);
struct wti_cell *wti_tables_cell(struct wti_tables *tables, struct wti_entry *entry,
				 const struct wti_vector *vector);
void wti_cell_add(struct wti_cell *cell, const struct wti_cell *other);
/* It was left out elsewhere, and with it all values of the same field. */
void wti_tables_drop(struct wti_tables *tables, const struct wti_entry_key *key);
/* By name, which is the same in every run: <0, 0, >0. */
struct wti_invariant; /* pack.h */
struct wti_entry_key wti_invariant_key(const struct wti_invariant *invariant);
int wti_entry_compare(const struct wti_symbols *symbols, const struct wti_entry_key *a,
		      const struct wti_entry_key *b);
int wti_vector_compare(const struct wti_symbols *symbols, const struct wti_vector *a,
		       const struct wti_vector *b);

#endif
