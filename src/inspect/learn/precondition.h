/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a hypothesis holds: the smallest set of clauses that lets no example against through. Found
 * by trying all of them, up to WTI_CLAUSES_MAX at once, over the few circumstances that were seen;
 * ties are broken by name, so that the answer is the same everywhere.
 */
#ifndef WTI_LEARN_PRECONDITION_H
#define WTI_LEARN_PRECONDITION_H

#include "base/buf.h"
#include "evidence.h"
#include "tables.h"

enum { WTI_CLAUSES_MAX = 3, WTI_ALTERNATIVES_MAX = 2 };

enum wti_clause_type {
	WTI_CLAUSE_CONSTANT, /* the feature has this value */
	WTI_CLAUSE_NOT,      /* has any value but this */
	WTI_CLAUSE_EXISTS,   /* has a value */
	WTI_CLAUSE_ABSENT,
	WTI_CLAUSE_RANGE,   /* a number from low to high */
	WTI_CLAUSE_EQUAL,   /* two features have the same value */
	WTI_CLAUSE_UNEQUAL, /* have different values */
	WTI_CLAUSE_TYPES,
};

extern const char *const wti_clauses[WTI_CLAUSE_TYPES]; /* as packs write them */
int wti_clause_by_name(const char *name);               /* or -1 */

struct wti_clause {
	enum wti_clause_type type;
	uint32_t feature;
	uint32_t other; /* feature */
	uint32_t value; /* as in vectors */
	uint32_t low, high;
};

struct wti_conjunction {
	struct wti_clause clauses[WTI_CLAUSES_MAX];
	uint32_t count;
};

/* One of them has to hold; none at all: always. */
struct wti_precondition {
	struct wti_conjunction any[WTI_ALTERNATIVES_MAX];
	uint32_t count;
	bool is_inverted; /* none of them may hold: only in packs from elsewhere */
};

struct wti_support {
	uint64_t for_count, against_count; /* within the precondition */
	uint64_t step_count;
	uint32_t run_count, program_count; /* at least */
	uint64_t times_low, times_high;    /* of calls: how often on one occasion, if that varies */
};

bool wti_clause_holds(const struct wti_clause *clause, const struct wti_vector *vector);
bool wti_precondition_holds(const struct wti_precondition *precondition,
			    const struct wti_vector *vector);

struct wti_demand {
	uint64_t examples; /* that an unconditional one needs; twice that a conditional one */
	uint64_t steps;
	uint32_t programs;
	/* By what observations are counted, and what is known of their kinds (evidence.h). */
	enum wti_unit unit;
	const struct wti_priors *priors;
};

/* False: there is none. `entry` is a hypothesis, `total` counts the occasions of its subject. */
bool wti_precondition_find(const struct wti_tables *tables, const struct wti_entry *entry,
			   const struct wti_entry *total, const struct wti_demand *demand,
			   struct wti_precondition *ret, struct wti_support *ret_support);
/* "where the stage is train and autocast is on"; nothing for always. */
void wti_precondition_words(struct wti_buf *out, const struct wti_symbols *symbols,
			    const struct wti_precondition *precondition);

#endif
