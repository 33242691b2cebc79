/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One idea carries learning and checking: an occasion, and what was true of it. A relation looks at
 * a run and reports occasions (a call returned, a step ended, a parameter was stepped), each with
 * its circumstances and all that it found true. A hypothesis is (relation, subject, fact): whenever
 * there is such an occasion, the fact is true. What did not happen needs no event of its own: it is
 * missing among the facts.
 *
 * Whoever takes occasions is either learning or checking; relations do not know which.
 */
#ifndef WTI_LEARN_OCCASION_H
#define WTI_LEARN_OCCASION_H

#include "feature.h"
#include "inspect/training/training.h"

enum wti_form {
	WTI_FORM_TRUE,   /* a */
	WTI_FORM_CALLS,  /* a is called within it */
	WTI_FORM_SINCE,  /* a came since the occasion before */
	WTI_FORM_BEFORE, /* since the occasion before, the last a came before the last b */
	WTI_FORM_IS,     /* a is b */
	WTI_FORM_SAME,   /* a and b are the same */
	WTI_FORM_RANGE,  /* a, a number, is within bounds */
	WTI_FORM_COUNT,
};

/* As packs write it. */
extern const char *const wti_forms[WTI_FORM_COUNT];
int wti_form_by_name(const char *name); /* or -1 */

struct wti_fact {
	uint32_t form;
	uint32_t a, b;  /* symbols */
	uint32_t times; /* of calls: how often, on one occasion; otherwise 0 */
};

struct wti_measure {
	uint32_t name;
	double value;
};

enum {
	WTI_FACTS_MAX = 512,
	WTI_MEASURES_MAX = 32,
	WTI_CHAIN_MAX = 6, /* acts of an order in one invariant, after the first two */
};

struct wti_occasion {
	uint32_t relation;   /* place in wti_relations */
	uint32_t subject[2]; /* symbols */
	struct wti_vector vector;
	const struct wti_moment *moment; /* where it was */
	uint32_t about;                  /* what it concerns by name, for people; a symbol */
	uint32_t fact_count;
	uint32_t measure_count;
	struct wti_fact facts[WTI_FACTS_MAX];
	struct wti_measure measures[WTI_MEASURES_MAX];
};

struct wti_sink_of_occasions {
	void *self;
	void (*take)(void *self, const struct wti_occasion *occasion);
};

#endif
