/* SPDX-License-Identifier: Apache-2.0 */
/* One value of one call, over the runs. */
#include <math.h>

#include "inspect/core/library.h"
#include "element.h"
#include "tally.h"

#define NORMAL_MIN 8u /* runs below which the test of normality says nothing */

/* The value of another run that is the same as that of the leading one, or NULL. */
static const struct wti_sampled *same_value(const struct wti_item *item, size_t index,
					    const struct wti_sampled *lead)
{
	const struct wti_sampled *value;

	if (!item || index >= item->value_count)
		return NULL;
	value = &item->values[index];
	return value->position == lead->position && value->name == lead->name ? value : NULL;
}

static void mismatch(struct wti_book *tally, const struct wti_matched *group,
		     const struct wti_sampled *value, unsigned run)
{
	const char *file = wti_texts_at(tally->texts, group->lead->file);

	tally->mismatched++;
	if (!tally->mismatch.is_set && !wti_is_library(file))
		tally->mismatch = (struct wti_first){.is_set = true,
						     .callee = group->lead->callee,
						     .file = group->lead->file,
						     .line = group->lead->line,
						     .name = value->name,
						     .step = group->lead->step,
						     .call = tally->calls,
						     .run = run};
}

/* Whether the runs agree to the bit, by their hashes; and which can be compared at all. */
struct alike {
	const struct wti_sampled *values[WTI_MERGE_RUNS_MAX];
	unsigned count;
	bool is_exact, has_hashes, has_sketches;
	uint64_t reals; /* that all have */
};

static void gather(struct wti_book *tally, const struct wti_matched *group, size_t index,
		   struct alike *alike)
{
	const struct wti_sampled *lead = &group->lead->values[index];

	*alike = (struct alike){
		.is_exact = true, .has_hashes = true, .has_sketches = true, .reals = lead->filled};
	for (unsigned run = 0; run < group->runs; run++) {
		const struct wti_sampled *value = same_value(group->items[run], index, lead);

		if (!value)
			continue;
		/* Precisions may differ where two of them are compared. */
		if (value->count != lead->count || value->shape != lead->shape ||
		    (value->dtype != lead->dtype && !tally->options->compare)) {
			mismatch(tally, group, value, run);
			continue;
		}
		alike->values[alike->count++] = value;
		alike->has_hashes &= !(value->flags & WT_TENSOR_NO_HASH);
		alike->is_exact &= value->hash == lead->hash && value->dtype == lead->dtype;
		alike->has_sketches &= value->sketch != NULL;
		alike->reals = value->filled < alike->reals ? value->filled : alike->reals;
	}
	alike->is_exact &= alike->has_hashes;
}

static void merge_alike(const struct alike *alike, bool sketches, struct wti_spread *spread)
{
	const double *runs[WTI_MERGE_RUNS_MAX];

	for (unsigned i = 0; i < alike->count; i++)
		runs[i] = sketches ? alike->values[i]->sketch : alike->values[i]->reals;
	*spread = (struct wti_spread){0};
	wti_merge_doubles(spread, runs, alike->count, sketches ? WTI_SKETCH_BUCKETS : alike->reals);
}

/* One element of each value is enough to see what the errors are like. */
static void test_normality(struct wti_book *tally, const struct alike *alike)
{
	double values[WTI_MERGE_RUNS_MAX], w, p;

	if (alike->count < NORMAL_MIN || !alike->reals)
		return;
	for (unsigned i = 0; i < alike->count; i++)
		values[i] = alike->values[i]->reals[alike->reals / 2];
	if (!wti_shapiro_wilk(values, alike->count, &w, &p))
		return;
	if (p < 1 - tally->options->how.confidence)
		tally->not_normal++;
	else
		tally->normal++;
}

static double digits_of(const struct wti_book *tally, const struct wti_scatter *measure)
{
	double above = tally->options->how.absolute ? measure->above : 0;
	double bits = tally->options->how.method == WTI_DIGITS_GENERAL
			      ? floor(-measure->farthest - above)
			      : -measure->norm - above - tally->delta[measure->runs];

	return wti_digits_cap(measure->is_exact ? measure->mantissa + 1 : bits, measure->mantissa);
}

static unsigned mantissa_of(const struct alike *alike)
{
	unsigned least = 64;

	for (unsigned i = 0; i < alike->count; i++) {
		unsigned mantissa = wti_element_of(alike->values[i]->dtype).mantissa;

		least = mantissa < least ? mantissa : least;
	}
	return least;
}

/* Absolute errors are counted from the power of two below the value, not from the value. */
static double above_of(const struct wti_spread *spread)
{
	double size = 0.5 * log2(spread->norm2 / (double)spread->reals);

	return isfinite(size) ? size - floor(size) : 0;
}

/* Those who look on see what was measured, and the elements that it was measured from. */
static void show(struct wti_book *tally, const struct wti_matched *group, const struct alike *alike,
		 const struct wti_sampled *value, const struct wti_scatter *measure)
{
	const struct wti_digits_watcher *watcher = tally->options->watcher;
	const struct wti_item *item = group->lead;
	const double *runs[WTI_MERGE_RUNS_MAX];
	const struct wti_seen_value seen = {
		.order = tally->calls,
		.step = item->step,
		.callee = wti_texts_at(tally->texts, item->callee),
		.file = wti_texts_at(tally->texts, item->file),
		.name = wti_texts_at(tally->texts, value->name),
		.shape = wti_texts_at(tally->texts, value->shape),
		.line = item->line,
		.dtype = value->dtype,
		.position = value->position,
		.is_call = item->is_call,
		.count = value->count,
		.digits = measure->digits,
		.mantissa = measure->mantissa,
		.runs = runs,
		.run_count = alike->count,
		.reals = alike->reals,
		.how = &tally->options->how,
	};
	int r;

	for (unsigned i = 0; i < alike->count; i++)
		runs[i] = alike->values[i]->reals;
	r = watcher->value(watcher->cookie, &seen);
	tally->status = r ? r : tally->status;
}

static void measure_alike(struct wti_book *tally, const struct alike *alike, uint64_t count,
			  struct wti_scatter *ret_measure)
{
	struct wti_spread spread, whole;

	if (!alike->reals) {
		tally->unsampled++;
		return;
	}
	merge_alike(alike, false, &spread);
	if (!spread.reals)
		return;
	ret_measure->is_known = true;
	ret_measure->norm = wti_spread_norm(&spread);
	ret_measure->median = wti_spread_quantile(&spread, .5);
	ret_measure->worst = wti_spread_quantile(&spread, .01);
	ret_measure->farthest = wti_spread_farthest(&spread);
	ret_measure->distance = spread.farthest;
	ret_measure->above = above_of(&spread);
	if (alike->has_sketches) { /* of all elements, not only of those that are sampled */
		merge_alike(alike, true, &whole);
		if (whole.reals == WTI_SKETCH_BUCKETS)
			ret_measure->norm = wti_spread_norm(&whole);
	}
	ret_measure->is_exact = ret_measure->norm == WTI_SPREAD_EXACT && alike->reals >= count;
	ret_measure->digits = digits_of(tally, ret_measure);
	test_normality(tally, alike);
}

void wti_measure_value(struct wti_book *tally, const struct wti_matched *group, size_t index,
		       struct wti_scatter *ret_measure)
{
	const struct wti_sampled *lead = &group->lead->values[index];
	struct alike alike;

	*ret_measure = (struct wti_scatter){
		.norm = NAN, .median = NAN, .worst = NAN, .farthest = NAN, .digits = NAN};
	if (!wti_element_of(lead->dtype).is_float || group->found < 2)
		return;
	gather(tally, group, index, &alike);
	if (alike.count < 2)
		return;
	ret_measure->runs = alike.count;
	ret_measure->mantissa = mantissa_of(&alike);
	if (alike.is_exact) {
		ret_measure->is_known = ret_measure->is_exact = true;
		ret_measure->norm = ret_measure->median = ret_measure->worst =
			ret_measure->farthest = WTI_SPREAD_EXACT;
		ret_measure->digits = digits_of(tally, ret_measure);
	} else {
		measure_alike(tally, &alike, lead->count, ret_measure);
	}
	if (ret_measure->is_known && tally->options->watcher)
		show(tally, group, &alike, lead, ret_measure);
}
