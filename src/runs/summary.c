/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which inspectors a summary is made of, and what its metrics are called. */
#include "summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/text.h"
#include "convert/tap.h"
#include "inspect/check/check.h"
#include "inspect/training/transfers.h"
#include "lineage.h"
#include "runjson.h"
#include "seen.h"
#include "trace/run_folder.h"

#define ARENA_MAX ((size_t)64 << 20)
#define SECOND_NS 1e9

/* ---- Words ----------------------------------------------------------------------------------- */

static const char *const statistics[WTI_STATISTICS] = {"first", "last", "min", "max",
						       "mean",  "p50",  "p95", "count"};

const char *wti_statistic_word(enum wti_statistic statistic)
{
	return statistics[statistic];
}

int wti_statistic_number(const char *word, size_t bytes)
{
	for (int i = 0; i < WTI_STATISTICS; i++)
		if (strlen(statistics[i]) == bytes && !memcmp(statistics[i], word, bytes))
			return i;
	return -1;
}

const char *wti_severity_word(enum wt_severity severity)
{
	static const char *const words[] = {"note", "warning", "error"};

	return severity < sizeof(words) / sizeof(*words) ? words[severity] : "other";
}

const char *wti_metric_text(char out[WTI_METRIC_TEXT], const char *unit, double value)
{
	if (!strcmp(unit, "s") && isfinite(value))
		return wti_format_ns(out, (int64_t)(value * SECOND_NS));
	if (!strcmp(unit, "bytes") && isfinite(value))
		return wti_format_bytes(out, value > 0 ? (uint64_t)value : 0);
	snprintf(out, WTI_METRIC_TEXT, "%.6g", value);
	return out;
}

/* ---- Filling --------------------------------------------------------------------------------- */

void wti_summary_init(struct wti_run_summary *summary)
{
	*summary = (struct wti_run_summary){.is_damaged = false};
	wti_arena_init(&summary->arena, ARENA_MAX);
	wti_tests_init(&summary->tests);
	wti_configuration_init(&summary->configuration);
}

void wti_summary_release(struct wti_run_summary *summary)
{
	wti_arena_release(&summary->arena);
	free(summary->metrics);
	free(summary->findings);
	free(summary->saved);
	wti_tests_release(&summary->tests);
	wti_configuration_release(&summary->configuration);
	*summary = (struct wti_run_summary){.is_damaged = false};
}

static const char *kept(struct wti_run_summary *summary, const char *text)
{
	return text && *text ? wti_arena_text(&summary->arena, text, strlen(text)) : "";
}

int wti_summary_add_metric(struct wti_run_summary *summary, const struct wti_run_metric *metric)
{
	struct wti_run_metric copy = *metric;

	if (summary->metric_count >= WTI_SUMMARY_METRICS_MAX)
		return 0;
	copy.name = kept(summary, metric->name);
	copy.unit = kept(summary, metric->unit);
	if (summary->arena.status == WT_E_LIMIT)
		return 0;
	if (summary->arena.status || wti_grow(&summary->metrics, summary->metric_count + 1,
					      &summary->metric_capacity, WTI_SUMMARY_METRICS_MAX))
		return WT_E_NOMEM;
	summary->metrics[summary->metric_count++] = copy;
	return 0;
}

int wti_summary_add_number(struct wti_run_summary *summary, const char *name, const char *unit,
			   double value)
{
	struct wti_run_metric metric = {.name = name, .unit = unit};

	if (value < 0)
		return 0;
	for (int i = 0; i < WTI_STATISTICS; i++)
		metric.values[i] = value;
	metric.values[WTI_STAT_COUNT] = 1;
	return wti_summary_add_metric(summary, &metric);
}

int wti_summary_add_finding(struct wti_run_summary *summary, const struct wti_run_finding *finding)
{
	struct wti_run_finding copy = *finding;

	if (summary->finding_count >= WTI_SUMMARY_FINDINGS_MAX)
		return 0;
	copy.code = kept(summary, finding->code);
	copy.title = kept(summary, finding->title);
	copy.file = kept(summary, finding->file);
	if (summary->arena.status == WT_E_LIMIT)
		return 0;
	if (summary->arena.status || wti_grow(&summary->findings, summary->finding_count + 1,
					      &summary->finding_capacity, WTI_SUMMARY_FINDINGS_MAX))
		return WT_E_NOMEM;
	summary->findings[summary->finding_count++] = copy;
	return 0;
}

int wti_summary_add_saved(struct wti_run_summary *summary, const struct wti_run_saved *saved)
{
	struct wti_run_saved copy = *saved;

	if (summary->saved_count >= WTI_SUMMARY_SAVED_MAX)
		return 0;
	copy.path = kept(summary, saved->path);
	if (summary->arena.status == WT_E_LIMIT)
		return 0;
	if (summary->arena.status || wti_grow(&summary->saved, summary->saved_count + 1,
					      &summary->saved_capacity, WTI_SUMMARY_SAVED_MAX))
		return WT_E_NOMEM;
	summary->saved[summary->saved_count++] = copy;
	return 0;
}

const struct wti_run_metric *wti_summary_metric(const struct wti_run_summary *summary,
						const char *name)
{
	for (size_t i = 0; i < summary->metric_count; i++)
		if (!strcmp(summary->metrics[i].name, name))
			return &summary->metrics[i];
	return NULL;
}

/* ---- Metrics --------------------------------------------------------------------------------- */

static int add_value(struct wti_run_summary *summary, const struct wti_value *value)
{
	const bool any = value->finite_count;
	const struct wti_run_metric metric = {
		.name = value->name,
		.unit = "",
		.values = {[WTI_STAT_FIRST] = value->first,
			   [WTI_STAT_LAST] = value->last,
			   [WTI_STAT_MIN] = any ? value->min : NAN,
			   [WTI_STAT_MAX] = any ? value->max : NAN,
			   [WTI_STAT_MEAN] = any ? value->sum / (double)value->finite_count : NAN,
			   [WTI_STAT_P50] = wti_quantiles_at(&value->quantiles, 0.5),
			   [WTI_STAT_P95] = wti_quantiles_at(&value->quantiles, 0.95),
			   [WTI_STAT_COUNT] = (double)value->count}};

	return wti_summary_add_metric(summary, &metric);
}

static int add_steps(struct wti_run_summary *summary, const struct wti_effects *fx)
{
	struct wti_run_metric metric = {.name = "step_time", .unit = "s"};
	double sum = 0;

	if (!fx->step_time_count)
		return 0;
	for (size_t i = 0; i < fx->step_time_count; i++)
		sum += (double)fx->step_ns[i] / SECOND_NS;
	metric.values[WTI_STAT_FIRST] = (double)fx->step_ns[0] / SECOND_NS;
	metric.values[WTI_STAT_LAST] = (double)fx->step_ns[fx->step_time_count - 1] / SECOND_NS;
	metric.values[WTI_STAT_MIN] = (double)wti_effects_step_ns(fx, 0) / SECOND_NS;
	metric.values[WTI_STAT_MAX] = (double)wti_effects_step_ns(fx, 1) / SECOND_NS;
	metric.values[WTI_STAT_MEAN] = sum / (double)fx->step_time_count;
	metric.values[WTI_STAT_P50] = (double)wti_effects_step_ns(fx, 0.5) / SECOND_NS;
	metric.values[WTI_STAT_P95] = (double)wti_effects_step_ns(fx, 0.95) / SECOND_NS;
	metric.values[WTI_STAT_COUNT] = (double)fx->step_time_count;
	if (sum > 0 && wti_summary_add_number(summary, "throughput", "steps/s",
					      (double)fx->step_time_count / sum))
		return WT_E_NOMEM;
	return wti_summary_add_metric(summary, &metric);
}

/* What the recorder measured. */
static int add_json(struct wti_run_summary *summary, const struct wti_run *run)
{
	struct wti_doc *root = NULL;
	int r;

	if (run->is_folder && wti_runjson_read(run->path, &root, NULL) == WT_E_NOMEM)
		return WT_E_NOMEM;
	if (!root)
		return 0;
	r = wti_summary_add_number(summary, "peak_memory", "bytes",
				   (double)wti_doc_count(root, "memory_peak_bytes"));
	if (!r && wti_doc_count(root, "cpu_ns") >= 0)
		r = wti_summary_add_number(summary, "cpu_time", "s",
					   (double)wti_doc_count(root, "cpu_ns") / SECOND_NS);
	wti_doc_free(root);
	return r;
}

static int add_metrics(struct wti_run_summary *summary, const struct wti_run *run,
		       const struct wti_effects *fx)
{
	int r = 0;

	if (run->duration_ns >= 0)
		r = wti_summary_add_number(summary, "duration", "s",
					   (double)run->duration_ns / SECOND_NS);
	r = r ? r : wti_summary_add_number(summary, "events", "", (double)run->events);
	r = r ? r : wti_summary_add_number(summary, "lost", "", (double)run->lost);
	r = r ? r : add_json(summary, run);
	r = r ? r : wti_summary_add_number(summary, "steps", "", (double)fx->step_count);
	r = r ? r : add_steps(summary, fx);
	for (size_t i = 0; i < fx->value_count && !r; i++)
		r = add_value(summary, &fx->values[i]);
	return r;
}

/* ---- Findings and tests ---------------------------------------------------------------------- */

static int inspect(const struct wti_opened_run *opened, const char *name, const void *options,
		   struct wt_result *result, struct wt_err *err)
{
	int r = wt_inspect(wt_inspector_by_name(name), opened->trace, NULL, options, result, NULL,
			   NULL, err);

	return !r && wt_result_status(result) ? wti_err(err, WT_E_NOMEM, "out of memory") : r;
}

static int add_saved(struct wti_run_summary *summary, const struct wti_run *run,
		     const struct wti_transfers *transfers)
{
	size_t count = 0, left;
	int r = 0;

	for (size_t i = 0; i < transfers->count; i++)
		count += !transfers->items[i].is_load && transfers->items[i].digest;
	left = count > WTI_SUMMARY_SAVED_MAX ? count - WTI_SUMMARY_SAVED_MAX : 0;
	for (size_t i = 0; i < transfers->count && !r; i++) {
		const struct wti_file_transfer *it = &transfers->items[i];
		char *path;

		if (it->is_load || !it->digest || (left && left--))
			continue;
		path = wti_lineage_path(run, it->path);
		r = path ? wti_summary_add_saved(summary,
						 &(struct wti_run_saved){.path = path,
									 .step = it->step,
									 .tensors = it->count,
									 .digest = it->digest,
									 .anchor = it->anchor})
			 : WT_E_NOMEM;
		free(path);
	}
	return r;
}

/* As `doctor` finds them without a configuration: those of wheeltap.toml may change. */
static int add_findings(struct wti_run_summary *summary, const struct wti_seen_run *seen,
			struct wt_err *err)
{
	struct wti_transfers transfers;
	struct wti_check_options options = {.with_rules = true,
					    .some_calls = seen->opened.run.some_calls,
					    .transfers = &transfers};
	uint64_t counts[WT_ERROR + 1] = {0};
	struct wt_result doctor;
	int r;

	wti_transfers_init(&transfers);
	wt_result_init(&doctor, "doctor");
	r = inspect(&seen->opened, "doctor", &options, &doctor, err);
	r = r ? r : add_saved(summary, &seen->opened.run, &transfers);
	wti_transfers_release(&transfers);
	for (size_t i = 0; i < doctor.finding_count && !r; i++) {
		const struct wt_finding *it = &doctor.findings[i];

		counts[it->severity]++;
		r = wti_summary_add_finding(
			summary, &(struct wti_run_finding){
					 .code = it->code,
					 .title = it->title,
					 .file = it->file,
					 .severity = it->severity,
					 .line = it->line,
					 .step = it->first_step >= 0 ? it->first_step : it->step,
					 .count = it->count});
	}
	r = r ? r
	      : wti_summary_add_number(
			summary, "findings", "",
			(double)(counts[WT_NOTE] + counts[WT_WARNING] + counts[WT_ERROR]));
	for (int i = 0; i <= WT_ERROR && !r; i++) {
		char name[32];

		snprintf(name, sizeof(name), "findings.%s", wti_severity_word((enum wt_severity)i));
		r = wti_summary_add_number(summary, name, "", (double)counts[i]);
	}
	wt_result_release(&doctor);
	return r;
}

static int count_tests(struct wti_run_summary *summary)
{
	struct wti_tests_count count = wti_tests_count(&summary->tests);
	double rate = wti_tests_rate(&count);
	int r = 0;

	if (!summary->tests.count)
		return 0;
	for (uint32_t i = 0; i < WTI_TEST_STATUSES && !r; i++) {
		char name[32];

		snprintf(name, sizeof(name), "check.%s", wti_test_status_word(i));
		r = wti_summary_add_number(summary, name, "", (double)count.by_status[i]);
	}
	return r || isnan(rate) ? r : wti_summary_add_number(summary, "check.rate", "", rate);
}

/* Of the program itself; or what it printed, as tests of ctest, meson and prove do. */
int wti_summary_tests(const struct wti_opened_run *opened, struct wti_tests *tests,
		      struct wt_err *err)
{
	struct wti_tests_options options = {.tests = tests};
	struct wt_result nothing;
	char *path;
	int r;

	wt_result_init(&nothing, "tests");
	r = inspect(opened, "tests", &options, &nothing, err);
	wt_result_release(&nothing);
	if (!r && !tests->count && opened->run.is_folder) {
		if (asprintf(&path, "%s/" WTI_RUN_CONSOLE, opened->run.path) < 0)
			return wti_err(err, WT_E_NOMEM, "out of memory");
		r = wti_tap_console(path, tests);
		free(path);
	}
	return r;
}

static int add_tests(struct wti_run_summary *summary, const struct wti_seen_run *seen,
		     struct wt_err *err)
{
	int r = wti_summary_tests(&seen->opened, &summary->tests, err);

	return r ? r : count_tests(summary);
}

static int add_configuration(struct wti_run_summary *summary, const struct wti_seen_run *seen,
			     struct wt_err *err)
{
	struct wti_configuration_options options = {.configuration = &summary->configuration};
	struct wt_result nothing;
	int r;

	wt_result_init(&nothing, "configuration");
	r = inspect(&seen->opened, "configuration", &options, &nothing, err);
	wt_result_release(&nothing);
	return r;
}

int wti_summary_read(const struct wti_front *front, const struct wti_run *run,
		     struct wti_run_summary *ret_summary, struct wt_err *err)
{
	struct wti_run_summary summary;
	struct wti_seen_run seen;
	struct wt_result notes;
	struct wt_err unread = {.offset = -1};
	int r;

	wti_summary_init(&summary);
	wt_result_init(&notes, "summary");
	r = wti_seen_open(front, run->path, &seen, &notes, err);
	if (!r) {
		summary.is_damaged = !seen.is_whole;
		r = add_metrics(&summary, &seen.opened.run, &seen.effects);
		r = r ? r : add_findings(&summary, &seen, &unread);
		r = r ? r : add_tests(&summary, &seen, &unread);
		r = r ? r : add_configuration(&summary, &seen, &unread);
		if (r && r != WT_E_NOMEM) {
			summary.is_damaged = true;
			r = 0;
		}
		wti_seen_close(&seen);
		if (r)
			wti_err(err, r, "out of memory");
	}
	wt_result_release(&notes);
	if (r)
		wti_summary_release(&summary);
	else
		*ret_summary = summary;
	return r;
}
