/* SPDX-License-Identifier: Apache-2.0 */
/* All relations, and the sentences that they share. */
#include <string.h>

#include "inspect/learn/fields.h"
#include "inspect/learn/relation.h"

/* Causes before what follows from them: of two findings of the same step the first is shown first.
 */
/* clang-format off */
const struct wti_relation *const wti_relations[] = {
	&wti_relation_mode,
	&wti_relation_data,
	&wti_relation_order,
	&wti_relation_loss,
	&wti_relation_parts,
	&wti_relation_schedule,
	&wti_relation_argument,
	&wti_relation_distinct,
	&wti_relation_every_step,
	&wti_relation_output,
	&wti_relation_contain,
	&wti_relation_changes,
	&wti_relation_consistent,
	&wti_relation_ranks,
	&wti_relation_saved,
	&wti_relation_count,
	&wti_relation_traincheck,
	NULL,
};
/* clang-format on */

size_t wti_relation_count_all(void)
{
	size_t count = 0;

	while (wti_relations[count])
		count++;
	return count;
}

int wti_relation_by_name(const char *name)
{
	for (int i = 0; wti_relations[i]; i++)
		if (!strcmp(wti_relations[i]->name, name))
			return i;
	return -1;
}

const char *wti_sort_by_fact(const struct wti_words *words)
{
	return words->a;
}

const char *wti_sort_by_field(const struct wti_words *words)
{
	return wti_field_sort(words->a);
}

bool wti_chance_always(const struct wti_words *words)
{
	return true;
}

bool wti_chance_by_field(const struct wti_words *words)
{
	return words->form == WTI_FORM_TRUE && wti_field_is_of_contents(words->a);
}

void wti_describe_fact(struct wti_buf *out, const struct wti_words *words)
{
	switch (words->form) {
	case WTI_FORM_TRUE:
		wti_buf_text(out, words->a);
		break;
	case WTI_FORM_CALLS:
		wti_buf_printf(out, "calls %s", words->a);
		break;
	case WTI_FORM_SINCE:
		wti_buf_printf(out, "comes after %s", words->a);
		break;
	case WTI_FORM_BEFORE:
		wti_buf_printf(out, "%s comes before %s", words->a, words->b);
		break;
	case WTI_FORM_IS:
		wti_buf_printf(out, "%s is %s", words->a, words->b);
		break;
	case WTI_FORM_SAME:
		wti_buf_printf(out, "%s equals %s", words->a, words->b);
		break;
	case WTI_FORM_RANGE:
		if (words->low == words->high)
			wti_buf_printf(out, "%s is %g", words->a, words->low);
		else
			wti_buf_printf(out, "%s is from %g to %g", words->a, words->low,
				       words->high);
		break;
	default:
		break;
	}
}
