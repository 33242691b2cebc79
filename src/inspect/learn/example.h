/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an occasion is an example of, and whether for or against. Who counts (tables.c) and who
 * judges (checker.c) both take occasions through wti_examples(), and both decide by the two
 * functions below it what an occasion is to a hypothesis. Neither looks into an occasion itself,
 * so that what is learned from a run and what is held against it cannot differ.
 */
#ifndef WTI_LEARN_EXAMPLE_H
#define WTI_LEARN_EXAMPLE_H

#include "tables.h"

struct wti_example_taker {
	void *self;
	/* There was an occasion of this subject; the form is WTI_FORM_TOTAL. False: not wanted. */
	bool (*begin)(void *self, const struct wti_entry_key *subject);
	/* It was said of it, maybe not for the first time. What was measured, if it is a
	 * measure; how often, if it is a call. */
	void (*said)(void *self, const struct wti_entry_key *key, double measure);
	/* Nothing else was said of it. May be NULL. */
	void (*end)(void *self, const struct wti_entry_key *subject);
	/* Also as an occasion of the function whatever it was given: packs from elsewhere can ask
	 * that. Nobody may learn by it: the same occasion would count twice. */
	bool with_general;
};

void wti_examples(const struct wti_occasion *occasion, const struct wti_example_taker *taker);

enum wti_example_outcome {
	WTI_OUTCOME_NONE, /* it says nothing about the hypothesis */
	WTI_OUTCOME_FOR,
	WTI_OUTCOME_AGAINST,
};

/* Of one occasion of the subject, in the circumstances of the hypothesis. `is_within`: of a
 * measure, whether it lies within the bounds. */
enum wti_example_outcome wti_outcome_of(uint32_t form, bool is_said, bool is_within);
/* The same of many, for who has counted them: how many of `all` occasions are against what was said
 * of `said_count` of them. */
uint64_t wti_against_count(uint32_t form, uint64_t all, uint64_t said_count);

#endif
