/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of events that people read better as words: bits of flags, the position of what a call
 * returns, values of single precision. Only for lines of text: machines get the numbers. The words
 * for bits are generated (schema/events.toml).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "cell.h"
#include "flag_words.h"
#include "words.h"

static bool is_ours(const struct wt_kind *kind)
{
	const struct wt_kind *ours = wt_kind_builtin(kind->number);

	return ours && !strcmp(ours->name, kind->name);
}

static void add_word(struct wti_buf *out, size_t start, const char *word)
{
	if (!word || !word[0])
		return;
	if (out->bytes > start)
		wti_buf_byte(out, ',');
	wti_buf_text(out, word);
}

/* False: the field has no flags. */
static bool add_flags(struct wti_buf *out, uint32_t kind, int field, uint64_t value)
{
	size_t start = out->bytes;
	uint64_t rest = value, known = 0;

	for (size_t i = 0; i < WTI_COUNT(wti_flag_words); i++) {
		const struct wti_flag_word *word = &wti_flag_words[i];

		if (word->kind != kind || word->field != field)
			continue;
		if (value & word->bit)
			add_word(out, start, word->word);
		else if (value & word->bit >> 1)
			add_word(out, start, word->unset);
		known |= word->bit;
	}
	rest &= ~known;
	if (!known || !rest)
		return known;
	if (out->bytes > start)
		wti_buf_byte(out, ',');
	wti_buf_printf(out, "%llu", (unsigned long long)rest); /* appended since */
	return true;
}

bool wti_words(struct wti_buf *out, const struct wt_kind *kind, int index,
	       const struct wti_shown *value)
{
	const char *name = kind->fields[index].name;

	if (!is_ours(kind))
		return false;
	if (value->type == WTI_SHOWN_UINT)
		return add_flags(out, kind->number, index, value->u);
	if (value->type == WTI_SHOWN_INT && value->i == -1 && !strcmp(name, "position")) {
		wti_buf_text(out, "returned");
		return true;
	}
	return false;
}

void wti_words_float(struct wti_buf *out, double number)
{
	float single = (float)number;
	char text[40];

	if (!isfinite(number) || (double)single != number) {
		wti_cell_number(out, number);
		return;
	}
	for (int digits = 6; digits <= 9; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (strtof(text, NULL) == single)
			break;
	}
	wti_buf_text(out, text);
}
