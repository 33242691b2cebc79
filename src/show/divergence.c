/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict first, then where, what and how strongly it was observed: see divergence.h. */
#include "divergence.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

#define LABEL "  %-12s"

static void add_count(struct wti_buf *out, uint64_t count, const char *one, const char *many)
{
	char text[32];

	wti_textf(out, "%s %s", wti_format_count(text, count), count == 1 ? one : many);
}

/* How operations correspond, and what became of those without a partner. */
static void add_labels(struct wti_buf *out, const struct wti_divergence_report *report)
{
	static const char *const words[WTI_PAIR_LABELS] = {
		[WTI_PAIR_REORDERED] = "reordered", [WTI_PAIR_MISSING] = "missing",
		[WTI_PAIR_EXTRA] = "extra",         [WTI_PAIR_FUSED] = "fused",
		[WTI_PAIR_SPLIT] = "split",         [WTI_PAIR_REPLACED] = "replaced",
		[WTI_PAIR_INSIDE] = "inside",       [WTI_PAIR_AROUND] = "around",
		[WTI_PAIR_REPEATED] = "repeated",
	};

	wti_textf(out, LABEL "%.4g %% of operations", "aligned",
		  report->operations ? 100. * (double)report->aligned / (double)report->operations
				     : 0.);
	for (size_t label = 0; label < WTI_PAIR_LABELS; label++) {
		uint64_t count = 0;

		for (size_t i = 0; words[label] && i < report->count; i++)
			count += report->tracks[i].judgement.labels[label];
		if (count)
			wti_textf(out, ", %" PRIu64 " %s", count, words[label]);
	}
	wti_buf_byte(out, '\n');
}

/* ---- Nothing differs ------------------------------------------------------------------------- */

/* Something only one of the runs did, and behind which all is the same. */
static void add_lone(struct wti_buf *out, const struct wti_divergence_report *report)
{
	const struct wti_first_difference *order = NULL;

	for (size_t i = 0; i < report->count && !order; i++)
		if (report->tracks[i].judgement.order.how != WTI_BEGINS_NOT)
			order = &report->tracks[i].judgement.order;
	if (!order)
		return;
	wti_textf(out, LABEL, "only one");
	add_count(out, report->lone, "operation is in one of the runs only",
		  "operations are in one of the runs only");
	wti_textf(out, ", the first %s", order->callee);
	if (*order->file)
		wti_textf(out, ", %s:%u", order->file, order->line);
	wti_buf_text(out, "; the values behind them are the same\n");
}

static void add_same(struct wti_buf *out, const struct wti_divergence_report *report)
{
	if (report->verdict == WTI_REPEAT_IDENTICAL)
		wti_buf_text(out, report->lone ? "bit-identical in results" : "bit-identical");
	else
		wti_buf_text(out, "NOT MEASURED: no difference was seen");
	if (report->steps > 0) {
		wti_buf_text(out, " for ");
		add_count(out, (uint64_t)report->steps, "step", "steps");
	}
	wti_buf_text(out, ": ");
	add_count(out, report->compared, "operation", "operations");
	wti_buf_text(out, " and ");
	add_count(out, report->values_compared, "value", "values");
	wti_buf_text(out, report->verdict == WTI_REPEAT_IDENTICAL ? " are the same" : " compared");
	if (report->unread) {
		wti_buf_text(out, "; ");
		add_count(out, report->unread, "result was", "results were");
		wti_buf_text(out, " not read");
	}
	wti_buf_byte(out, '\n');
	add_lone(out, report);
	if (report->aligned < report->operations)
		add_labels(out, report);
}

/* ---- Something does -------------------------------------------------------------------------- */

static void add_headline(struct wti_buf *out, const struct wti_divergence_report *report,
			 const struct wti_first_difference *first, const struct wti_style *style)
{
	wti_ink(out, style, WTI_INK_BOLD);
	wti_textf(out, "the runs differ from %s%s", first->callee,
		  first->kind == WTI_COMPUTED_VALUE ? ", where it is read," : "");
	wti_buf_text(out, " on");
	wti_ink(out, style, WTI_INK_END);
	wti_textf(out, " (%s", report->tracks[report->first].label);
	if (first->step >= 0)
		wti_textf(out, ", step %" PRId64, first->step);
	if (*first->stage)
		wti_textf(out, ", stage %s", first->stage);
	wti_buf_text(out, ")\n");
}

static void add_place(struct wti_buf *out, const struct wti_first_difference *first)
{
	if (*first->file)
		wti_textf(out, LABEL "%s:%u\n", "line", first->file, first->line);
	wti_textf(out, LABEL "%s", "call path", first->path);
	if (*first->module)
		wti_textf(out, ", of %s", first->module);
	wti_buf_byte(out, '\n');
	if (*first->object)
		wti_textf(out, LABEL "%s\n", "object", first->object);
	wti_textf(out, LABEL "%s", "how", wti_beginning_words(first->how));
	if (*first->value)
		wti_textf(out, ": %s", first->value);
	wti_buf_byte(out, '\n');
}

static void add_evidence(struct wti_buf *out, const struct wti_first_difference *first)
{
	bool proven = first->how == WTI_BEGINS_OUTPUT && first->in.compared && !first->in.unread &&
		      !first->in.opaque && !first->unread_before && !wti_is_weakened(first);

	wti_textf(out, LABEL, "evidence");
	if (first->how == WTI_BEGINS_OUTPUT || first->how == WTI_BEGINS_STATE ||
	    first->how == WTI_BEGINS_LATER)
		wti_buf_text(out, proven ? "all inputs are proven equal"
					 : "the inputs are equal as far as they were seen");
	else if (first->how == WTI_BEGINS_MIXED)
		wti_buf_text(out, "each run has seen the values of the other, elsewhere");
	else if (first->how == WTI_BEGINS_SEED)
		wti_buf_text(out, "its seeds differ, and what is drawn from it is used");
	else
		wti_buf_text(out, "what made the difference was not seen at this level");
	if (first->in.unread) {
		wti_buf_text(out, "; ");
		add_count(out, first->in.unread, "input was", "inputs were");
		wti_buf_text(out, " not read");
	}
	if (first->in.opaque) {
		wti_buf_text(out, "; of ");
		add_count(out, first->in.opaque, "argument", "arguments");
		wti_buf_text(out, " only the type or the first elements are known");
	}
	if (first->unread_before) {
		wti_buf_text(out, "; ");
		add_count(out, first->unread_before, "earlier result was", "earlier results were");
		wti_buf_text(out, " not read");
	}
	if (wti_is_weakened(first)) {
		wti_buf_text(out, "; ");
		add_count(out, first->single_before[0] + first->single_before[1],
			  "operation before it is in one run only",
			  "operations before it are in one run only");
	}
	wti_buf_byte(out, '\n');
}

/* What may explain it, though both runs do the operation itself. */
static void add_before(struct wti_buf *out, const struct wti_divergence_report *report,
		       const struct wti_first_difference *first)
{
	const struct wti_only *only = &report->tracks[report->first].judgement.only;
	const uint64_t *single = first->single_before, *steps = first->steps_before;

	if (!wti_has_single_before(first))
		return;
	/* What a recording omits the run may have done. */
	wti_textf(out, LABEL "only the %s run %s %s", "before it",
		  only->is_in_b ? "second" : "first", report->thinned ? "recorded" : "does",
		  only->callee);
	if (*only->file)
		wti_textf(out, ", %s:%u", only->file, only->line);
	wti_buf_text(out, " (");
	add_count(out, single[only->is_in_b], "operation", "operations");
	if (single[!only->is_in_b]) {
		wti_textf(out, "; of the %s run ", only->is_in_b ? "first" : "second");
		add_count(out, single[!only->is_in_b], "operation", "operations");
	}
	wti_buf_text(out, ")\n");
	if (steps[0] != steps[1] && !report->thinned)
		wti_textf(out, LABEL "%" PRIu64 " and %" PRIu64 " by optimizers\n", "steps made",
			  steps[0], steps[1]);
}

/* Of an operation without a partner. */
static void add_single(struct wti_buf *out, const struct wti_judgement *judgement,
		       const struct wti_first_difference *first)
{
	static const char *const others[] = {"other", "second", "first"};

	wti_textf(out, LABEL "the %s run has no such operation%s\n", "evidence",
		  others[first->single_in],
		  first == &judgement->first ? ", and its result is the first value that differs"
					     : "");
}

static void add_elements(struct wti_buf *out, const struct wti_elements *e)
{
	wti_textf(out, ": %" PRIu64 " of %" PRIu64 " elements", e->different, e->count);
	if (e->is_float)
		wti_textf(out, ", by %" PRIu64 " ULP at most (%" PRIu64 " by 1)", e->ulp_max,
			  e->within[0]);
	wti_textf(out, ", farthest %.3g", e->farthest);
	if (e->nan_a || e->nan_b)
		wti_textf(out, ", NaN only in A %" PRIu64 ", only in B %" PRIu64, e->nan_a,
			  e->nan_b);
}

static const char *same_words(enum wti_same same)
{
	return same == WTI_SAME ? "equal" : same == WTI_NOT_SAME ? "differs" : "not read";
}

static void add_number(struct wti_buf *out, const struct wti_value_row *value)
{
	double number;

	memcpy(&number, &value->bits, sizeof(number));
	if (value->type == WT_VALUE_TYPE_FLOAT)
		wti_textf(out, "%.17g", number);
	else if (value->type == WT_VALUE_TYPE_HASH || value->type == WT_VALUE_TYPE_TEXT)
		wti_textf(out, "%016" PRIx64, value->bits);
	else
		wti_textf(out, "%" PRId64, (int64_t)value->bits);
}

static const char *dtype_of(const struct wti_value_row *value)
{
	const struct wt_field *field =
		&wt_kind_builtin(WT_KIND_TENSOR)->fields[WT_TENSOR_FIELD_DTYPE];

	return value->digest.dtype < field->enum_count ? field->enum_names[value->digest.dtype]
						       : "?";
}

/* Tensors of other kinds or sizes differ, whatever they hold. */
static bool add_kinds_apart(struct wti_buf *out, const struct wti_value_pair *pair)
{
	const struct wti_digest_row *a = &pair->a.digest, *b = &pair->b.digest;

	if (pair->a.type != WTI_VALUE_TENSOR || pair->b.type != WTI_VALUE_TENSOR ||
	    (a->dtype == b->dtype && a->count == b->count))
		return false;
	if (a->dtype != b->dtype)
		wti_textf(out, ": type %s and %s", dtype_of(&pair->a), dtype_of(&pair->b));
	else
		wti_textf(out, ": %" PRIu64 " and %" PRIu64 " elements", a->count, b->count);
	return true;
}

static void add_apart(struct wti_buf *out, const struct wti_value_pair *pair)
{
	if (add_kinds_apart(out, pair))
		return;
	if (pair->a.type == WTI_VALUE_TENSOR && wti_value_is_measured(&pair->a) &&
	    wti_value_is_measured(&pair->b)) {
		wti_textf(out, ": mean %.9g and %.9g", pair->a.digest.mean, pair->b.digest.mean);
		if (pair->a.digest.nan != pair->b.digest.nan)
			wti_textf(out, ", NaN %" PRIu64 " and %" PRIu64, pair->a.digest.nan,
				  pair->b.digest.nan);
	} else if (pair->a.type != WTI_VALUE_TENSOR) {
		wti_buf_text(out, ": ");
		add_number(out, &pair->a);
		wti_buf_text(out, " and ");
		add_number(out, &pair->b);
	}
}

static void add_values(struct wti_buf *out, const struct wti_first_difference *first,
		       const bool *has_elements, const struct wti_elements *elements)
{
	for (uint32_t i = 0; i < first->value_count; i++) {
		const struct wti_value_pair *pair = &first->values[i];

		wti_textf(out, LABEL "%s%s%s", pair->a.position >= 0 ? "in" : "out", pair->name,
			  *pair->shape ? ", " : "", pair->shape);
		wti_textf(out, " %s", same_words(pair->same));
		if (pair->same == WTI_NOT_SAME && has_elements[i])
			add_elements(out, &elements[i]);
		else if (pair->same == WTI_NOT_SAME)
			add_apart(out, pair);
		wti_buf_byte(out, '\n');
	}
}

static void add_around(struct wti_buf *out, const struct wti_divergence_report *report)
{
	uint64_t same = 0, inherited = 0, further = 0;

	for (size_t i = 0; i < report->count; i++) {
		same += report->tracks[i].judgement.same;
		inherited += report->tracks[i].judgement.inherited;
		further += report->tracks[i].judgement.further;
	}
	wti_textf(out, LABEL, "others");
	add_count(out, same, "operation is the same", "operations are the same");
	wti_buf_text(out, ", ");
	add_count(out, inherited, "operation or value inherits a difference",
		  "operations and values inherit a difference");
	if (further) {
		wti_buf_text(out, ", ");
		add_count(out, further, "has equal inputs and other outputs, too",
			  "have equal inputs and other outputs, too");
	}
	wti_buf_byte(out, '\n');
	add_labels(out, report);
}

static bool is_alike(const struct wti_first_difference *a, const struct wti_first_difference *b)
{
	return a->how == b->how && a->line == b->line && a->step == b->step &&
	       !strcmp(a->file, b->file) && !strcmp(a->callee, b->callee);
}

/* How many tracks from `from` on, the earliest apart, begin to differ as this one does. */
static size_t count_alike(const struct wti_divergence_report *report, size_t from, size_t to,
			  const struct wti_first_difference *first)
{
	size_t count = 0;

	for (size_t i = from; i < to; i++)
		count += i != report->first && is_alike(&report->tracks[i].judgement.first, first);
	return count;
}

/*
 * Others than the earliest: there is no order between them. Threads of a pool come by the hundred
 * and differ from the same line on: they are one line.
 */
static void add_tracks(struct wti_buf *out, const struct wti_divergence_report *report)
{
	for (size_t i = 0; i < report->count; i++) {
		const struct wti_first_difference *first = &report->tracks[i].judgement.first;
		size_t others;

		if (i == report->first || first->how == WTI_BEGINS_NOT ||
		    count_alike(report, 0, i, first))
			continue;
		others = count_alike(report, i + 1, report->count, first);
		wti_buf_text(out, report->tracks[i].label);
		if (others)
			wti_textf(out, " and %zu other%s differ from %s on", others,
				  others == 1 ? "" : "s", first->callee);
		else
			wti_textf(out, " differs from %s on", first->callee);
		if (first->step >= 0)
			wti_textf(out, ", step %" PRId64, first->step);
		if (*first->file)
			wti_textf(out, ", %s:%u", first->file, first->line);
		wti_textf(out, ": %s\n", wti_beginning_words(first->how));
	}
}

void wti_show_divergence(struct wti_buf *out, const struct wti_divergence_report *report,
			 const bool *has_elements, const struct wti_elements *elements,
			 const struct wti_style *style)
{
	const struct wti_first_difference *first = wti_divergence_first(report);

	if (!first) {
		add_same(out, report);
		return;
	}
	if (report->verdict == WTI_REPEAT_WITHIN)
		wti_buf_text(out,
			     "within the tolerances: no value lies outside, but bits differ\n");
	add_headline(out, report, first, style);
	add_place(out, first);
	if (first->how == WTI_BEGINS_ORDER)
		add_single(out, &report->tracks[report->first].judgement, first);
	else
		add_evidence(out, first);
	add_before(out, report, first);
	if (*wti_cause_of(&report->tracks[report->first].judgement))
		wti_textf(out, LABEL "%s\n", "differs in",
			  wti_cause_of(&report->tracks[report->first].judgement));
	if (*report->tracks[report->first].judgement.generators)
		wti_textf(out, LABEL "the states of these generators differ: %s\n", "random",
			  report->tracks[report->first].judgement.generators);
	if (*report->tracks[report->first].judgement.settings)
		wti_textf(out, LABEL "%s\n", "settings",
			  report->tracks[report->first].judgement.settings);
	add_values(out, first, has_elements, elements);
	add_around(out, report);
	add_tracks(out, report);
}
