/* SPDX-License-Identifier: Apache-2.0 */
/* Takes groups of calls, measures their values, and books what came of it. */
#include "tally.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/grow.h"
#include "element.h"
#include "quantile.h"

#define ROWS_MAX ((size_t)1 << 20)
#define FINAL "__main__." /* names of what the program has at its end begin so */

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The number of the row; WTI_NO_ROW when there are too many. */
static uint32_t row_of(struct wti_book *tally, struct wti_tally_rows *rows,
		       const struct wti_tally_row *key)
{
	const uint64_t words[] = {
		key->callee,        key->file, key->line, key->name, (uint64_t)key->position,
		(uint64_t)key->step};
	uint64_t *slot = wti_map_number(&rows->index, XXH3_64bits(words, sizeof(words)));

	if (!slot || wti_grow(&rows->all, rows->count + 1, &rows->capacity, ROWS_MAX + 1)) {
		rows->left_out++;
		tally->status = rows->index.failed ? WT_E_NOMEM : tally->status;
		return WTI_NO_ROW;
	}
	if (!*slot) {
		rows->all[rows->count] = *key;
		rows->all[rows->count].largest = WTI_SPREAD_EXACT;
		rows->all[rows->count].in_worst = NAN;
		rows->all[rows->count].out_worst = NAN;
		*slot = ++rows->count;
	}
	return (uint32_t)(*slot - 1);
}

struct call_digits {
	double in, out;   /* bits, worst; NaN: not measured */
	double lost;      /* bits */
	uint64_t outputs; /* measured */
	double out_sum;
	unsigned mantissa;
};

static void book(struct wti_tally_rows *rows, uint32_t number, const struct call_digits *call)
{
	struct wti_tally_row *row;

	if (number == WTI_NO_ROW)
		return;
	row = &rows->all[number];
	row->calls++;
	if (!call->outputs)
		return;
	row->measured += call->outputs;
	row->out_sum += call->out_sum;
	row->mantissa = call->mantissa > row->mantissa ? call->mantissa : row->mantissa;
	row->in_worst = fmin(row->in_worst, call->in);
	row->out_worst = fmin(row->out_worst, call->out);
	row->lost_worst = fmax(row->lost_worst, call->lost);
	row->lost_sum += call->lost;
}

static void rows_init(struct wti_tally_rows *rows)
{
	wti_map_init(&rows->index, ROWS_MAX);
}

static void rows_release(struct wti_tally_rows *rows)
{
	wti_map_release(&rows->index);
	free(rows->all);
}

/* ---- Life ------------------------------------------------------------------------------------ */

int wti_tally_init(struct wti_book *tally, const struct wti_digits_options *options,
		   struct wti_word_ids *texts, unsigned runs)
{
	double freedom = runs > 1 ? runs - 1 : 1;

	*tally = (struct wti_book){
		.options = options, .texts = texts, .runs = runs, .worst_digits = NAN};
	rows_init(&tally->functions);
	rows_init(&tally->sites);
	rows_init(&tally->values);
	rows_init(&tally->steps);
	rows_init(&tally->named);
	wti_map_init(&tally->made, WTI_NODES_MAX);
	tally->delta = calloc(runs + 1u, sizeof(*tally->delta));
	if (!tally->delta)
		return WT_E_NOMEM;
	for (unsigned n = 2; n <= runs && !options->compare; n++)
		tally->delta[n] = wti_digits_delta(&options->how, n);
	tally->sure =
		0.5 * log2(wti_chi2_quantile((1 + options->how.confidence) / 2, freedom) / freedom);
	return 0;
}

void wti_tally_release(struct wti_book *tally)
{
	rows_release(&tally->functions);
	rows_release(&tally->sites);
	rows_release(&tally->values);
	rows_release(&tally->steps);
	rows_release(&tally->named);
	wti_map_release(&tally->made);
	free(tally->nodes);
	free(tally->delta);
}

double wti_tally_unit(const struct wti_book *tally, unsigned mantissa)
{
	double bits = tally->options->noise_bits;

	return bits > 0 && bits - 1 < mantissa ? 1 - bits : -(double)mantissa;
}

/* ---- What one run shows ---------------------------------------------------------------------- */

static struct wti_first first_of(const struct wti_book *tally, const struct wti_item *item)
{
	return (struct wti_first){.is_set = true,
				  .callee = item->callee,
				  .file = item->file,
				  .line = item->line,
				  .step = item->step,
				  .call = tally->calls};
}

/* Within a library, in a container: memory that is not filled yet goes around like this. */
static bool is_passed_inside(const struct wti_book *tally, const struct wti_item *item,
			     const struct wti_sampled *value)
{
	return item->is_inner && value->position < 0 &&
	       *wti_texts_at(tally->texts, value->name) == '[';
}

/* Finite in, not finite out. What only passes it on is counted. */
static bool look_for_nonfinite(struct wti_book *tally, const struct wti_item *item, unsigned run)
{
	uint64_t in = 0, nan = 0, inf = 0;
	double min = INFINITY, max = -INFINITY;

	for (size_t i = 0; i < item->value_count; i++) {
		const struct wti_sampled *value = &item->values[i];

		if (value->flags & WT_TENSOR_NO_STATISTICS || is_passed_inside(tally, item, value))
			continue;
		if (value->position >= 0) {
			in += value->nan + value->inf;
			min = fmin(min, value->min);
			max = fmax(max, value->max);
		} else {
			nan += value->nan;
			inf += value->inf;
		}
	}
	if ((!nan && !inf) || wti_is_access(wti_texts_at(tally->texts, item->callee)))
		return false;
	if (in || min > max) { /* or nothing that went in was seen */
		tally->nonfinite_passed++;
		return true;
	}
	/* The call around it had finite inputs, too. */
	if (tally->nonfinite_origins++)
		return true;
	tally->nonfinite = first_of(tally, item);
	tally->nonfinite.nan = nan;
	tally->nonfinite.inf = inf;
	tally->nonfinite.run = run;
	tally->nonfinite.in_min = min;
	tally->nonfinite.in_max = max;
	return true;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static void look_for_random(struct wti_book *tally, const struct wti_matched *group,
			    const struct wti_sampled *value, const struct wti_scatter *measure,
			    size_t index)
{
	bool differs = measure->is_known && measure->norm > -2;

	if (value->position >= 0 || !group->lead->is_call ||
	    !wti_is_random(wti_texts_at(tally->texts, group->lead->callee)))
		return;
	for (unsigned run = 0; !measure->is_known && run < group->runs; run++) {
		const struct wti_item *item = group->items[run];

		differs |= item && index < item->value_count &&
			   item->values[index].hash != value->hash &&
			   !(item->values[index].flags & WT_TENSOR_NO_HASH);
	}
	if (differs && !tally->random_count++)
		tally->random = first_of(tally, group->lead);
}

/* "=loss", "model.py:12 torch.mm 0": the same in every run. */
void wti_value_key(const struct wti_word_ids *texts, const struct wti_item *item,
		   const struct wti_sampled *value, char ret_key[WTI_VALUE_KEY_BYTES])
{
	if (!item->is_call)
		snprintf(ret_key, WTI_VALUE_KEY_BYTES, "=%s", wti_texts_at(texts, item->callee));
	else
		snprintf(ret_key, WTI_VALUE_KEY_BYTES, "%s:%u %s %d",
			 wti_file_name(wti_texts_at(texts, item->file)), item->line,
			 wti_texts_at(texts, item->callee), value->position);
}

static int add_tolerance(struct wti_book *tally, const struct wti_item *item,
			 const struct wti_sampled *value, const struct wti_scatter *measure)
{
	char key[WTI_VALUE_KEY_BYTES];

	wti_value_key(tally->texts, item, value, key);
	return wti_tolerances_add(
		tally->options->tolerances, key, measure->is_exact ? 0 : measure->distance,
		measure->is_exact ? 0 : exp2(fmax(measure->norm, measure->farthest)),
		measure->mantissa);
}

static bool is_final(const struct wti_book *tally, const struct wti_sampled *value)
{
	return !strncmp(wti_texts_at(tally->texts, value->name), FINAL, strlen(FINAL));
}

/* The program has the value at its end; false: it is not known who made it. */
static bool hand_out(struct wti_book *tally, const struct wti_sampled *value)
{
	uint64_t number = wti_map_get(&tally->made, value->hash);

	if (!number)
		return false;
	tally->nodes[number - 1].is_inner = false;
	tally->nodes[number - 1].name = value->name;
	/* A variable may be a step on the way; what a library left in an object is meant. */
	tally->nodes[number - 1].is_result |=
		strchr(wti_texts_at(tally->texts, value->name) + strlen(FINAL), '.') != NULL;
	return true;
}

/* The row of the value; WTI_NO_ROW: it was not measured. */
static uint32_t book_value(struct wti_book *tally, const struct wti_item *item,
			   const struct wti_sampled *value, const struct wti_scatter *measure)
{
	const struct wti_tally_row key = {.callee = item->is_call ? item->callee : 0,
					  .file = item->file,
					  .line = item->line,
					  .name = value->name,
					  .position = value->position};
	struct call_digits digits = {.in = NAN,
				     .out = measure->digits,
				     .outputs = 1,
				     .out_sum = measure->digits,
				     .mantissa = measure->mantissa};

	uint32_t row;

	if (!measure->is_known)
		return WTI_NO_ROW;
	tally->measured++;
	tally->varied += !measure->is_exact;
	row = row_of(tally, &tally->values, &key);
	book(&tally->values, row, &digits);
	if (row != WTI_NO_ROW)
		tally->values.all[row].largest =
			fmax(tally->values.all[row].largest, wti_value_size(value));
	if (item->is_call || !value->name)
		return row;
	/* Variables at the end may be anything: whether one is a result, its way decides. */
	if (is_final(tally, value) && hand_out(tally, value))
		return row;
	book(&tally->named,
	     row_of(tally, &tally->named,
		    &(struct wti_tally_row){.name = value->name, .step = item->step}),
	     &digits);
	tally->judged++;
	tally->worst_digits = fmin(tally->worst_digits, measure->digits);
	return row;
}

static void take_values(struct wti_book *tally, const struct wti_matched *group, uint32_t site,
			struct call_digits *call)
{
	const struct wti_item *item = group->lead;
	struct wti_scatter measures[WTI_LANE_VALUES_MAX];
	uint32_t rows[WTI_LANE_VALUES_MAX];
	struct wti_inputs inputs = {.norm = WTI_SPREAD_EXACT,
				    .median = WTI_SPREAD_EXACT,
				    .digits = NAN,
				    .mantissa = UINT8_MAX};

	for (size_t i = 0; i < item->value_count; i++) {
		wti_measure_value(tally, group, i, &measures[i]);
		if (item->values[i].position >= 0)
			wti_way_input(tally, item, &inputs, &item->values[i], &measures[i]);
		look_for_random(tally, group, &item->values[i], &measures[i], i);
		rows[i] = book_value(tally, item, &item->values[i], &measures[i]);
		if (tally->options->tolerances && measures[i].is_known &&
		    add_tolerance(tally, item, &item->values[i], &measures[i]))
			tally->status = WT_E_NOMEM;
	}
	call->in = inputs.digits;
	for (size_t i = 0; i < item->value_count; i++) {
		double unit = wti_tally_unit(tally, measures[i].mantissa);
		const struct wti_first now = first_of(tally, item);

		if (item->values[i].position >= 0 || !measures[i].is_known)
			continue;
		call->outputs++;
		call->out_sum += measures[i].digits;
		call->out = fmin(call->out, measures[i].digits);
		call->mantissa = measures[i].mantissa;
		if (!wti_is_access(wti_texts_at(tally->texts, item->callee)))
			call->lost = fmax(call->lost,
					  fmax(measures[i].norm, unit) - fmax(inputs.norm, unit));
		if (wti_digits_in_base(measures[i].digits, tally->options->base) <
			    tally->options->fail_below &&
		    !tally->below_count++) {
			tally->below = now;
			tally->below.digits = measures[i].digits;
		}
		if (item->is_call)
			wti_way_output(tally, item, &item->values[i], &measures[i], &inputs, site,
				       rows[i]);
	}
}

/* A line is called after what lost most there. */
static void take_site(struct wti_book *tally, const struct wti_item *item,
		      struct wti_tally_row *row, const struct call_digits *call)
{
	if (!row->callee || call->lost > row->lost_worst)
		row->callee = item->callee;
	wti_tally_single(tally, item, row);
}

static void show_call(struct wti_book *tally, const struct wti_item *item, double lost)
{
	const struct wti_digits_watcher *watcher = tally->options->watcher;
	const struct wti_seen_call seen = {.order = tally->calls,
					   .path = wti_texts_at(tally->texts, item->path),
					   .callee = wti_texts_at(tally->texts, item->callee),
					   .lost = lost,
					   .inside = item->below};
	int r = watcher->call(watcher->cookie, &seen);

	tally->status = r ? r : tally->status;
}

int wti_tally_take(void *opaque, const struct wti_matched *group)
{
	struct wti_book *tally = opaque;
	const struct wti_item *item = group->lead;
	struct call_digits call = {.in = NAN, .out = NAN};
	uint32_t site = WTI_NO_ROW;

	tally->calls++;
	tally->partial += group->found < group->runs;
	if (item->is_call)
		site = row_of(tally, &tally->sites, /* a line is one place, whatever it calls */
			      &(struct wti_tally_row){.callee = item->file ? 0 : item->callee,
						      .file = item->file,
						      .line = item->line});
	for (unsigned run = 0; run < group->runs; run++) {
		if (group->items[run] && group->items[run]->is_call &&
		    look_for_nonfinite(tally, group->items[run], run))
			break;
	}
	take_values(tally, group, site, &call);
	if (item->is_call) {
		if (site != WTI_NO_ROW)
			take_site(tally, item, &tally->sites.all[site], &call);
		book(&tally->sites, site, &call);
		book(&tally->functions,
		     row_of(tally, &tally->functions,
			    &(struct wti_tally_row){.callee = item->callee}),
		     &call);
		if (tally->options->watcher)
			show_call(tally, item, call.lost);
	}
	if (call.outputs)
		book(&tally->steps,
		     row_of(tally, &tally->steps, &(struct wti_tally_row){.step = item->step}),
		     &call);
	return tally->status;
}
