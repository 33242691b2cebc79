/* SPDX-License-Identifier: Apache-2.0 */
/* Occasions as examples: the one definition that counting and judging share. */
#include "example.h"
#include "relation.h"

static void visit(const struct wti_occasion *occasion, uint32_t second,
		  const struct wti_example_taker *taker)
{
	const struct wti_entry_key subject = {.relation = occasion->relation,
					      .subject = {occasion->subject[0], second},
					      .form = WTI_FORM_TOTAL};
	struct wti_entry_key key = subject;

	if (!taker->begin(taker->self, &subject))
		return;
	for (uint32_t i = 0; i < occasion->fact_count; i++) {
		key.form = occasion->facts[i].form;
		key.a = occasion->facts[i].a;
		key.b = occasion->facts[i].b;
		taker->said(taker->self, &key, occasion->facts[i].times);
	}
	key.form = WTI_FORM_RANGE;
	key.b = 0;
	for (uint32_t i = 0; i < occasion->measure_count; i++) {
		key.a = occasion->measures[i].name;
		taker->said(taker->self, &key, occasion->measures[i].value);
	}
	if (taker->end)
		taker->end(taker->self, &subject);
}

void wti_examples(const struct wti_occasion *occasion, const struct wti_example_taker *taker)
{
	visit(occasion, occasion->subject[1], taker);
	if (taker->with_general && occasion->subject[1] &&
	    wti_relations[occasion->relation]->is_by_signature)
		visit(occasion, 0, taker);
}

/* What can be missing is against it when it is; a measure that was not taken says nothing. */
static bool can_be_missing(uint32_t form)
{
	return form != WTI_FORM_RANGE;
}

enum wti_example_outcome wti_outcome_of(uint32_t form, bool is_said, bool is_within)
{
	if (can_be_missing(form))
		return is_said ? WTI_OUTCOME_FOR : WTI_OUTCOME_AGAINST;
	if (!is_said)
		return WTI_OUTCOME_NONE;
	return is_within ? WTI_OUTCOME_FOR : WTI_OUTCOME_AGAINST;
}

uint64_t wti_against_count(uint32_t form, uint64_t all, uint64_t said_count)
{
	return can_be_missing(form) && all > said_count ? all - said_count : 0;
}
