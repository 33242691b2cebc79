/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for what cannot be meant in a pack. */
#include <string.h>

#include "base/text.h"
#include "inspect/learn/relation.h"
#include "pack_lint.h"

#define TEXT_MAX 8192u

static void add(struct wt_result *result, const char *path, enum wt_severity severity,
		const char *title, const char *evidence)
{
	wt_result_finding(result, &(struct wt_finding){
					  .code = "WT-PACK-001",
					  .severity = severity,
					  .title = title,
					  .file = path,
					  .line = -1,
					  .step = -1,
					  .rank = -1,
					  .first_step = -1,
					  .last_step = -1,
					  .evidence = evidence,
					  .count = 1,
				  });
}

static uint32_t act_of(const struct wti_invariant *order, uint32_t place)
{
	return place == 0 ? order->fact.a : place == 1 ? order->fact.b : order->then[place - 2];
}

/* Where an act stands in an order, plus one; 0: nowhere. */
static uint32_t place_of(const struct wti_invariant *order, uint32_t act)
{
	for (uint32_t i = 0; i < order->then_count + 2; i++)
		if (act_of(order, i) == act)
			return i + 1;
	return 0;
}

/* Whether two acts stand in one order as they do not in the other. */
static bool turn_round(const struct wti_invariant *a, const struct wti_invariant *b)
{
	for (uint32_t i = 0; i < a->then_count + 2; i++)
		for (uint32_t j = i + 1; j < a->then_count + 2; j++) {
			uint32_t first = place_of(b, act_of(a, i));
			uint32_t second = place_of(b, act_of(a, j));

			if (first && second && second < first)
				return true;
		}
	return false;
}

/* Of one subject, under the same conditions: a field with two values, a and then not a. */
static bool exclude_each_other(const struct wti_pack *pack, const struct wti_invariant *a,
			       const struct wti_invariant *b)
{
	const char *left = wti_symbol_text(&pack->symbols, a->fact.a);
	const char *right = wti_symbol_text(&pack->symbols, b->fact.a);

	if (a->relation != b->relation || a->subject[0] != b->subject[0] ||
	    a->subject[1] != b->subject[1] || a->fact.form != b->fact.form ||
	    memcmp(&a->when, &b->when, sizeof(a->when)))
		return false;
	switch (a->fact.form) {
	case WTI_FORM_IS:
		return a->fact.a == b->fact.a && a->fact.b != b->fact.b;
	case WTI_FORM_BEFORE:
		return turn_round(a, b);
	case WTI_FORM_TRUE:
		return !strcmp(left, "changes") && !strcmp(right, "stays");
	default:
		return false;
	}
}

static void lint_pairs(const struct wti_pack *pack, const char *path, struct wt_result *result)
{
	for (size_t i = 0; i < pack->count; i++)
		for (size_t j = i + 1; j < pack->count; j++) {
			const struct wti_invariant *a = &pack->invariants[i];
			const struct wti_invariant *b = &pack->invariants[j];
			struct wti_buf words;

			/* They are in the order of subjects. */
			if (a->relation != b->relation || a->subject[0] != b->subject[0])
				break;
			if (!exclude_each_other(pack, a, b))
				continue;
			wti_buf_init(&words, TEXT_MAX);
			wti_buf_printf(&words, "%s and %s", a->id, b->id);
			add(result, path, WT_ERROR, "two invariants contradict each other",
			    wti_buf_cstr(&words));
			wti_buf_release(&words);
		}
}

static bool concerns_any(const struct wti_pack *pack, const struct wti_suppression *suppression)
{
	for (size_t i = 0; i < pack->count; i++) {
		const struct wti_invariant *invariant = &pack->invariants[i];
		const char *code = wti_relations[invariant->relation]->code;

		if (wti_glob(suppression->pattern, invariant->id, strlen(invariant->id)) ||
		    wti_glob(suppression->pattern, code, strlen(code)))
			return true;
	}
	return false;
}

static void lint_suppressions(const struct wti_pack *pack, const char *path, const char *today,
			      struct wt_result *result)
{
	for (size_t i = 0; i < pack->suppression_count; i++) {
		const struct wti_suppression *suppression = &pack->suppressions[i];

		if (!concerns_any(pack, suppression))
			add(result, path, WT_WARNING, "a suppression matches nothing",
			    suppression->pattern);
		else if (suppression->until && strcmp(suppression->until, today) < 0)
			add(result, path, WT_WARNING, "a suppression has expired",
			    suppression->pattern);
		if (!*suppression->reason)
			add(result, path, WT_WARNING, "a suppression has no reason",
			    suppression->pattern);
	}
}

void wti_pack_lint(const struct wti_pack *pack, const char *path, const char *today,
		   struct wt_result *result)
{
	lint_pairs(pack, path, result);
	lint_suppressions(pack, path, today, result);
	if (!pack->count)
		add(result, path, WT_WARNING, "a pack without invariants",
		    "nothing can be checked");
}
