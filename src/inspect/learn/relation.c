/* SPDX-License-Identifier: Apache-2.0 */
/* What relations share: the sentences, and of which sort and how much of chance what they say is.
 */
#include "fields.h"
#include "relation.h"

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
