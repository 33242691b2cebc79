/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of values from call to call: who made each, from which input it has most of its error,
 * and whether digits that were lost are there again. What is followed back along it is in
 * culprit.c.
 */
#include "tally.h"

#include <ctype.h>
#include <math.h>

#include "base/grow.h"
#include "element.h"

#define ROUNDS_MIN 8u /* of a call within another: fewer are no iteration */

bool wti_is_used_by(const struct wti_item *item, const struct wti_sampled *input)
{
	bool is_used = false;

	for (size_t i = 0; i < item->value_count; i++) {
		const struct wti_sampled *value = &item->values[i];

		if (value->position >= 0)
			continue;
		if (value->hash == input->hash)
			return false;
		is_used |= wti_element_of(value->dtype).is_float;
	}
	return is_used;
}

/* Who made the value; 0: nobody that was seen. */
static uint32_t maker_of(struct wti_book *tally, const struct wti_item *item,
			 const struct wti_sampled *value)
{
	const uint64_t *slot = wti_map_find_number(&tally->made, value->hash);

	if (!slot || !*slot)
		return 0;
	tally->nodes[*slot - 1].is_used |= wti_is_used_by(item, value);
	tally->nodes[*slot - 1].is_inner &= item->is_inner; /* it is in the program's hands */
	return (uint32_t)*slot;
}

void wti_way_input(struct wti_book *tally, const struct wti_item *item, struct wti_inputs *inputs,
		   const struct wti_sampled *value, const struct wti_scatter *measure)
{
	unsigned mantissa;
	uint32_t from;

	if (!measure->is_known)
		return;
	from = measure->is_exact ? 0 : maker_of(tally, item, value);
	mantissa = measure->mantissa;
	if (measure->is_exact)
		mantissa = UINT8_MAX;
	else if (from && tally->nodes[from - 1].mantissa < mantissa)
		mantissa = tally->nodes[from - 1].mantissa;
	inputs->digits = fmin(inputs->digits, measure->digits);
	if (!(measure->norm <= inputs->norm)) {
		inputs->norm = measure->norm;
		inputs->from = from;
		inputs->mantissa = mantissa;
	}
	if (!(measure->median <= inputs->median)) {
		inputs->median = measure->median;
		inputs->from_element = from;
	}
}

/* "[x]", a field of what a call of the program itself has returned: it is there to be read. */
static bool is_field(const struct wti_book *tally, const struct wti_item *item,
		     const struct wti_sampled *value)
{
	const char *name = wti_texts_at(tally->texts, value->name);

	return item->path == item->callee && *name == '[' && isalpha((unsigned char)name[1]);
}

/* A call returns what a call inside it has made. */
static void take_over(struct wti_book *tally, const struct wti_item *item,
		      const struct wti_sampled *value, const struct wti_node *outer,
		      struct wti_node *made)
{
	const struct wti_tally_row *rows = tally->values.all;

	made->is_inner &= item->is_inner;
	if (item->is_inner)
		return;
	made->name = value->name ? value->name : made->name;
	made->is_result |= is_field(tally, item, value);
	made->is_round |= made->row != WTI_NO_ROW && outer->row != WTI_NO_ROW &&
			  rows[made->row].calls >= ROUNDS_MIN * rows[outer->row].calls;
}

static void add_node(struct wti_book *tally, const struct wti_item *item,
		     const struct wti_sampled *value, const struct wti_node *node)
{
	uint64_t *slot = wti_map_number(&tally->made, value->hash);

	if (!slot ||
	    wti_grow(&tally->nodes, tally->node_count + 1, &tally->node_capacity, WTI_NODES_MAX)) {
		tally->nodes_left_out++;
		return;
	}
	/* What a call inside has made is its own, and the line there is nearer to the cause. */
	if (*slot && tally->nodes[*slot - 1].item + item->below >= tally->calls) {
		take_over(tally, item, value, node, &tally->nodes[*slot - 1]);
		return;
	}
	tally->nodes[tally->node_count++] = *node;
	*slot = tally->node_count;
}

bool wti_is_moved(const struct wti_item *item, const struct wti_sampled *output)
{
	for (size_t i = 0; i < item->value_count; i++) {
		if (item->values[i].position >= 0 && item->values[i].hash == output->hash)
			return true;
	}
	return false;
}

static bool has_element(const struct wti_sampled *value, double element)
{
	for (size_t i = 0; i < value->filled; i++) {
		if (value->reals[i] == element)
			return true;
	}
	return false;
}

/* Elements of an input are picked: those that have digits had them before. */
static bool is_picked(const struct wti_book *tally, const struct wti_item *item,
		      const struct wti_sampled *output)
{
	if (wti_is_selection(wti_texts_at(tally->texts, item->callee)))
		return true;
	for (size_t i = 0; i < item->value_count; i++) {
		const struct wti_sampled *input = &item->values[i];
		size_t at = 0;

		if (input->position < 0 || !input->reals || !output->reals || !output->filled)
			continue;
		while (at < output->filled && has_element(input, output->reals[at]))
			at++;
		if (at == output->filled)
			return true;
	}
	return false;
}

/* The digits that a bad input had are there again: it was small beside another one. */
static void mark_recovered(struct wti_book *tally, const struct wti_item *item,
			   const struct wti_sampled *value, const struct wti_inputs *inputs,
			   double out, unsigned mantissa)
{
	double unit = wti_tally_unit(tally, mantissa);
	struct wti_node *node;

	if (!inputs->from || fmax(inputs->norm, unit) - fmax(out, unit) < (mantissa + 1) / 4. ||
	    is_picked(tally, item, value))
		return;
	node = &tally->nodes[inputs->from - 1];
	if (!node->is_recovered && node->site != WTI_NO_ROW)
		tally->sites.all[node->site].recovered++;
	node->is_recovered = true;
}

double wti_value_size(const struct wti_sampled *value)
{
	double largest = fmax(fabs(value->min), fabs(value->max));

	return largest > 0 && isfinite(largest) ? log2(largest) : WTI_SPREAD_EXACT;
}

void wti_way_output(struct wti_book *tally, const struct wti_item *item,
		    const struct wti_sampled *value, const struct wti_scatter *measure,
		    const struct wti_inputs *inputs, uint32_t site, uint32_t row)
{
	/* A wider type does not give back the digits that a narrower one had no room for. */
	unsigned mantissa =
		inputs->mantissa < measure->mantissa ? inputs->mantissa : measure->mantissa;
	double unit = wti_tally_unit(tally, mantissa);
	struct wti_node node = {
		.site = site,
		.item = (uint32_t)tally->calls,
		.from = inputs->from,
		.from_element = inputs->from_element,
		.out = (float)fmax(measure->norm, unit),
		.in = (float)fmax(inputs->norm, unit),
		.out_element = (float)fmax(measure->median, unit),
		.in_element = (float)fmax(inputs->median, unit),
		.digits = (float)measure->digits,
		.mantissa = (uint8_t)mantissa,
		.is_elementwise = wti_is_elementwise(wti_texts_at(tally->texts, item->callee)),
		.step = item->step,
		.is_inner = item->is_inner,
		.row = row,
		.size = (float)wti_value_size(value),
	};

	if (measure->is_exact) /* rounded or counted: that gives no digits back */
		return;
	mark_recovered(tally, item, value, inputs, measure->norm, mantissa);
	if (wti_is_moved(item, value) || wti_is_access(wti_texts_at(tally->texts, item->callee)))
		return;
	node.is_picked = node.out - node.in >= 1 && is_picked(tally, item, value);
	if (site != WTI_NO_ROW && node.out - unit >= (mantissa + 1) / 4.)
		tally->sites.all[site].low++;
	add_node(tally, item, value, &node);
}
