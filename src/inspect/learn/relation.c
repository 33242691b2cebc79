/* SPDX-License-Identifier: Apache-2.0 */
/* What relations share: the sentences, and of which kind and how much of chance what they say is.
 */
#include <stdio.h>
#include <string.h>

#include "fields.h"
#include "relation.h"

/* ---- Terms ---------------------------------------------------------------------------------- */

/* Whether what follows the word of a numbered term is a number. */
static bool is_number(const char *rest)
{
	return *rest == '.' && rest[1] && !rest[1 + strspn(rest + 1, "0123456789")];
}

int wti_term_by_word(const struct wti_relation *relation, const char *word)
{
	const struct wti_term *terms = relation->terms;

	for (int i = 0; terms && terms[i].word; i++) {
		size_t bytes = strlen(terms[i].word);

		if (!strncmp(word, terms[i].word, bytes) &&
		    (terms[i].is_numbered ? is_number(word + bytes) : !word[bytes]))
			return i;
	}
	return WTI_NO_TERM;
}

static const char *text_of(const struct wti_relation *relation, int term, const char *word,
			   enum wti_form form, char *text, size_t bytes)
{
	const struct wti_term *found = term >= 0 ? &relation->terms[term] : NULL;

	if (found && found->is_numbered) {
		snprintf(text, bytes, "%s %s", found->text, word + strlen(found->word) + 1);
		return text;
	}
	if (found)
		return found->text;
	return form == WTI_FORM_TRUE ? wti_field_text(word, text, bytes) : word;
}

void wti_words_init(struct wti_words *words, const struct wti_relation *relation,
		    const char *const subject[2], enum wti_form form, const char *a, const char *b)
{
	*words = (struct wti_words){
		.form = form,
		.subject_term = {wti_term_by_word(relation, subject[0]),
				 wti_term_by_word(relation, subject[1])},
		.a_term = wti_term_by_word(relation, a),
		.b_term = wti_term_by_word(relation, b),
		.a_word = a,
	};
	for (size_t i = 0; i < 2; i++)
		words->subject[i] = words->subject_term[i] >= 0
					    ? relation->terms[words->subject_term[i]].text
					    : subject[i];
	words->a =
		text_of(relation, words->a_term, a, form, words->text[0], sizeof(words->text[0]));
	words->b =
		text_of(relation, words->b_term, b, form, words->text[1], sizeof(words->text[1]));
}

enum wti_topic wti_topic_of(const struct wti_relation *relation, const struct wti_words *words)
{
	enum wti_topic topic = WTI_TOPIC_NONE;

	if (words->a_term >= 0)
		topic = relation->terms[words->a_term].topic;
	if (!topic && words->b_term >= 0)
		topic = relation->terms[words->b_term].topic;
	if (!topic)
		topic = relation->topic;
	if (!topic && words->a_term < 0)
		topic = wti_field_topic(words->a_word);
	return topic;
}

/* ---- Sorts and chance ----------------------------------------------------------------------- */

const char *wti_kind_by_fact(const struct wti_words *words)
{
	return words->a_word;
}

const char *wti_kind_by_field(const struct wti_words *words)
{
	return wti_field_kind(words->a_word);
}

bool wti_chance_always(const struct wti_words *words)
{
	return true;
}

bool wti_chance_by_field(const struct wti_words *words)
{
	return words->form == WTI_FORM_TRUE && wti_field_is_of_contents(words->a_word);
}

/* ---- Sentences ------------------------------------------------------------------------------ */

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
