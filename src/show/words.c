/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of events that people read better as words: bits of flags, the position of what a call
 * returns, values of single precision. Only for lines of text: machines get the numbers.
 * docs/events.md has the bits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "cell.h"
#include "words.h"

static const struct flag {
	uint32_t kind;
	uint32_t bit;
	const char *word;
	const char *otherwise; /* if the bit is not set, but that before it is */
} flags[] = {
	{WT_KIND_STATE, 1, "first", NULL},
	{WT_KIND_STATE, 2, "zeros", NULL},
	{WT_KIND_TENSOR, 1, "requires_grad", NULL},
	{WT_KIND_TENSOR, 2, "strided", NULL},
	{WT_KIND_TENSOR, 4, "no_statistics", NULL},
	{WT_KIND_TENSOR, 8, "no_hash", NULL},
	{WT_KIND_TENSOR, 16, "blob", NULL},
	{WT_KIND_TENSOR, 32, "blob_lost", NULL},
	{WT_KIND_TENSOR, 64, "late", NULL},
	{WT_KIND_CALL_BEGIN, 1, "", NULL}, /* it is known whether it trains */
	{WT_KIND_CALL_BEGIN, 2, "train", "eval"},
	{WT_KIND_CALL_BEGIN, 4, "grad", NULL},
	{WT_KIND_CALL_BEGIN, 8, "autocast", NULL},
	{WT_KIND_CALL_BEGIN, 16, "inference", NULL},
	{WT_KIND_CALL_BEGIN, 32, "outermost", NULL},
	{WT_KIND_CALL_BEGIN, 64, "leaf", NULL},
	{WT_KIND_MEMBER, 1, "requires_grad", NULL},
	{WT_KIND_OPERATOR_END, 1, "exception", NULL},
	{WT_KIND_THINNED, 1, "digests", NULL},
	{WT_KIND_THINNED, 2, "arguments", NULL},
	{WT_KIND_THINNED, 4, "calls", NULL},
	{WT_KIND_THINNED, 8, "parameters", NULL},
	{WT_KIND_THINNED, 16, "gradients", NULL},
	{WT_KIND_THINNED, 32, "buffers", NULL},
	{WT_KIND_THINNED, 64, "optimizer", NULL},
	{WT_KIND_THINNED, 128, "modes", NULL},
	{WT_KIND_THINNED, 256, "rng", NULL},
	{WT_KIND_THINNED, 512, "losses", NULL},
	{WT_KIND_THINNED, 1024, "data", NULL},
	{WT_KIND_THINNED, 2048, "statistics", NULL},
	{WT_KIND_THINNED, 4096, "unneeded_calls", NULL},
};

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

static void add_flags(struct wti_buf *out, uint32_t kind, uint64_t value)
{
	size_t start = out->bytes;
	uint64_t rest = value;

	for (size_t i = 0; i < WTI_COUNT(flags); i++) {
		if (flags[i].kind != kind)
			continue;
		if (value & flags[i].bit)
			add_word(out, start, flags[i].word);
		else if (value & flags[i].bit >> 1)
			add_word(out, start, flags[i].otherwise);
		rest &= ~(uint64_t)flags[i].bit;
	}
	if (!rest) /* bits that were appended since stay a number */
		return;
	if (out->bytes > start)
		wti_buf_byte(out, ',');
	wti_buf_printf(out, "%llu", (unsigned long long)rest);
}

bool wti_words(struct wti_buf *out, const struct wt_kind *kind, int index,
	       const struct wti_shown *value)
{
	const char *name = kind->fields[index].name;

	if (!is_ours(kind))
		return false;
	if (value->type == WTI_SHOWN_UINT && (!strcmp(name, "flags") || !strcmp(name, "lacks"))) {
		add_flags(out, kind->number, value->u);
		return true;
	}
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
