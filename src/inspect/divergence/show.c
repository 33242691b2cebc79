/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts as tables, facts and notes of a result. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "divergence.h"

const char *wti_beginning_words(enum wti_beginning how)
{
	switch (how) {
	case WTI_BEGINS_OUTPUT:
		return "its inputs were equal, its outputs differ";
	case WTI_BEGINS_LATER:
		return "its arguments were equal, its outputs differ; what else it computes with "
		       "may differ since the first difference";
	case WTI_BEGINS_INPUT:
		return "it was given other values, which no recorded operation made";
	case WTI_BEGINS_MIXED:
		return "it was given values that both runs have, in another order";
	case WTI_BEGINS_STATE:
		return "what it left behind differs";
	case WTI_BEGINS_MEMORY:
		return "memory that nobody has written is used";
	case WTI_BEGINS_SEED:
		return "a generator is seeded by the system, and numbers are drawn from it";
	case WTI_BEGINS_UNSEEN:
		return "a value differs that no recorded operation made";
	case WTI_BEGINS_ORDER:
		return "only one of the runs does this";
	default:
		return "";
	}
}

/* How strongly it was observed. */
static const char *evidence_of(const struct wti_first_difference *first)
{
	if (first->how == WTI_BEGINS_OUTPUT && !first->in.unread && !first->in.opaque &&
	    !first->unread_before && first->in.compared)
		return "inputs proven equal";
	if (first->how == WTI_BEGINS_OUTPUT || first->how == WTI_BEGINS_STATE ||
	    first->how == WTI_BEGINS_LATER)
		return "inputs equal as far as seen";
	if (first->how == WTI_BEGINS_MIXED)
		return "its inputs were seen in both runs";
	if (first->how == WTI_BEGINS_SEED)
		return "its seeds were seen to differ";
	return "not seen at this level";
}

static void add_text(struct wt_table *table, const char *text)
{
	wt_table_text(table, text, strlen(text));
}

static void add_step(struct wt_table *table, int64_t step)
{
	if (step < 0)
		wt_table_empty(table);
	else
		wt_table_count(table, (uint64_t)step);
}

/* ---- The earliest of each track -------------------------------------------------------------- */

static void add_first(struct wt_table *table, const char *label,
		      const struct wti_first_difference *first)
{
	wt_table_row(table);
	add_text(table, label);
	add_step(table, first->step);
	add_text(table, first->stage);
	add_text(table, first->callee);
	add_text(table, first->file);
	wt_table_count(table, first->line);
	add_text(table, first->path);
	add_text(table, wti_beginning_words(first->how));
	add_text(table, first->value);
	add_text(table, first->how == WTI_BEGINS_ORDER ? "no partner in the other run"
			: wti_is_weakened(first)       ? "inputs equal as far as seen"
						       : evidence_of(first));
	wt_table_count(table, first->unread_before);
}

static void show_firsts(const struct wti_divergence_report *report, struct wt_result *result)
{
	struct wt_table *table =
		wt_result_table(result, "first", "first operation that differs, by track");

	wt_table_column(table, "track", "track", WT_CELL_TEXT);
	wt_table_column(table, "step", "step", WT_CELL_COUNT);
	wt_table_column(table, "stage", "stage", WT_CELL_TEXT);
	wt_table_column(table, "operation", "operation", WT_CELL_TEXT);
	wt_table_column(table, "file", "file", WT_CELL_TEXT);
	wt_table_column(table, "line", "line", WT_CELL_ID);
	wt_table_column(table, "path", "call path", WT_CELL_TEXT);
	wt_table_column(table, "how", "how it differs", WT_CELL_TEXT);
	wt_table_column(table, "value", "value", WT_CELL_TEXT);
	wt_table_column(table, "evidence", "evidence", WT_CELL_TEXT);
	wt_table_column(table, "unread_before", "not read before", WT_CELL_COUNT);
	for (size_t i = 0; i < report->count; i++) {
		const struct wti_judgement *j = &report->tracks[i].judgement;
		const char *label = report->tracks[i].label;

		if (j->first.how != WTI_BEGINS_NOT)
			add_first(table, label, &j->first);
		if (j->order.how != WTI_BEGINS_NOT && j->first.how != WTI_BEGINS_ORDER)
			add_first(table, label, &j->order);
		if (j->report.how != WTI_BEGINS_NOT && !j->compared)
			add_first(table, label, &j->report);
	}
}

/* ---- What only one run does before it -------------------------------------------------------- */

static void add_before(struct wt_table *table, const struct wti_track_verdict *track)
{
	const struct wti_first_difference *first = &track->judgement.first;
	const struct wti_only *only = &track->judgement.only;

	wt_table_row(table);
	add_text(table, track->label);
	add_text(table, only->is_in_b ? "second" : "first");
	add_step(table, only->step);
	add_text(table, only->stage);
	add_text(table, only->callee);
	add_text(table, only->file);
	wt_table_count(table, only->line);
	for (unsigned run = 0; run < 2; run++)
		wt_table_count(table, first->single_before[run]);
	for (unsigned run = 0; run < 2; run++)
		wt_table_count(table, first->steps_before[run]);
}

static void show_before(const struct wti_divergence_report *report, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(
		result, "before", "first operation that only one run does before that, by track");

	wt_table_column(table, "track", "track", WT_CELL_TEXT);
	wt_table_column(table, "run", "only in the run", WT_CELL_TEXT);
	wt_table_column(table, "step", "step", WT_CELL_COUNT);
	wt_table_column(table, "stage", "stage", WT_CELL_TEXT);
	wt_table_column(table, "operation", "operation", WT_CELL_TEXT);
	wt_table_column(table, "file", "file", WT_CELL_TEXT);
	wt_table_column(table, "line", "line", WT_CELL_ID);
	wt_table_column(table, "only_a", "only in A", WT_CELL_COUNT);
	wt_table_column(table, "only_b", "only in B", WT_CELL_COUNT);
	wt_table_column(table, "steps_a", "optimizer steps in A", WT_CELL_COUNT);
	wt_table_column(table, "steps_b", "optimizer steps in B", WT_CELL_COUNT);
	for (size_t i = 0; i < report->count; i++)
		if (report->tracks[i].judgement.first.how != WTI_BEGINS_NOT &&
		    wti_has_single_before(&report->tracks[i].judgement.first))
			add_before(table, &report->tracks[i]);
}

/* ---- The values of the earliest -------------------------------------------------------------- */

static void add_value(struct wt_table *table, const struct wti_value_row *value)
{
	char text[96];
	double number;

	memcpy(&number, &value->bits, sizeof(number));
	if (value->type == WTI_VALUE_TENSOR && value->digest.flags & WT_TENSOR_NO_HASH)
		snprintf(text, sizeof(text), "not read");
	else if (value->type == WTI_VALUE_TENSOR && value->digest.flags & WT_TENSOR_NO_STATISTICS)
		snprintf(text, sizeof(text), "%016" PRIx64, value->digest.hash);
	else if (value->type == WTI_VALUE_TENSOR)
		snprintf(text, sizeof(text), "%016" PRIx64 " mean %.9g%s", value->digest.hash,
			 value->digest.mean, value->digest.nan ? ", has NaN" : "");
	else if (value->type == WT_VALUE_TYPE_FLOAT)
		snprintf(text, sizeof(text), "%.17g", number);
	else if (value->type == WT_VALUE_TYPE_HASH || value->type == WT_VALUE_TYPE_TEXT)
		snprintf(text, sizeof(text), "%016" PRIx64, value->bits);
	else
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)value->bits);
	add_text(table, text);
}

static const char *dtype_of(const struct wti_value_row *value)
{
	const struct wt_kind *kind = wt_kind_builtin(WT_KIND_TENSOR);
	const struct wt_field *field = &kind->fields[WT_TENSOR_FIELD_DTYPE];

	if (value->type != WTI_VALUE_TENSOR || value->digest.dtype >= field->enum_count)
		return "";
	return field->enum_names[value->digest.dtype];
}

static void show_values(const struct wti_first_difference *first, struct wt_result *result)
{
	static const char *const words[] = {"equal", "differs", "not read"};
	struct wt_table *table =
		wt_result_table(result, "values", "what went into it and came out");

	wt_table_column(table, "name", "value", WT_CELL_TEXT);
	wt_table_column(table, "dtype", "type", WT_CELL_TEXT);
	wt_table_column(table, "shape", "shape", WT_CELL_TEXT);
	wt_table_column(table, "same", "", WT_CELL_TEXT);
	wt_table_column(table, "a", "in A", WT_CELL_TEXT);
	wt_table_column(table, "b", "in B", WT_CELL_TEXT);
	for (uint32_t i = 0; i < first->value_count; i++) {
		const struct wti_value_pair *pair = &first->values[i];

		wt_table_row(table);
		add_text(table, pair->name);
		add_text(table, dtype_of(&pair->a));
		add_text(table, pair->shape);
		add_text(table, words[pair->same]);
		add_value(table, &pair->a);
		add_value(table, &pair->b);
	}
}

/* ---- How the calls correspond ---------------------------------------------------------------- */

static void show_alignment(const struct wti_divergence_report *report, struct wt_result *result)
{
	struct wt_table *table =
		wt_result_table(result, "alignment", "operations, by how they correspond");

	wt_table_column(table, "track", "track", WT_CELL_TEXT);
	wt_table_column(table, "a", "in A", WT_CELL_COUNT);
	wt_table_column(table, "b", "in B", WT_CELL_COUNT);
	wt_table_column(table, "aligned", "aligned", WT_CELL_COUNT);
	wt_table_column(table, "reordered", "reordered", WT_CELL_COUNT);
	wt_table_column(table, "missing", "missing", WT_CELL_COUNT);
	wt_table_column(table, "extra", "extra", WT_CELL_COUNT);
	wt_table_column(table, "fused", "fused", WT_CELL_COUNT);
	wt_table_column(table, "split", "split", WT_CELL_COUNT);
	wt_table_column(table, "replaced", "replaced", WT_CELL_COUNT);
	wt_table_column(table, "absorbed", "absorbed", WT_CELL_COUNT);
	wt_table_column(table, "inside", "inside", WT_CELL_COUNT);
	wt_table_column(table, "around", "around", WT_CELL_COUNT);
	wt_table_column(table, "repeated", "repeated", WT_CELL_COUNT);
	wt_table_column(table, "same", "same", WT_CELL_COUNT);
	wt_table_column(table, "inherited", "inherited", WT_CELL_COUNT);
	wt_table_column(table, "further", "further origins", WT_CELL_COUNT);
	wt_table_column(table, "unread", "not read", WT_CELL_COUNT);
	wt_table_column(table, "generators", "random states that differ", WT_CELL_TEXT);
	wt_table_column(table, "settings", "settings that differ", WT_CELL_TEXT);
	for (size_t i = 0; i < report->count; i++) {
		const struct wti_judgement *j = &report->tracks[i].judgement;

		if (!report->tracks[i].in_a || !report->tracks[i].in_b)
			continue;
		wt_table_row(table);
		add_text(table, report->tracks[i].label);
		wt_table_count(table, j->a_count);
		wt_table_count(table, j->b_count);
		for (int label = 0; label < WTI_PAIR_LABELS; label++)
			wt_table_count(table, j->labels[label]);
		wt_table_count(table, j->same);
		wt_table_count(table, j->inherited);
		wt_table_count(table, j->further);
		wt_table_count(table, j->unread);
		add_text(table, j->generators);
		add_text(table, j->settings);
	}
}

/* ---- What was not seen ----------------------------------------------------------------------- */

static void note_gaps(const struct wti_divergence_report *report, struct wt_result *result)
{
	uint64_t reports = 0;

	if (report->lost)
		wt_result_note(result,
			       "%" PRIu64 " events were lost: what they held is not compared",
			       report->lost);
	if (report->thinned)
		wt_result_note(
			result,
			report->verdict == WTI_REPEAT_IDENTICAL
				? "the recordings omit some steps or values: that nothing in "
				  "them differs is concluded from the parameters behind them"
				: "the recordings omit some steps or values (--budget, "
				  "--sample): what is omitted is not compared");
	if (report->unread)
		wt_result_note(result,
			       "%" PRIu64
			       " results were not read, as they are larger than the level "
			       "reads: record with --tensors stats to compare them too",
			       report->unread);
	if (report->by_order)
		wt_result_note(result, "threads did too much to be compared by what they did: they "
				       "are compared in the order in which they began");
	if (report->absorbed && report->verdict != WTI_REPEAT_DIFFERENT)
		wt_result_note(result,
			       "%" PRIu64 " operations of threads were done in another order, and "
			       "no difference remains of it",
			       report->absorbed);
	if (report->shards)
		wt_result_note(result,
			       "%" PRIu64
			       " values of parameters and gradients were not compared: one "
			       "of the runs holds only a part of them",
			       report->shards);
	if (!report->values_compared)
		wt_result_note(result, "no value was recorded that could be compared%s",
			       report->compared ? ""
						: ": calls of libraries other than torch are "
						  "recorded with --modules, such as --modules "
						  "numpy");
	for (size_t i = 0; i < report->count; i++) {
		const struct wti_track_verdict *track = &report->tracks[i];

		reports += track->judgement.compared ? track->judgement.reports : 0;
		if (track->judgement.resume.is_found)
			wt_result_note(
				result,
				"%s: the second run goes on from what the first saved in step "
				"%" PRId64 ": it is compared from there on",
				track->label, track->judgement.resume.a_step);
		if (!track->in_a || !track->in_b)
			wt_result_note(result, "%s is only in the %s run", track->label,
				       track->in_a ? "first" : "second");
	}
	if (reports && report->verdict != WTI_REPEAT_DIFFERENT)
		wt_result_note(result,
			       "%" PRIu64
			       " values that are only reported differ (counters): nothing "
			       "recorded is computed from them",
			       reports);
}

void wti_divergence_show(const struct wti_divergence_report *report, struct wt_result *result)
{
	static const char *const words[] = {"not_measured", "identical", "different", "within"};
	const struct wti_first_difference *first = wti_divergence_first(report);

	show_firsts(report, result);
	show_before(report, result);
	if (first)
		show_values(first, result);
	show_alignment(report, result);
	if (report->steps >= 0)
		wt_result_fact_count(result, "steps", "steps", WT_CELL_COUNT,
				     (uint64_t)report->steps);
	wt_result_fact_count(result, "operations_compared", "operations compared", WT_CELL_COUNT,
			     report->compared);
	wt_result_fact_count(result, "values_compared", "values compared", WT_CELL_COUNT,
			     report->values_compared);
	wt_result_fact_count(result, "lone", "operations in one run only", WT_CELL_COUNT,
			     report->lone);
	wt_result_fact_count(result, "absorbed", "absorbed", WT_CELL_COUNT, report->absorbed);
	wt_result_fact_count(result, "unread", "results not read", WT_CELL_COUNT, report->unread);
	if (report->operations)
		wt_result_fact_number(result, "aligned_share", "operations aligned",
				      WT_CELL_PERCENT,
				      100. * (double)report->aligned / (double)report->operations);
	if (first)
		wt_result_fact_text(result, "first_track", "", report->tracks[report->first].label);
	if (first)
		wt_result_fact_text(result, "cause", "",
				    wti_cause_of(&report->tracks[report->first].judgement));
	note_gaps(report, result);
	wt_result_set_status(result, words[report->verdict]);
}
