/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much has to speak for a hypothesis. What counts as one observation is a program where many
 * were learned from, otherwise a run, otherwise a few steps: examples of one program agree with
 * each other whatever is true. Who learns from one program wants to know what holds in that one:
 * then a fixed number of examples is enough. Who learns from many wants to know what holds in the
 * next:
 *
 * Hypotheses of one kind ("the result has so many dimensions") fall or stand together. Those that
 * were tried often enough say what share of the kind is true at all (its survival), and how many
 * observations are against one that is not. From that follows how many observations without an
 * example against it takes until the next one will hardly be against it either.
 */
#ifndef WTI_LEARN_EVIDENCE_H
#define WTI_LEARN_EVIDENCE_H

#include "tables.h"

#define WTI_SURE 0.9 /* from this confidence on a violation is an error */

enum wti_unit { WTI_UNIT_STEPS, WTI_UNIT_RUN, WTI_UNIT_PROGRAM };

/* Lower bound of the share, with 95 % confidence (Wilson). */
double wti_wilson(uint64_t for_count, uint64_t against_count);

/* What the tables allow to count by. */
enum wti_unit wti_unit_of(const struct wti_tables *tables);
double wti_units(enum wti_unit unit, const struct wti_origins *programs,
		 const struct wti_origins *runs, uint64_t step_count);

struct wti_evidence {
	double all;     /* observations with such an occasion */
	double against; /* at least so many of them were against it */
};

struct wti_evidence wti_evidence_of(const struct wti_tables *tables, enum wti_unit unit,
				    const struct wti_entry *entry, const struct wti_entry *total);

/* The same of some circumstances: add them one by one. */
struct wti_weighing {
	struct wti_origins programs, runs, against_programs, against_runs;
	uint64_t steps, against_steps;
};

void wti_weighing_add(struct wti_weighing *weighing, uint32_t form, const struct wti_cell *of_total,
		      const struct wti_cell *of_fact);
struct wti_evidence wti_weighing_end(const struct wti_weighing *weighing, enum wti_unit unit);

/* What is known of a kind of hypotheses. */
struct wti_prior {
	double true_count, false_count; /* that were tried often enough */
	double against_share;           /* summed over the false ones */
};

struct wti_priors {
	struct wti_map index; /* relation, form and kind: place plus one */
	struct wti_prior *priors;
	size_t count, capacity;
};

int wti_priors_learn(struct wti_priors *priors, const struct wti_tables *tables, enum wti_unit unit,
		     struct wt_err *err);
void wti_priors_release(struct wti_priors *priors);
/* How many observations it takes, if so many conditions were tried; `against` is the share of
 * observations against it, 0 for one that nothing speaks against. */
double wti_units_needed(const struct wti_priors *priors, const struct wti_tables *tables,
			const struct wti_entry *entry, double against, double tried);

/* That the next observation is against one that was accepted: of a kind that says many things each
 * has to be surer. */
double wti_risk(const struct wti_priors *priors, const struct wti_tables *tables,
		const struct wti_entry *entry);
/*
 * Of what chance decides: whether so many occasions against it, of all that a run has, are more
 * than a good run may have. `units` runs, or programs, had none. By the rule of succession the next
 * one is like none of them with 1 / (units + 1); a share of its occasions that is surely larger
 * than that is not one of those that happen to be against it.
 */
bool wti_is_beyond_chance(uint64_t against_count, uint64_t all_count, uint32_t units);
/* Whether what was called so often, on one occasion at least, may as well not be called at all: the
 * number varies by no less than the least of it. */
bool wti_times_reach_zero(uint64_t low, uint64_t high);
/* Whether so many runs, or programs, are enough to be sure of the next one. */
bool wti_is_sure_of_next(uint32_t units);
/* What support counts as such units. */
uint32_t wti_units_of_support(uint32_t run_count, uint32_t program_count);
/* Whether those against it are so few among many that they are exceptions. */
bool wti_is_tolerable(const struct wti_evidence *evidence, double risk);

#endif
