/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What additions and products of one run show by their sampled elements, without noise: bits that
 * cancel, updates that are too small to change anything, results that are 0 though no input is.
 */
#include <math.h>
#include <string.h>

#include "element.h"
#include "tally.h"

struct operands {
	const struct wti_sampled *a, *b, *out;
	double alpha; /* that b is multiplied by before it is added */
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

static bool is_alpha(const struct wti_book *tally, const struct wti_sampled *value)
{
	return value->position >= 0 && value->count == 1 && value->reals && value->filled &&
	       !strcmp(wti_texts_at(tally->texts, value->name), "alpha");
}

/* The inputs whose elements are those of the output, or one for all; b NULL: there is one alone. */
static bool operands_of(const struct wti_book *tally, const struct wti_item *item,
			struct operands *ret)
{
	*ret = (struct operands){.alpha = 1};
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
		if (is_alpha(tally, value))
			ret->alpha = value->reals[0];
		else if (!ret->a)
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
		double a = real_at(o->a, i), b = o->alpha * real_at(o->b, i),
		       out = o->out->reals[i];
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

static struct wti_node *node_of(const struct wti_book *tally, uint64_t hash)
{
	const uint64_t *slot = wti_map_find_number(&tally->made, hash);

	return slot && *slot ? &tally->nodes[*slot - 1] : NULL;
}

/* What was too small for one addition, as a share of what it was to be added to. */
static double share_absorbed(const struct operands *o, bool is_swapped)
{
	double sum = 0, reals = 0;

	for (size_t i = 0; i < o->out->filled; i++) {
		double a = real_at(o->a, i), b = o->alpha * real_at(o->b, i);
		double base = is_swapped ? b : a, update = is_swapped ? a : b;

		if (!isfinite(a) || !isfinite(b) || base == 0)
			continue;
		reals++;
		if (fabs(update) < 0.5 * wti_element_ulp(fabs(base), o->mantissa))
			sum += update / base;
	}
	return reals > 0 ? sum / reals : 0;
}

/*
 * Updates may be small each and large together: what a running sum has missed goes with its value.
 * If somebody takes the value before an addition from that after it, he knows what was lost.
 */
static void follow_sum(struct wti_book *tally, struct wti_tally_row *site, const struct operands *o)
{
	bool is_swapped = fmax(fabs(o->b->min), fabs(o->b->max)) * fabs(o->alpha) >
			  fmax(fabs(o->a->min), fabs(o->a->max));
	uint64_t base = is_swapped ? o->b->hash : o->a->hash;
	struct wti_node *out = node_of(tally, o->out->hash), *before = node_of(tally, base);
	struct wti_node *a = node_of(tally, o->a->hash), *b = node_of(tally, o->b->hash);

	if (a && a->base == o->b->hash && a->site < tally->sites.count)
		tally->sites.all[a->site].is_compensated = true;
	if (b && b->base == o->a->hash && b->site < tally->sites.count)
		tally->sites.all[b->site].is_compensated = true;
	if (!out)
		return;
	if (out != before) {
		out->base = base;
		out->drift = before ? before->drift : 0;
	}
	out->drift += share_absorbed(o, is_swapped);
	site->drift = fmax(site->drift, fabs(out->drift));
	if (out->drift != 0)
		site->drift_share = fmax(site->drift_share, (log2(fabs(out->drift)) + o->mantissa) /
								    (o->mantissa + 1));
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
	if (!operands_of(tally, item, &operands))
		return;
	if (operands.b && wti_is_addition(callee)) {
		site->adder = item->callee;
		look_at_sum(site, &operands);
		follow_sum(tally, site, &operands);
	} else if (wti_is_product(callee)) {
		look_at_product(site, &operands);
	}
}
