/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs by a file of tolerances: which values lie farther apart than correct runs do. */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "tally.h"

#define ROWS_SHOWN 20u

struct within {
	struct wti_book tally; /* measures for it; books nothing */
	const struct wti_tolerances *tolerances;
	struct wt_table *table;
	struct wti_within *counts;
};

static void show(struct within *within, const char *key, int64_t step, double distance,
		 const struct wti_tolerance *allowed)
{
	if (within->table->row_count >= ROWS_SHOWN)
		return;
	wt_table_row(within->table);
	wt_table_text(within->table, key, strlen(key));
	wt_table_number(within->table, (double)step);
	wt_table_number(within->table, distance);
	wt_table_number(within->table, allowed->absolute);
	wt_table_number(within->table, allowed->relative);
}

/* The mean of two runs lies in the middle: they are twice as far apart as each is from it. */
static void judge(struct within *within, const struct wti_matched *group, size_t index)
{
	const struct wti_sampled *value = &group->lead->values[index];
	const struct wti_tolerance *allowed;
	char key[WTI_VALUE_KEY_BYTES];
	struct wti_scatter measure;

	wti_measure_value(&within->tally, group, index, &measure);
	if (!measure.is_known)
		return;
	wti_value_key(within->tally.texts, group->lead, value, key);
	allowed = wti_tolerances_find(within->tolerances, key);
	if (!allowed) {
		within->counts->unknown++;
		return;
	}
	within->counts->compared++;
	if (measure.is_exact || 2 * measure.distance <= allowed->absolute ||
	    exp2(1 + fmax(measure.norm, measure.farthest)) <= allowed->relative)
		return;
	within->counts->outside++;
	show(within, key, group->lead->step, 2 * measure.distance, allowed);
}

static int take(void *opaque, const struct wti_matched *group)
{
	struct within *within = opaque;

	for (size_t i = 0; group->found == 2 && i < group->lead->value_count; i++)
		judge(within, group, i);
	return 0;
}

int wti_digits_within(const struct wti_digits_run runs[2], const struct wti_tolerances *tolerances,
		      struct wt_result *result, struct wti_within *ret_within, struct wt_err *err)
{
	struct wt_trace *const traces[] = {runs[0].trace, runs[1].trace};
	const struct wti_digits_options options = {
		.how = wti_digits_usual(false), .base = 2, .fail_below = NAN, .compare = true};
	struct within within = {.tolerances = tolerances, .counts = ret_within};
	struct wti_divergence divergence;
	struct wti_match_run about[2];
	struct wti_word_ids texts;
	int r;

	*ret_within = (struct wti_within){0};
	wti_texts_init(&texts);
	within.table = wt_result_table(result, "outside", "");
	wt_table_column(within.table, "value", "value", WT_CELL_TEXT);
	wt_table_column(within.table, "step", "step", WT_CELL_NUMBER);
	wt_table_column(within.table, "distance", "apart", WT_CELL_NUMBER);
	wt_table_column(within.table, "absolute", "allowed", WT_CELL_NUMBER);
	wt_table_column(within.table, "relative", "of the norm", WT_CELL_NUMBER);
	r = wti_tally_init(&within.tally, &options, &texts, 2);
	r = r ? wti_err(err, r, "out of memory")
	      : wti_match(traces, 2, &texts, take, &within, &divergence, about, err);
	ret_within->unsampled = within.tally.unsampled;
	wti_tally_release(&within.tally);
	wti_texts_release(&texts);
	return r;
}
