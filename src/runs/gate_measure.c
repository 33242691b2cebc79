/* SPDX-License-Identifier: Apache-2.0 */
/* Knows where what assertions are about comes from: inspectors, run.json, goldens. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "gate.h"
#include "golden_store.h"
#include "inspect/check/check.h"
#include "inspect/gate/evaluate.h"
#include "inspect/time/stat.h"
#include "inspect/time/syscalls.h"
#include "runjson.h"
#include "thresholds.h"

/* ---- run.json -------------------------------------------------------------------------------- */

static int read_memory(const struct wti_run *run, struct wti_gate_run *ret, struct wt_err *err)
{
	struct wti_doc *root = NULL;
	int r = run->is_folder ? wti_runjson_read(run->path, &root, err) : 0;

	if (r)
		return r;
	ret->peak_rss_bytes = wti_doc_count(root, "memory_peak_bytes");
	ret->rss_floor_bytes = wti_doc_count(root, "memory_floor_bytes");
	ret->faults = wti_doc_count(root, "faults");
	ret->major_faults = wti_doc_count(root, "major_faults");
	wti_doc_free(root);
	/* Every process has some: without, the end of the program was not seen. */
	if (!ret->faults)
		ret->faults = ret->major_faults = -1;
	return 0;
}

/* ---- Inspectors ------------------------------------------------------------------------------ */

static int inspect(const struct wti_measured *m, const char *name, const void *options,
		   struct wt_result *ret, struct wt_err *err)
{
	int r;

	wt_result_init(ret, name);
	r = wt_inspect(wt_inspector_by_name(name), m->seen.opened.trace, NULL, options, ret, NULL,
		       NULL, err);
	if (!r && wt_result_status(ret))
		r = wti_err(err, WT_E_NOMEM, "out of memory");
	return r;
}

static int count_calls(struct wti_measured *m, const struct wti_gate *gate, struct wt_err *err)
{
	struct wti_counts_options options = {.counts = &m->counts};
	struct wt_result nothing;
	int r;

	m->counters = calloc(gate->counter_count + 1, sizeof(*m->counters));
	if (!m->counters)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	if (gate->counter_count)
		memcpy(m->counters, gate->counters, gate->counter_count * sizeof(*m->counters));
	m->counts.counters = m->counters;
	m->counts.counter_count = gate->counter_count;
	r = inspect(m, "counts", &options, &nothing, err);
	wt_result_release(&nothing);
	return r;
}

/* By the thresholds of wheeltap.toml, as `doctor` itself would judge. */
static int ask_doctor(const struct wti_front *front, struct wti_measured *m, struct wt_err *err)
{
	struct wti_check_options options = {.with_rules = true,
					    .some_calls = m->seen.opened.run.some_calls};
	struct wti_setting *settings = NULL;
	int r = front->config
			? wti_thresholds_read(front->config, &settings, &options.setting_count, err)
			: 0;

	if (r)
		return r;
	options.settings = settings;
	r = inspect(m, "doctor", &options, &m->doctor, err);
	m->run.doctor = &m->doctor;
	free(settings);
	return r;
}

static int ask_others(const struct wti_front *front, struct wti_measured *m, unsigned needs,
		      struct wt_err *err)
{
	struct wti_syscalls_view view = {.percentiles = true};
	struct wti_stat_options stat = {.limit = 0};
	int r = 0;

	if (needs & WTI_NEEDS_DOCTOR)
		r = ask_doctor(front, m, err);
	if (!r && needs & WTI_NEEDS_SYSCALLS) {
		r = inspect(m, "syscalls", &view, &m->syscalls, err);
		m->run.syscalls = &m->syscalls;
	}
	if (!r && needs & WTI_NEEDS_PROFILE) {
		r = inspect(m, "stat", &stat, &m->profile, err);
		m->run.profile = &m->profile;
	}
	if (!r && needs & WTI_NEEDS_PATH) {
		r = inspect(m, "path", NULL, &m->path, err);
		m->run.path = &m->path;
	}
	return r;
}

/* A run that ended early did less than it would have: no budget is kept by that. */
static bool is_broken(struct wti_measured *m)
{
	static const char *const early[] = {"running", "abandoned", "killed", "interrupted"};
	const struct wti_run *run = &m->seen.opened.run;
	const char *what = NULL;

	for (size_t i = 0; i < sizeof(early) / sizeof(*early); i++)
		if (!strcmp(run->status, early[i]))
			what = early[i];
	if (what)
		snprintf(m->broken, sizeof(m->broken), "'%.100s' did not complete: %s", run->name,
			 what);
	else if (m->seen.effects.lost_count)
		snprintf(m->broken, sizeof(m->broken), "'%.100s' lost %llu events: record it again",
			 run->name, (unsigned long long)m->seen.effects.lost_count);
	else if (!m->seen.is_whole)
		snprintf(m->broken, sizeof(m->broken), "'%.100s' is damaged: record it again",
			 run->name);
	return *m->broken;
}

/* Some programs end with an error by design, a linter for one: the gate file can say so. */
static bool has_failed(struct wti_measured *m)
{
	if (strcmp(m->seen.opened.run.status, "failed") != 0)
		return false;
	snprintf(m->failed, sizeof(m->failed),
		 "'%.100s' did not complete: its program ended with an error; if that is intended, "
		 "set may_fail = true",
		 m->seen.opened.run.name);
	return true;
}

static void connect_parts(struct wti_measured *m)
{
	m->run.broken = is_broken(m) ? m->broken : NULL;
	m->run.failed = has_failed(m) ? m->failed : NULL;
	m->run.effects = &m->seen.effects;
	m->run.counts = &m->counts;
	m->run.recorded = m->seen.recorded;
	m->run.duration_ns = m->seen.opened.run.duration_ns;
	if (wti_seen_fit(&m->seen, &m->unfit))
		m->run.unfit = m->unfit.message;
}

int wti_gate_measure(const struct wti_front *front, const char *word, const struct wti_gate *gate,
		     struct wti_measured *ret_measured, struct wt_result *result,
		     struct wt_err *err)
{
	struct wti_measured *m = ret_measured; /* it must not move: parts point to one another */
	unsigned needs = 0;
	int r;

	*m = (struct wti_measured){.counters = NULL};
	r = wti_seen_open(front, word, &m->seen, result, err);
	if (r)
		return r;
	for (size_t i = 0; i < gate->count; i++)
		needs |= wti_gate_needs(&gate->assertions[i]);
	connect_parts(m);
	r = read_memory(&m->seen.opened.run, &m->run, err);
	if (!strcmp(m->seen.opened.run.status, "failed"))
		wt_result_note(result, "the program of '%s' ended with an error",
			       m->seen.opened.run.name);
	r = r ? r : count_calls(m, gate, err);
	r = r ? r : ask_others(front, m, needs, err);
	if (r)
		wti_measured_release(m);
	return r;
}

void wti_measured_release(struct wti_measured *m)
{
	struct wt_result *results[] = {&m->doctor, &m->syscalls, &m->profile, &m->path};

	for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++)
		if (results[i]->verb)
			wt_result_release(results[i]);
	free(m->counters);
	wti_map_release(&m->counts.programs);
	wti_seen_close(&m->seen);
}

struct wti_assertion wti_measured_assertion(const struct wti_measured *m,
					    const struct wti_gate *gate, size_t i)
{
	struct wti_assertion assertion = gate->assertions[i];

	if (assertion.counter)
		assertion.counter = &m->counters[assertion.counter - gate->counters];
	return assertion;
}

/* ---- Goldens --------------------------------------------------------------------------------- */

static void report(const struct wt_result *found, struct wti_outcome *outcome)
{
	size_t errors = 0;
	const char *first = NULL;

	for (size_t i = 0; i < found->finding_count; i++) {
		if (found->findings[i].severity != WT_ERROR)
			continue;
		first = errors++ ? first : found->findings[i].title;
	}
	outcome->verdict = errors ? WTI_VIOLATED : WTI_HELD;
	snprintf(outcome->actual, sizeof(outcome->actual), "%zu error%s, %zu others%s%.300s",
		 errors, errors == 1 ? "" : "s", found->finding_count - errors, first ? ": " : "",
		 first ? first : "");
}

static int check(const struct wti_front *front, const char *path, const struct wti_golden *golden,
		 const struct wti_measured *m, struct wti_outcome *outcome, struct wt_err *err)
{
	struct wti_seen_run seen;
	struct wt_result found;
	int r;

	if (*golden->arch && strcmp(golden->arch, m->seen.effects.arch) != 0) {
		wti_not_evaluated(outcome, "'%.200s' was made on %s", path, golden->arch);
		return 0;
	}
	if (strcmp(golden->recorded, m->seen.recorded) != 0) {
		wti_not_evaluated(outcome, "'%.200s' is of runs recorded with --syscalls=%.100s",
				  path, golden->recorded);
		return 0;
	}
	wt_result_init(&found, "golden");
	/* Read once more: the comparison gives things of the run the names that the golden has. */
	r = wti_seen_open(front, m->seen.opened.run.path, &seen, &found, err);
	if (!r) {
		r = wti_golden_adapt(golden, &seen.effects, err);
		r = r ? r : wti_golden_check(golden, &seen.effects, NULL, &found, NULL, err);
		wti_seen_close(&seen);
	}
	if (!r)
		report(&found, outcome);
	if (!r)
		wti_doubt(&m->run, WTI_ABOUT_ALL, outcome->verdict == WTI_HELD, outcome);
	wt_result_release(&found);
	return r;
}

int wti_gate_golden(const struct wti_front *front, const struct wti_assertion *a,
		    const struct wti_measured *m, struct wti_outcome *ret_outcome,
		    struct wt_err *err)
{
	struct wt_err unread = {.offset = -1};
	struct wti_golden golden;
	char *path;
	int r;

	*ret_outcome = (struct wti_outcome){.verdict = WTI_DISABLED};
	if (!a->is_enabled)
		return 0;
	snprintf(ret_outcome->expected, sizeof(ret_outcome->expected), "as golden '%.200s'",
		 a->golden);
	if (m->run.broken || m->run.unfit) {
		wti_not_evaluated(ret_outcome, "%s", m->run.broken ? m->run.broken : m->run.unfit);
		return 0;
	}
	r = strchr(a->golden, '/')
		    ? asprintf(&path, "%s", a->golden)
		    : asprintf(&path, "%s/%s.toml", a->folder ? a->folder : "goldens", a->golden);
	if (r < 0)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	r = wti_golden_load(path, &golden, &unread);
	if (r) {
		wti_not_evaluated(ret_outcome, "%s", unread.message);
		r = 0;
	} else {
		r = check(front, path, &golden, m, ret_outcome, err);
		wti_doubt_failed(a, &m->run, ret_outcome);
		wti_golden_release(&golden);
	}
	free(path);
	return r;
}
