/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What additions and products of one run show by their sampled elements, without noise: bits that
 * cancel, updates that are too small to change anything, results that are 0 though no input is.
 */
#include <math.h>

#include "element.h"
#include "tally.h"

struct operands {
	const struct wti_sampled *a, *b, *out;
	unsigned mantissa;
};

static double real_at(const struct wti_sampled *value, size_t i)
{
	return value->reals[value->filled == 1 ? 0 : i];
}

static bool is_beside(const struct wti_sampled *value, const struct wti_sampled *out)
{
	return value->reals && value->filled &&
	       ((value->filled == out->filled && value->count == out->count) || value->count == 1);
}

/* The inputs whose elements are those of the output, or one for all; b NULL: there is one alone. */
static bool operands_of(const struct wti_item *item, struct operands *ret)
{
	*ret = (struct operands){0};
	for (size_t i = 0; i < item->value_count; i++) {
		const struct wti_sampled *value = &item->values[i];

		if (value->position < 0 && !ret->out && value->reals && value->filled)
			ret->out = value;
	}
	if (!ret->out)
		return false;
	ret->mantissa = wti_element_of(ret->out->dtype).mantissa;
	for (size_t i = 0; i < item->value_count; i++) {
		const struct wti_sampled *value = &item->values[i];

		if (value->position < 0 || !is_beside(value, ret->out))
			continue;
		if (!ret->a)
			ret->a = value;
		else if (!ret->b)
			ret->b = value;
	}
	return ret->a && wti_element_of(ret->out->dtype).is_float;
}

static void look_at_sum(struct wti_tally_row *site, const struct operands *o)
{
	uint64_t cancelled = 0, reals = 0;
	double most = 0;

	for (size_t i = 0; i < o->out->filled; i++) {
		double a = real_at(o->a, i), b = real_at(o->b, i), out = o->out->reals[i];
		double large = fmax(fabs(a), fabs(b)), small = fmin(fabs(a), fabs(b));

		if (!isfinite(a) || !isfinite(b) || !isfinite(out) || small == 0)
			continue;
		site->updates++;
		site->absorbed += small < 0.5 * wti_element_ulp(large, o->mantissa);
		reals++;
		if (out != 0 && ilogb(large) - ilogb(out) > (int)(o->mantissa + 1) / 2) {
			cancelled++;
			most = fmax(most, ilogb(large) - ilogb(out));
		}
	}
	site->cancelling += reals != 0;
	if (cancelled * 2 > reals) {
		site->cancelled++;
		site->cancelled_bits = fmax(site->cancelled_bits, most);
	}
}

static void look_at_product(struct wti_tally_row *site, const struct operands *o)
{
	for (size_t i = 0; i < o->out->filled; i++) {
		double a = real_at(o->a, i), b = o->b ? real_at(o->b, i) : 1;

		if (a != 0 && b != 0 && isfinite(a) && isfinite(b) && o->out->reals[i] == 0)
			site->underflows++;
	}
}

static void count_overflows(struct wti_tally_row *site, const struct wti_item *item)
{
	uint64_t in = 0, out = 0;

	for (size_t i = 0; i < item->value_count; i++) {
		const struct wti_sampled *value = &item->values[i];

		if (value->position < 0)
			out += value->inf;
		else
			in += value->inf + value->nan;
	}
	if (!in)
		site->overflows += out;
}

void wti_tally_single(struct wti_book *tally, const struct wti_item *item,
		      struct wti_tally_row *site)
{
	const char *callee = wti_texts_at(tally->texts, item->callee);
	struct operands operands;

	count_overflows(site, item);
	if (!operands_of(item, &operands))
		return;
	if (operands.b && wti_is_addition(callee))
		look_at_sum(site, &operands);
	else if (wti_is_product(callee))
		look_at_product(site, &operands);
}
