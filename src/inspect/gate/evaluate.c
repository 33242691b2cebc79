/* SPDX-License-Identifier: Apache-2.0 */
/* Judges what is one number against its limits: time, counts, bytes, memory; and how long runs
 * take.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/number.h"
#include "base/pattern.h"
#include "base/text.h"
#include "evaluate.h"
#include "ratio.h"

/* ---- Reporting ------------------------------------------------------------------------------- */

void wti_not_evaluated(struct wti_outcome *outcome, const char *format, ...)
{
	va_list args;

	outcome->verdict = WTI_NOT_MEASURED;
	va_start(args, format);
	vsnprintf(outcome->why, sizeof(outcome->why), format, args);
	va_end(args);
}

void wti_absent(const struct wti_assertion *assertion, struct wti_outcome *outcome,
		const char *what, const char *name)
{
	if (assertion->may_be_absent) {
		outcome->verdict = WTI_HELD;
		snprintf(outcome->actual, sizeof(outcome->actual), "no %s '%.200s', which may be",
			 what, name);
		return;
	}
	wti_not_evaluated(outcome,
			  "there is no %s '%.200s' in this run; if that is correct, set "
			  "may_be_absent = true",
			  what, name);
}

static void put_number(struct wti_buf *out, double value, enum wti_gate_unit unit)
{
	char text[32];

	if (unit == WTI_UNIT_NS)
		wti_buf_text(out, wti_format_ns(text, wti_i64_of(value)));
	else if (unit == WTI_UNIT_BYTES && value >= 10000)
		wti_buf_printf(out, "%s (%.0f bytes)", wti_format_bytes(text, wti_u64_of(value)),
			       value);
	else if (unit == WTI_UNIT_BYTES)
		wti_buf_printf(out, "%.0f bytes", value);
	else if (unit == WTI_UNIT_NUMBER)
		wti_buf_printf(out, "%.9g", value);
	else
		wti_buf_text(out, wti_format_count(text, wti_u64_of(value)));
}

static void put_limits(const struct wti_assertion *a, enum wti_gate_unit unit,
		       struct wti_outcome *outcome)
{
	struct wti_buf text;

	wti_buf_init(&text, sizeof(outcome->expected));
	if (a->has_min) {
		wti_buf_text(&text, "at least ");
		put_number(&text, a->min, unit);
	}
	if (a->has_max) {
		wti_buf_text(&text, a->has_min ? ", at most " : "at most ");
		put_number(&text, a->max, unit);
	}
	snprintf(outcome->expected, sizeof(outcome->expected), "%s", wti_buf_cstr(&text));
	wti_buf_release(&text);
}

void wti_judge_number(const struct wti_assertion *a, double value, enum wti_gate_unit unit,
		      const char *of, struct wti_outcome *outcome)
{
	bool is_within = (!a->has_max || value <= a->max) && (!a->has_min || value >= a->min);
	struct wti_buf text;

	put_limits(a, unit, outcome);
	wti_buf_init(&text, sizeof(outcome->actual));
	put_number(&text, value, unit);
	snprintf(outcome->actual, sizeof(outcome->actual), "%s%s%s", wti_buf_cstr(&text),
		 *of ? " " : "", of);
	wti_buf_release(&text);
	outcome->verdict = is_within ? WTI_HELD : WTI_VIOLATED;
	outcome->is_below = a->has_min && value < a->min;
}

/* ---- What a recording has -------------------------------------------------------------------- */

static enum wti_arch arch_of(const struct wti_gate_run *run)
{
	return strcmp(run->effects->arch, "aarch64") ? WTI_ARCH_X86_64 : WTI_ARCH_AARCH64;
}

bool wti_was_recorded(const struct wti_gate_run *run, const char *calls,
		      struct wti_outcome *outcome)
{
	enum wti_arch arch = arch_of(run);
	struct wti_call_set recorded, needed;

	if (run->unfit) {
		wti_not_evaluated(outcome, "%s", run->unfit);
		return false;
	}
	if (!strcmp(run->recorded, "all"))
		return true;
	if (!calls)
		wti_call_set_all(&needed);
	/* What this architecture does not have cannot be missing. */
	if (wti_expr_compile(arch, run->recorded, &recorded, NULL) ||
	    (calls && wti_expr_compile(arch, calls, &needed, NULL))) {
		wti_not_evaluated(outcome, "it is not known which system calls were recorded");
		return false;
	}
	for (size_t i = 0; i < WTI_CALLS_MAX / 64; i++) {
		if (!(needed.bits[i] & ~recorded.bits[i]))
			continue;
		wti_not_evaluated(outcome,
				  "the run was recorded with --syscalls=%.100s, which leaves out "
				  "calls that this is about",
				  run->recorded);
		return false;
	}
	return true;
}

void wti_doubt(const struct wti_gate_run *run, unsigned about, bool is_doubtful,
	       struct wti_outcome *outcome)
{
	char why[sizeof(outcome->why)];

	if (is_doubtful && outcome->verdict != WTI_NOT_MEASURED &&
	    wti_unseen(&run->effects->unseen, about, why, sizeof(why)))
		wti_not_evaluated(outcome, "%s", why);
}

void wti_doubt_failed(const struct wti_assertion *a, const struct wti_gate_run *run,
		      struct wti_outcome *outcome)
{
	if (run->failed && !a->may_fail && outcome->verdict == WTI_HELD)
		wti_not_evaluated(outcome, "%s", run->failed);
}

/* More than was counted may have happened: what is too much is so anyway, and what is enough. */
static void doubt_count(const struct wti_assertion *a, const struct wti_gate_run *run,
			struct wti_outcome *outcome)
{
	unsigned about = a->file || a->type == WTI_GATE_BYTES ? WTI_ABOUT_FILES | WTI_ABOUT_NETWORK
							      : WTI_ABOUT_CALLS;
	bool too_few = outcome->verdict == WTI_VIOLATED && outcome->is_below;
	bool not_too_many = outcome->verdict == WTI_HELD && (a->has_max || a->may_be_absent);

	wti_doubt(run, about, too_few || not_too_many, outcome);
}

bool wti_gate_matches(const char *pattern, bool is_regex, const char *text)
{
	char why[WTI_REGEX_WHY_BYTES];
	regex_t regex;
	bool matches;

	if (!pattern)
		return true;
	if (!is_regex)
		return wti_glob(pattern, text, strlen(text));
	if (wti_regex_compile(pattern, &regex, why))
		return false;
	matches = !regexec(&regex, text, 0, NULL, 0);
	regfree(&regex);
	return matches;
}

/* ---- Time ------------------------------------------------------------------------------------ */

static bool is_step(const struct wti_assertion *a)
{
	return a->of && !strcmp(a->of, "step");
}

static bool is_path(const struct wti_assertion *a)
{
	return a->type == WTI_GATE_DURATION && a->of && !strcmp(a->of, "critical_path");
}

/* No path is longer than the run: a run that is short enough needs no calls to show it. */
static bool path_fits_anyway(const struct wti_assertion *a, const struct wti_gate_run *run)
{
	return a->has_max && !a->has_min && run->duration_ns >= 0 &&
	       (double)run->duration_ns <= a->max;
}

static void judge_path(const struct wti_assertion *a, const struct wti_gate_run *run,
		       struct wti_outcome *outcome)
{
	const char *of = "of work that others waited for";
	uint64_t ns = 0;

	if (!wti_was_recorded(run, NULL, outcome)) {
		if (path_fits_anyway(a, run))
			wti_judge_number(a, (double)run->duration_ns, WTI_UNIT_NS, "or less",
					 outcome);
		return;
	}
	for (size_t i = 0; run->path && i < run->path->fact_count; i++)
		if (!strcmp(run->path->facts[i].key, "path_ns"))
			ns = run->path->facts[i].value.count;
	wti_judge_number(a, (double)ns, WTI_UNIT_NS, of, outcome);
}

static void judge_duration(const struct wti_assertion *a, const struct wti_gate_run *run,
			   struct wti_outcome *outcome)
{
	int64_t ns = is_step(a) ? wti_effects_step_ns(run->effects, a->quantile) : run->duration_ns;
	char of[64] = "";

	if (a->span) {
		wti_judge_span(a, run, outcome);
		return;
	}
	if (is_path(a)) {
		judge_path(a, run, outcome);
		return;
	}
	if (ns < 0) {
		wti_not_evaluated(outcome, is_step(a) ? "the program emits no steps, or only one"
						      : "the run's duration was not recorded");
		return;
	}
	if (is_step(a))
		snprintf(of, sizeof(of), "a step (quantile %g of %zu)", a->quantile,
			 run->effects->step_time_count);
	wti_judge_number(a, (double)ns, WTI_UNIT_NS, of, outcome);
}

/* ---- Counts, bytes --------------------------------------------------------------------------- */

static void count_calls(const struct wti_assertion *a, const struct wti_gate_run *run,
			struct wti_outcome *outcome)
{
	const struct wti_counter *counter = a->counter;
	bool per_step = a->per && !strcmp(a->per, "step");
	enum wti_gate_unit unit = a->type == WTI_GATE_BYTES ? WTI_UNIT_BYTES : WTI_UNIT_COUNT;
	char of[128];

	if (a->file) {
		wti_judge_file(a, run, outcome);
		return;
	}
	if (!wti_was_recorded(run, counter->call, outcome))
		return;
	if (per_step && !run->counts->step_count) {
		wti_not_evaluated(outcome, "the program emits no steps, or only one");
		return;
	}
	if (a->stage && !run->counts->saw_stage) {
		wti_not_evaluated(outcome, "the program emits no stages");
		return;
	}
	if (a->stage && !counter->saw_stage) {
		wti_absent(a, outcome, "stage", a->stage);
		return;
	}
	if (!counter->seen) {
		wti_absent(a, outcome, "call of", counter->call ? counter->call : "all");
		if (outcome->verdict == WTI_HELD)
			wti_judge_number(a, 0, unit, "", outcome);
		return;
	}
	if (!per_step) {
		wti_judge_number(a, (double)counter->total, unit, "in all", outcome);
		return;
	}
	snprintf(of, sizeof(of), "in a step (of %llu: %llu to %llu)",
		 (unsigned long long)run->counts->step_count, (unsigned long long)counter->step_min,
		 (unsigned long long)counter->step_max);
	/* The step that is furthest out. */
	wti_judge_number(a, (double)counter->step_max, unit, of, outcome);
	if (outcome->verdict == WTI_HELD)
		wti_judge_number(a, (double)(a->has_min ? counter->step_min : counter->step_max),
				 unit, of, outcome);
}

static void judge_count(const struct wti_assertion *a, const struct wti_gate_run *run,
			struct wti_outcome *outcome)
{
	count_calls(a, run, outcome);
	doubt_count(a, run, outcome);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Up to the floor it is not known whether the program or the recorder needed it. */
static void judge_rss(const struct wti_assertion *a, const struct wti_gate_run *run,
		      struct wti_outcome *outcome)
{
	bool is_exact = run->peak_rss_bytes > run->rss_floor_bytes;
	char floor[16];

	if (run->peak_rss_bytes <= 0 || run->rss_floor_bytes < 0) {
		wti_not_evaluated(outcome, "resident memory was not recorded in this run: record "
					   "it again");
		return;
	}
	wti_judge_number(a, (double)run->peak_rss_bytes, WTI_UNIT_BYTES,
			 is_exact ? "resident" : "resident, or less", outcome);
	if (is_exact || (outcome->verdict == WTI_HELD && !a->has_min))
		return;
	wti_not_evaluated(outcome,
			  "below %s the peak of a program is not known, as the process began as "
			  "the recorder's",
			  wti_format_bytes(floor, (uint64_t)run->rss_floor_bytes));
}

static void judge_memory(const struct wti_assertion *a, const struct wti_gate_run *run,
			 struct wti_outcome *outcome)
{
	const char *of = a->of ? a->of : "peak_rss";
	int64_t faults = strcmp(of, "faults") ? run->major_faults : run->faults;

	if (!strcmp(of, "peak_rss")) {
		judge_rss(a, run, outcome);
	} else if (!strcmp(of, "mapped")) {
		if (wti_was_recorded(run, "mmap,mremap,mprotect,brk", outcome))
			wti_judge_number(a, (double)run->counts->asked_bytes, WTI_UNIT_BYTES,
					 "asked for", outcome);
	} else if (faults < 0) {
		wti_not_evaluated(outcome, "page faults were not recorded in this run: record it "
					   "again");
	} else {
		wti_judge_number(a, (double)faults, WTI_UNIT_COUNT, "page faults", outcome);
	}
}

/* ---- Metrics --------------------------------------------------------------------------------- */

static const struct wti_value *metric_of(const struct wti_effects *effects, const char *name)
{
	for (size_t i = 0; i < effects->value_count; i++)
		if (!strcmp(effects->values[i].name, name))
			return &effects->values[i];
	return NULL;
}

/* The names that there are, for whoever has mistyped one. */
static void no_metric(const struct wti_assertion *a, const struct wti_effects *effects,
		      struct wti_outcome *outcome)
{
	const char *names[256], *near;
	size_t count = 0;

	for (size_t i = 0; i < effects->value_count && count < 256; i++)
		names[count++] = effects->values[i].name;
	near = wti_suggest(a->metric, names, count);
	wti_not_evaluated(outcome,
			  "the run has no metric '%.100s'%s%.100s%s; log it with wt_counter() or "
			  "wheeltap.log()",
			  a->metric, near ? "; did you mean '" : "", near ? near : "",
			  near ? "'?" : "");
}

static double of_metric(const struct wti_value *value, const char *of)
{
	if (!strcmp(of, "first"))
		return value->first;
	if (!strcmp(of, "min"))
		return value->min;
	if (!strcmp(of, "max"))
		return value->max;
	return strcmp(of, "mean") ? value->last : value->sum / (double)value->finite_count;
}

/* NaN lies within no limits. Of min, max and mean it says nothing, unless there is nothing else. */
static void judge_metric(const struct wti_assertion *a, const struct wti_gate_run *run,
			 struct wti_outcome *outcome)
{
	const struct wti_value *value = metric_of(run->effects, a->metric);
	const char *of = a->of ? a->of : "last";
	bool is_one = !strcmp(of, "last") || !strcmp(of, "first");
	char text[64];

	if (!value) {
		no_metric(a, run->effects, outcome);
		return;
	}
	if (!is_one && !value->finite_count) {
		wti_not_evaluated(outcome, "all %llu values of '%.100s' are NaN or infinite",
				  (unsigned long long)value->count, a->metric);
		return;
	}
	snprintf(text, sizeof(text), "(%s of %llu)", of, (unsigned long long)value->count);
	wti_judge_number(a, of_metric(value, of), WTI_UNIT_NUMBER, text, outcome);
}

/* ---- All of them ----------------------------------------------------------------------------- */

unsigned wti_gate_needs(const struct wti_assertion *a)
{
	if (a->type == WTI_GATE_RULE)
		return WTI_NEEDS_DOCTOR;
	if (a->type == WTI_GATE_EXPRESSION && a->table && !strcmp(a->table, "syscalls"))
		return WTI_NEEDS_SYSCALLS;
	if (a->span || a->type == WTI_GATE_SPANS || a->type == WTI_GATE_PATTERN ||
	    (a->type == WTI_GATE_EXPRESSION && a->table && !strcmp(a->table, "profile")))
		return WTI_NEEDS_PROFILE;
	return is_path(a) ? WTI_NEEDS_PATH : 0;
}

int wti_gate_judge(const struct wti_assertion *a, const struct wti_gate_run *run,
		   struct wti_outcome *ret_outcome, struct wt_err *err)
{
	static void (*const judges[WTI_GATE_TYPES])(
		const struct wti_assertion *, const struct wti_gate_run *, struct wti_outcome *) = {
		[WTI_GATE_DURATION] = judge_duration,
		[WTI_GATE_COUNT] = judge_count,
		[WTI_GATE_BYTES] = judge_count,
		[WTI_GATE_MEMORY] = judge_memory,
		[WTI_GATE_FORBIDDEN] = wti_judge_forbidden,
		[WTI_GATE_REQUIRED] = wti_judge_required,
		[WTI_GATE_RULE] = wti_judge_rule,
		[WTI_GATE_EXPRESSION] = wti_judge_expression,
		[WTI_GATE_METRIC] = judge_metric,
		[WTI_GATE_SPANS] = wti_judge_spans,
		[WTI_GATE_PATTERN] = wti_judge_pattern,
	};

	*ret_outcome = (struct wti_outcome){.verdict = WTI_NOT_MEASURED};
	if (!a->is_enabled)
		ret_outcome->verdict = WTI_DISABLED;
	else if (run->broken)
		wti_not_evaluated(ret_outcome, "%s", run->broken);
	else if (judges[a->type])
		judges[a->type](a, run, ret_outcome);
	else
		return wti_err(err, WT_E_ARG, "'%s' is not about one run alone",
			       wti_gate_word(a->type));
	wti_doubt_failed(a, run, ret_outcome);
	return 0;
}

/* ---- Two sets of runs ------------------------------------------------------------------------ */

/* What a run counts with; not above 0: nothing. */
static double time_of(const struct wti_gate_run *run, bool of_steps)
{
	return (double)(of_steps ? wti_effects_step_ns(run->effects, 0.5) : run->duration_ns);
}

static size_t times_of(const struct wti_gate_run *runs, size_t count, bool of_steps, double *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < count && kept < WTI_RATIO_RUNS_MAX; i++) {
		ret[kept] = time_of(&runs[i], of_steps);
		kept += ret[kept] > 0;
	}
	return kept;
}

static void report_ratio(const struct wti_assertion *a, const struct wti_ratio *ratio,
			 size_t now_count, size_t before_count, struct wti_outcome *outcome)
{
	double bound = 1 + a->max;

	snprintf(outcome->actual, sizeof(outcome->actual),
		 "%+.1f %% (%+.1f %% to %+.1f %%, each end with %g %% confidence, %zu against %zu "
		 "runs); smallest slowdown that would have been seen: %.1f %%",
		 100 * (ratio->estimate - 1), 100 * (ratio->low - 1), 100 * (ratio->high - 1),
		 100 * a->confidence, now_count, before_count,
		 100 * (bound * ratio->estimate / ratio->low - 1));
	outcome->verdict = ratio->low > bound ? WTI_VIOLATED : WTI_HELD;
	if (ratio->low > bound || ratio->high <= bound)
		return;
	wti_not_evaluated(outcome, "undecided: %.300s. Record more runs, or allow more",
			  outcome->actual);
}

void wti_gate_slower(const struct wti_assertion *a, const struct wti_gate_run *now,
		     size_t now_count, const struct wti_gate_run *before, size_t before_count,
		     struct wti_outcome *ret_outcome)
{
	bool of_steps = !a->of || is_step(a);
	double times[2][WTI_RATIO_RUNS_MAX];
	struct wti_ratio ratio;
	size_t counts[2];

	*ret_outcome = (struct wti_outcome){.verdict = WTI_DISABLED};
	if (!a->is_enabled)
		return;
	snprintf(ret_outcome->expected, sizeof(ret_outcome->expected),
		 "%s take at most %g %% longer than before", of_steps ? "steps" : "runs",
		 100 * a->max);
	if (!before_count) {
		wti_not_evaluated(ret_outcome,
				  "there is nothing to compare with: give --against RUN,RUN...");
		return;
	}
	for (size_t i = 0; i < now_count + before_count; i++) {
		const struct wti_gate_run *run = i < now_count ? &now[i] : &before[i - now_count];
		const char *broken = run->broken ? run->broken : a->may_fail ? NULL : run->failed;

		if (!broken)
			continue;
		wti_not_evaluated(ret_outcome, "%s", broken);
		return;
	}
	counts[0] = times_of(now, now_count, of_steps, times[0]);
	counts[1] = times_of(before, before_count, of_steps, times[1]);
	if (counts[0] < now_count || counts[1] < before_count) {
		wti_not_evaluated(ret_outcome,
				  "in %zu of the runs it was not recorded how long "
				  "the %s",
				  now_count + before_count - counts[0] - counts[1],
				  of_steps ? "steps took" : "program ran");
	} else if (!wti_ratio(times[0], counts[0], times[1], counts[1], a->confidence, &ratio)) {
		wti_not_evaluated(ret_outcome,
				  "%zu against %zu runs are too few to decide with %g %% "
				  "confidence: %zu on each side are the least",
				  counts[0], counts[1], 100 * a->confidence,
				  wti_ratio_runs_needed(a->confidence));
	} else {
		report_ratio(a, &ratio, counts[0], counts[1], ret_outcome);
	}
}
