/* SPDX-License-Identifier: Apache-2.0 */
/* Observations for and against, and how many are enough. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "evidence.h"
#include "example.h"
#include "relation.h"

#define STEPS_A_UNIT 5.0
#define PROGRAMS_MIN 8 /* from which on one can learn from them what holds in others */
#define TRIED_OFTEN                                                                                \
	4.0           /* observations from which on a hypothesis says something about its kind     \
		       */
#define BUDGET 1.0    /* false positives that a kind may raise in the next observation */
#define RISK_MIN 0.02 /* of a single hypothesis */
#define RISK_MAX 0.12
#define SHARE_DEFAULT 0.3 /* of observations against one that is false, if nothing is known */
#define SHARE_MIN 0.1
#define SHARE_MAX 0.9
#define TOLERANT_FROM 10.0 /* observations from which on an exception differs from a rule */
#define SORTS_MAX 65536u

double wti_wilson(uint64_t for_count, uint64_t against_count)
{
	double n = (double)for_count + (double)against_count, z = 1.96;
	double share, centre, spread;

	if (n == 0)
		return 0;
	share = (double)for_count / n;
	centre = share + z * z / (2 * n);
	spread = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
	return (centre - spread) / (1 + z * z / n);
}

enum wti_unit wti_unit_of(const struct wti_tables *tables)
{
	struct wti_origins programs = {0}, runs = {0};

	for (size_t i = 0; i < tables->entry_count; i++)
		for (uint32_t j = 0; j < tables->entries[i].cell_count; j++) {
			wti_sources_merge(&programs, &tables->entries[i].cells[j].programs);
			wti_sources_merge(&runs, &tables->entries[i].cells[j].runs);
		}
	if (wti_sources_count(&programs) >= PROGRAMS_MIN)
		return WTI_UNIT_PROGRAM;
	return wti_sources_count(&runs) > 1 ? WTI_UNIT_RUN : WTI_UNIT_STEPS;
}

double wti_units(enum wti_unit unit, const struct wti_origins *programs,
		 const struct wti_origins *runs, uint64_t step_count)
{
	switch (unit) {
	case WTI_UNIT_PROGRAM:
		return wti_sources_count(programs);
	case WTI_UNIT_RUN:
		return wti_sources_count(runs);
	default:
		return (double)step_count / STEPS_A_UNIT;
	}
}

/* Those that never were for it in one circumstance, and those that were not always. */
static void add_against(uint32_t form, const struct wti_cell *of_total,
			const struct wti_cell *of_fact, struct wti_origins *programs,
			struct wti_origins *runs, uint64_t *steps)
{
	static const struct wti_origins none;
	uint64_t against = wti_against_count(form, of_total->count, of_fact ? of_fact->count : 0);
	struct wti_origins more;

	if (!against)
		return;
	more = wti_sources_without(&of_total->programs, of_fact ? &of_fact->programs : &none);
	wti_sources_merge(programs, &more);
	more = wti_sources_without(&of_total->runs, of_fact ? &of_fact->runs : &none);
	wti_sources_merge(runs, &more);
	if (of_fact) {
		wti_sources_merge(programs, &of_fact->against_programs);
		wti_sources_merge(runs, &of_fact->against_runs);
	}
	*steps += against < of_total->step_count ? against : of_total->step_count;
}

void wti_weighing_add(struct wti_weighing *weighing, uint32_t form, const struct wti_cell *of_total,
		      const struct wti_cell *of_fact)
{
	wti_sources_merge(&weighing->programs, &of_total->programs);
	wti_sources_merge(&weighing->runs, &of_total->runs);
	weighing->steps += of_total->step_count;
	add_against(form, of_total, of_fact, &weighing->against_programs, &weighing->against_runs,
		    &weighing->against_steps);
}

struct wti_evidence wti_weighing_end(const struct wti_weighing *weighing, enum wti_unit unit)
{
	return (struct wti_evidence){
		.all = wti_units(unit, &weighing->programs, &weighing->runs, weighing->steps),
		.against = wti_units(unit, &weighing->against_programs, &weighing->against_runs,
				     weighing->against_steps),
	};
}

struct wti_evidence wti_evidence_of(const struct wti_tables *tables, enum wti_unit unit,
				    const struct wti_entry *entry, const struct wti_entry *total)
{
	struct wti_weighing weighing = {0};
	struct wti_evidence evidence;
	uint64_t all = 0, for_count = 0;

	for (uint32_t i = 0; i < total->cell_count; i++) {
		all += total->cells[i].count;
		wti_weighing_add(&weighing, entry->key.form, &total->cells[i],
				 total->is_blurred
					 ? &total->cells[i]
					 : wti_entry_cell(tables, entry, total->cells[i].vector));
	}
	for (uint32_t i = 0; i < entry->cell_count; i++)
		for_count += entry->cells[i].count;
	evidence = wti_weighing_end(&weighing, unit);
	if (wti_against_count(entry->key.form, all, for_count) && evidence.against < 1)
		evidence.against = 1;
	return evidence;
}

/* ---- Sorts ---------------------------------------------------------------------------------- */

static const struct wti_prior *prior_of(const struct wti_priors *priors,
					const struct wti_tables *tables,
					const struct wti_entry *entry, uint64_t **ret_slot)
{
	const struct wti_relation *relation = wti_relations[entry->key.relation];
	const char *const subject[] = {wti_symbol_text(tables->symbols, entry->key.subject[0]),
				       wti_symbol_text(tables->symbols, entry->key.subject[1])};
	char key[256] = {(char)entry->key.relation, (char)entry->key.form};
	struct wti_words words;
	const char *kind;
	size_t bytes;

	wti_words_init(&words, relation, subject, (enum wti_form)entry->key.form,
		       wti_symbol_text(tables->symbols, entry->key.a),
		       wti_symbol_text(tables->symbols, entry->key.b));
	kind = relation->kind_of ? relation->kind_of(&words) : "";
	bytes = strnlen(kind, sizeof(key) - 2);
	memcpy(key + 2, kind, bytes);
	*ret_slot = wti_map_text((struct wti_map *)&priors->index, key, bytes + 2);
	return *ret_slot && **ret_slot ? &priors->priors[**ret_slot - 1] : NULL;
}

static bool add_to_sort(struct wti_priors *priors, const struct wti_tables *tables,
			const struct wti_entry *entry, const struct wti_evidence *evidence)
{
	uint64_t *slot;
	struct wti_prior *prior = (struct wti_prior *)prior_of(priors, tables, entry, &slot);

	if (!slot)
		return false;
	if (!prior) {
		if (wti_grow(&priors->priors, priors->count + 1, &priors->capacity, SORTS_MAX))
			return false;
		prior = &priors->priors[priors->count++];
		*prior = (struct wti_prior){0};
		*slot = priors->count;
	}
	if (evidence->against > 0) {
		prior->false_count++;
		prior->against_share += fmin(evidence->against / evidence->all, 1);
	} else {
		prior->true_count++;
	}
	return true;
}

/* A hypothesis that most observations are against was never a candidate of its kind. */
int wti_priors_learn(struct wti_priors *priors, const struct wti_tables *tables, enum wti_unit unit,
		     struct wt_err *err)
{
	*priors = (struct wti_priors){0};
	wti_map_init(&priors->index, SORTS_MAX);
	for (size_t i = 0; i < tables->entry_count; i++) {
		const struct wti_entry *entry = &tables->entries[i];
		const struct wti_entry *total;
		struct wti_evidence evidence;

		if (entry->is_dropped || entry->key.form == WTI_FORM_TOTAL ||
		    entry->key.form == WTI_FORM_RANGE)
			continue;
		total = wti_tables_total(tables, entry);
		if (!total)
			continue;
		evidence = wti_evidence_of(tables, unit, entry, total);
		if (evidence.all < TRIED_OFTEN || evidence.against > evidence.all / 2)
			continue;
		if (!add_to_sort(priors, tables, entry, &evidence))
			return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	return 0;
}

void wti_priors_release(struct wti_priors *priors)
{
	wti_map_release(&priors->index);
	free(priors->priors);
	*priors = (struct wti_priors){0};
}

/*
 * One that is false meets n observations that are all for it with (1 - q)^n, and is then met by one
 * against with q. Weighed with how many of its kind are false for one that is true, and with the
 * number of conditions that were tried, that has to stay below the risk that it may take.
 */
double wti_risk(const struct wti_priors *priors, const struct wti_tables *tables,
		const struct wti_entry *entry)
{
	uint64_t *slot;
	const struct wti_prior *prior = prior_of(priors, tables, entry, &slot);
	double candidates = prior ? prior->true_count + prior->false_count : 1;

	return fmin(fmax(BUDGET / fmax(candidates, 1), RISK_MIN), RISK_MAX);
}

bool wti_is_tolerable(const struct wti_evidence *evidence, double risk)
{
	return evidence->all >= TOLERANT_FROM &&
	       (evidence->against + 0.5) / (evidence->all + 1) <= risk;
}

bool wti_is_beyond_chance(uint64_t against_count, uint64_t all_count, uint32_t units)
{
	return wti_wilson(against_count, all_count - against_count) > 1.0 / (units + 1.0);
}

bool wti_times_reach_zero(uint64_t low, uint64_t high)
{
	return high > low && high - low >= low;
}

/* By the rule of succession. */
bool wti_is_sure_of_next(uint32_t units)
{
	return (units + 1.0) / (units + 2.0) >= WTI_SURE;
}

uint32_t wti_units_of_support(uint32_t run_count, uint32_t program_count)
{
	return program_count >= PROGRAMS_MIN ? program_count : run_count;
}

double wti_units_needed(const struct wti_priors *priors, const struct wti_tables *tables,
			const struct wti_entry *entry, double against, double tried)
{
	uint64_t *slot;
	const struct wti_prior *prior = prior_of(priors, tables, entry, &slot);
	double odds = 1, share = SHARE_DEFAULT;
	double risk = wti_risk(priors, tables, entry);

	if (prior) {
		odds = (prior->false_count + 1) / (prior->true_count + 1);
		share = (prior->against_share + SHARE_DEFAULT) / (prior->false_count + 1);
	}
	if (against > 0)
		share = against;
	share = fmin(fmax(share, SHARE_MIN), SHARE_MAX);
	return log(odds * tried * share / risk) / -log(1 - share);
}
