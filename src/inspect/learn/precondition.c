/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the circumstances in which a hypothesis holds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"
#include "precondition.h"

#define CANDIDATES_MAX 96u
#define FEW 3u /* examples of several runs: that two numbers are the same may be chance */
#define TOLERANT_RISK 0.01 /* relations that may not take more have no exceptions */
#define WORDS ((WTI_VECTORS_MAX + 63) / 64)

const char *const wti_clauses[WTI_CLAUSE_TYPES] = {
	[WTI_CLAUSE_CONSTANT] = "constant", [WTI_CLAUSE_NOT] = "not",
	[WTI_CLAUSE_EXISTS] = "exists",     [WTI_CLAUSE_ABSENT] = "absent",
	[WTI_CLAUSE_RANGE] = "range",       [WTI_CLAUSE_EQUAL] = "equal",
	[WTI_CLAUSE_UNEQUAL] = "unequal",
};

int wti_clause_by_name(const char *name)
{
	for (int i = 0; i < WTI_CLAUSE_TYPES; i++)
		if (!strcmp(wti_clauses[i], name))
			return i;
	return -1;
}

/* ---- Asking --------------------------------------------------------------------------------- */

bool wti_clause_holds(const struct wti_clause *clause, const struct wti_vector *vector)
{
	uint32_t value = vector->values[clause->feature];
	uint32_t other = vector->values[clause->other];

	switch (clause->type) {
	case WTI_CLAUSE_CONSTANT:
		return value == clause->value;
	case WTI_CLAUSE_NOT:
		return value && value != clause->value;
	case WTI_CLAUSE_EXISTS:
		return value;
	case WTI_CLAUSE_ABSENT:
		return !value;
	case WTI_CLAUSE_RANGE:
		return value && value - 1 >= clause->low && value - 1 <= clause->high;
	case WTI_CLAUSE_EQUAL:
		return value && value == other;
	case WTI_CLAUSE_UNEQUAL:
		return value && other && value != other;
	default:
		return false;
	}
}

static bool conjunction_holds(const struct wti_conjunction *conjunction,
			      const struct wti_vector *vector)
{
	for (uint32_t i = 0; i < conjunction->count; i++)
		if (!wti_clause_holds(&conjunction->clauses[i], vector))
			return false;
	return true;
}

bool wti_precondition_holds(const struct wti_precondition *precondition,
			    const struct wti_vector *vector)
{
	for (uint32_t i = 0; i < precondition->count; i++)
		if (conjunction_holds(&precondition->any[i], vector))
			return !precondition->is_inverted;
	return !precondition->count || precondition->is_inverted;
}

/* ---- Examples ------------------------------------------------------------------------------- */

/* The circumstances in which there was an occasion, in the order of their names. */
struct example {
	const struct wti_vector *vector;
	const struct wti_cell *of_total;
	const struct wti_cell *of_fact; /* NULL: it never held there */
	uint64_t for_count, against_count;
};

struct set {
	uint64_t words[WORDS];
};

struct search {
	const struct wti_symbols *symbols;
	const struct wti_demand *demand;
	struct example examples[WTI_VECTORS_MAX];
	uint32_t count;
	const struct wti_tables *tables;
	const struct wti_entry *entry;
	double risk;
	double against_share;     /* of the observations, at least */
	struct set against, open; /* with an example against; for, and not covered yet */
	struct wti_clause clauses[CANDIDATES_MAX];
	struct set covers[CANDIDATES_MAX];
	uint32_t clause_count;
};

static bool in_set(const struct set *set, uint32_t i)
{
	return set->words[i / 64] >> (i % 64) & 1;
}

static void add_to_set(struct set *set, uint32_t i)
{
	set->words[i / 64] |= 1ull << (i % 64);
}

static struct set both(const struct set *a, const struct set *b)
{
	struct set result;

	for (size_t i = 0; i < WORDS; i++)
		result.words[i] = a->words[i] & b->words[i];
	return result;
}

static bool meets(const struct set *a, const struct set *b)
{
	for (size_t i = 0; i < WORDS; i++)
		if (a->words[i] & b->words[i])
			return true;
	return false;
}

static int by_vector(const void *a, const void *b, void *symbols)
{
	const struct example *left = a, *right = b;

	return wti_vector_compare(symbols, left->vector, right->vector);
}

static void gather(struct search *search, const struct wti_tables *tables,
		   const struct wti_entry *entry, const struct wti_entry *total)
{
	for (uint32_t i = 0; i < total->cell_count && search->count < WTI_VECTORS_MAX; i++) {
		const struct wti_cell *all = &total->cells[i];
		struct example *example = &search->examples[search->count++];

		example->vector = &tables->vectors[all->vector];
		example->of_total = all;
		example->of_fact = wti_entry_cell(tables, entry, all->vector);
		example->for_count = example->of_fact ? example->of_fact->count : 0;
		example->against_count =
			wti_against_count(entry->key.form, all->count, example->for_count);
	}
	qsort_r(search->examples, search->count, sizeof(struct example), by_vector,
		(void *)search->symbols);
	for (uint32_t i = 0; i < search->count; i++) {
		if (search->examples[i].against_count)
			add_to_set(&search->against, i);
		else if (search->examples[i].for_count)
			add_to_set(&search->open, i);
	}
}

static void add_support(struct wti_support *support, const struct example *example)
{
	support->for_count += example->for_count;
	support->against_count += example->against_count;
	support->step_count += example->of_fact ? example->of_fact->step_count : 0;
}

/* Of the examples in a set. */
static struct wti_support support_of(const struct search *search, const struct set *set)
{
	struct wti_support support = {0};
	struct wti_origins runs = {0}, programs = {0};

	for (uint32_t i = 0; i < search->count; i++) {
		if (!in_set(set, i))
			continue;
		add_support(&support, &search->examples[i]);
		if (search->examples[i].of_fact) {
			wti_sources_merge(&runs, &search->examples[i].of_fact->runs);
			wti_sources_merge(&programs, &search->examples[i].of_fact->programs);
		}
	}
	support.run_count = wti_sources_count(&runs);
	support.program_count = wti_sources_count(&programs);
	return support;
}

/* Enough examples, in enough different steps or runs, of enough programs. */
static bool is_enough(const struct wti_support *support, const struct wti_demand *demand,
		      uint64_t factor)
{
	bool of_runs = support->run_count >= 2 && support->for_count >= FEW * factor;
	bool of_steps = support->for_count >= demand->examples * factor &&
			support->step_count >= demand->steps * factor;

	return (of_runs || of_steps) && support->program_count >= demand->programs;
}

static double units_of(const struct search *search, const struct set *set)
{
	struct wti_origins runs = {0}, programs = {0};
	uint64_t steps = 0;

	for (uint32_t i = 0; i < search->count; i++) {
		const struct wti_cell *cell = search->examples[i].of_fact;

		if (!cell || !in_set(set, i))
			continue;
		wti_sources_merge(&runs, &cell->runs);
		wti_sources_merge(&programs, &cell->programs);
		steps += cell->step_count;
	}
	return wti_units(search->demand->unit, &programs, &runs, steps);
}

/* A condition that was picked from many separates by chance sooner or later. */
static double units_needed(const struct search *search, uint32_t clauses)
{
	double tried = search->clause_count;

	for (uint32_t i = 2; i <= clauses; i++)
		tried *= (double)search->clause_count / i;
	return wti_units_needed(search->demand->priors, search->tables, search->entry,
				search->against_share, tried);
}

/* ---- Clauses -------------------------------------------------------------------------------- */

static void add_clause(struct search *search, struct wti_clause clause)
{
	struct set covers = {0};
	bool is_new = true;

	if (search->clause_count >= CANDIDATES_MAX)
		return;
	for (uint32_t i = 0; i < search->count; i++)
		if (wti_clause_holds(&clause, search->examples[i].vector))
			add_to_set(&covers, i);
	if (!meets(&covers, &search->open))
		return;
	/* The first of those that cover the same is the simplest. */
	for (uint32_t i = 0; i < search->clause_count && is_new; i++)
		is_new = memcmp(&search->covers[i], &covers, sizeof(covers)) != 0;
	if (!is_new)
		return;
	search->clauses[search->clause_count] = clause;
	search->covers[search->clause_count++] = covers;
}

static void add_values(struct search *search, uint32_t feature, enum wti_clause_type type)
{
	for (uint32_t i = 0; i < search->count; i++) {
		uint32_t value = search->examples[i].vector->values[feature];

		if (value)
			add_clause(search,
				   (struct wti_clause){type, feature, .value = value,
						       .low = value - 1, .high = value - 1});
	}
}

/* Up to, and from, each number that was seen. */
static void add_ranges(struct search *search, uint32_t feature)
{
	for (uint32_t i = 0; i < search->count; i++) {
		uint32_t value = search->examples[i].vector->values[feature];
		struct wti_clause clause = {WTI_CLAUSE_RANGE, feature, .low = 0, .high = value - 1};

		if (!value)
			continue;
		add_clause(search, clause);
		clause.low = value - 1;
		clause.high = UINT32_MAX - 1;
		add_clause(search, clause);
	}
}

static void add_clauses(struct search *search)
{
	for (uint32_t i = 0; i < WTI_FEATURE_COUNT; i++) {
		if (wti_features[i].is_number) {
			add_ranges(search, i);
			continue;
		}
		add_values(search, i, WTI_CLAUSE_CONSTANT);
		add_clause(search, (struct wti_clause){WTI_CLAUSE_EXISTS, i});
		add_clause(search, (struct wti_clause){WTI_CLAUSE_ABSENT, i});
		add_values(search, i, WTI_CLAUSE_NOT);
	}
	add_clause(search, (struct wti_clause){WTI_CLAUSE_EQUAL, WTI_FEATURE_KIND,
					       .other = WTI_FEATURE_OTHER});
	add_clause(search, (struct wti_clause){WTI_CLAUSE_UNEQUAL, WTI_FEATURE_KIND,
					       .other = WTI_FEATURE_OTHER});
}

/* ---- The search ----------------------------------------------------------------------------- */

/* A few exceptions among many observations. */
static bool is_tolerable(const struct search *search, const struct set *covers)
{
	struct wti_weighing weighing = {0};
	struct wti_evidence evidence;

	if (search->demand->unit != WTI_UNIT_PROGRAM || search->risk < TOLERANT_RISK)
		return false;
	for (uint32_t i = 0; i < search->count; i++)
		if (in_set(covers, i))
			wti_weighing_add(&weighing, search->entry->key.form,
					 search->examples[i].of_total, search->examples[i].of_fact);
	evidence = wti_weighing_end(&weighing, search->demand->unit);
	return wti_is_tolerable(&evidence, search->risk);
}

struct best {
	uint32_t clauses[WTI_CLAUSES_MAX];
	uint32_t count;
	struct set covers;
	uint64_t for_count;
};

static void consider(struct search *search, struct best *best, const uint32_t *clauses,
		     uint32_t count, const struct set *covers)
{
	struct set fresh = both(covers, &search->open);
	struct wti_support support;

	if (!meets(&fresh, &search->open))
		return;
	if (meets(covers, &search->against) && !is_tolerable(search, covers))
		return;
	support = support_of(search, &fresh);
	if (support.for_count <= best->for_count || !is_enough(&support, search->demand, 2))
		return;
	if (search->demand->unit == WTI_UNIT_PROGRAM &&
	    units_of(search, &fresh) < units_needed(search, count))
		return;
	*best = (struct best){.count = count, .covers = *covers, .for_count = support.for_count};
	memcpy(best->clauses, clauses, count * sizeof(*clauses));
}

static void try_pairs(struct search *search, struct best *best, bool of_three)
{
	uint32_t n = search->clause_count;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i + 1; j < n; j++) {
			struct set two = both(&search->covers[i], &search->covers[j]);

			if (!meets(&two, &search->open))
				continue;
			if (!of_three)
				consider(search, best, (uint32_t[]){i, j}, 2, &two);
			for (uint32_t k = j + 1; of_three && k < n; k++) {
				struct set three = both(&two, &search->covers[k]);

				consider(search, best, (uint32_t[]){i, j, k}, 3, &three);
			}
		}
}

/* All of one clause, then all of two, then of three; the first number that does is the smallest. */
static bool find_best(struct search *search, struct best *best)
{
	for (uint32_t i = 0; i < search->clause_count; i++)
		consider(search, best, (uint32_t[]){i}, 1, &search->covers[i]);
	if (!best->count)
		try_pairs(search, best, false);
	if (!best->count)
		try_pairs(search, best, true);
	return best->count;
}

static bool find_alternatives(struct search *search, struct wti_precondition *ret,
			      struct set *ret_covered)
{
	add_clauses(search);
	while (ret->count < WTI_ALTERNATIVES_MAX) {
		struct best best = {0};
		struct wti_conjunction *conjunction = &ret->any[ret->count];

		if (!find_best(search, &best))
			break;
		conjunction->count = best.count;
		for (uint32_t i = 0; i < best.count; i++)
			conjunction->clauses[i] = search->clauses[best.clauses[i]];
		for (size_t i = 0; i < WORDS; i++) {
			ret_covered->words[i] |= best.covers.words[i];
			search->open.words[i] &= ~best.covers.words[i];
		}
		ret->count++;
	}
	return ret->count;
}

static struct wti_support whole_support(const struct wti_entry *entry,
					const struct wti_demand *demand, double *ret_units)
{
	struct wti_support support = {0};
	struct wti_origins runs = {0}, programs = {0};

	for (uint32_t i = 0; i < entry->cell_count; i++) {
		support.for_count += entry->cells[i].count;
		support.step_count += entry->cells[i].step_count;
		wti_sources_merge(&runs, &entry->cells[i].runs);
		wti_sources_merge(&programs, &entry->cells[i].programs);
	}
	support.run_count = wti_sources_count(&runs);
	support.program_count = wti_sources_count(&programs);
	*ret_units = wti_units(demand->unit, &programs, &runs, support.step_count);
	return support;
}

static bool is_nearly_always(const struct wti_tables *tables, const struct wti_entry *entry,
			     const struct wti_entry *total, const struct wti_demand *demand)
{
	struct wti_evidence evidence = wti_evidence_of(tables, demand->unit, entry, total);
	double risk = wti_risk(demand->priors, tables, entry);

	return demand->unit == WTI_UNIT_PROGRAM && risk >= TOLERANT_RISK &&
	       wti_is_tolerable(&evidence, risk);
}

/* A measure is not there on every occasion, and cannot fail without being there. */
static bool find_unconditional(const struct wti_tables *tables, const struct wti_entry *entry,
			       const struct wti_entry *total, const struct wti_demand *demand,
			       struct wti_support *ret)
{
	double units;
	struct wti_support support = whole_support(entry, demand, &units);
	uint64_t all = 0;

	for (uint32_t i = 0; i < total->cell_count; i++)
		all += total->cells[i].count;
	support.against_count = wti_against_count(entry->key.form, all, support.for_count);
	if (support.against_count && !is_nearly_always(tables, entry, total, demand))
		return false;
	if (!is_enough(&support, demand, 1))
		return false;
	if (demand->unit == WTI_UNIT_PROGRAM &&
	    units < wti_units_needed(demand->priors, tables, entry, 0, 1))
		return false;
	*ret = support;
	return true;
}

bool wti_precondition_find(const struct wti_tables *tables, const struct wti_entry *entry,
			   const struct wti_entry *total, const struct wti_demand *demand,
			   struct wti_precondition *ret, struct wti_support *ret_support)
{
	struct wti_precondition precondition = {0};
	struct wti_evidence evidence;
	struct set covered = {0};
	struct search *search;
	bool found;

	if (find_unconditional(tables, entry, total, demand, ret_support)) {
		*ret = precondition;
		return true;
	}
	if (total->is_blurred || entry->is_blurred || entry->key.form == WTI_FORM_RANGE)
		return false;
	search = calloc(1, sizeof(*search));
	if (!search)
		return false;
	search->symbols = tables->symbols;
	search->demand = demand;
	search->tables = tables;
	search->entry = entry;
	search->risk = wti_risk(demand->priors, tables, entry);
	evidence = wti_evidence_of(tables, demand->unit, entry, total);
	search->against_share = evidence.all > 0 ? evidence.against / evidence.all : 1;
	gather(search, tables, entry, total);
	found = find_alternatives(search, &precondition, &covered);
	if (found) {
		*ret = precondition;
		*ret_support = support_of(search, &covered);
	}
	free(search);
	return found;
}

/* ---- Words ---------------------------------------------------------------------------------- */

static void clause_words(struct wti_buf *out, const struct wti_symbols *symbols,
			 const struct wti_clause *clause)
{
	const struct wti_feature_row *feature = &wti_features[clause->feature];
	const char *value = wti_symbol_text(symbols, clause->value);

	switch (clause->type) {
	case WTI_CLAUSE_CONSTANT:
		wti_buf_printf(out, "%s is %s", feature->words, *value ? value : "absent");
		break;
	case WTI_CLAUSE_NOT:
		wti_buf_printf(out, "%s is not %s", feature->words, value);
		break;
	case WTI_CLAUSE_EXISTS:
		wti_buf_printf(out, "%s exists", feature->words);
		break;
	case WTI_CLAUSE_ABSENT:
		wti_buf_printf(out, "%s does not exist", feature->words);
		break;
	case WTI_CLAUSE_RANGE:
		wti_buf_printf(out, "%s is ", feature->words);
		if (clause->low == clause->high)
			wti_buf_printf(out, "%u", clause->low);
		else if (clause->high >= UINT32_MAX - 1)
			wti_buf_printf(out, "at least %u", clause->low);
		else
			wti_buf_printf(out, "%u to %u", clause->low, clause->high);
		break;
	case WTI_CLAUSE_EQUAL:
	case WTI_CLAUSE_UNEQUAL:
		wti_buf_printf(out, "%s and %s are %s", feature->words,
			       wti_features[clause->other].words,
			       clause->type == WTI_CLAUSE_EQUAL ? "equal" : "different");
		break;
	default:
		break;
	}
}

void wti_precondition_words(struct wti_buf *out, const struct wti_symbols *symbols,
			    const struct wti_precondition *precondition)
{
	for (uint32_t i = 0; i < precondition->count; i++) {
		const struct wti_conjunction *conjunction = &precondition->any[i];

		wti_buf_text(out, i                           ? ", or where "
				  : precondition->is_inverted ? "unless "
							      : "where ");
		for (uint32_t j = 0; j < conjunction->count; j++) {
			wti_buf_text(out, j ? " and " : "");
			clause_words(out, symbols, &conjunction->clauses[j]);
		}
	}
}
