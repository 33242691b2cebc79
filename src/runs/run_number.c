/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of runs by name: columns of a run, statistics of a metric, pass rates of a test. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "run_filter.h"

/* Nobody needs to read a trace for these. */
static const struct column {
	const char *name, *unit;
	size_t offset;
	double divisor;
} columns[] = {
	{"duration", "s", offsetof(struct wti_catalogue_run, duration_ns), 1e9},
	{"started", "s", offsetof(struct wti_catalogue_run, start_ns), 1e9},
	{"events", "", offsetof(struct wti_catalogue_run, events), 1},
	{"lost", "", offsetof(struct wti_catalogue_run, lost), 1},
	{"size", "bytes", offsetof(struct wti_catalogue_run, stream_bytes), 1},
	{"disk", "bytes", offsetof(struct wti_catalogue_run, disk_bytes), 1},
	{"exit", "", offsetof(struct wti_catalogue_run, exit_status), 1},
};
#define COLUMNS (sizeof(columns) / sizeof(*columns))

void wti_run_number_release(struct wti_run_number *number)
{
	free(number->values);
	free(number->has);
	*number = (struct wti_run_number){.values = NULL};
}

static int make_number(size_t count, const char *title, struct wti_run_number *ret_number,
		       struct wt_err *err)
{
	struct wti_run_number number = {.values = calloc(count + 1, sizeof(double)),
					.has = calloc(count + 1, sizeof(bool))};

	if (!number.values || !number.has) {
		wti_run_number_release(&number);
		return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	snprintf(number.title, sizeof(number.title), "%.250s", title);
	*ret_number = number;
	return 0;
}

static int column_number(const struct wti_catalogue *c, const struct column *column,
			 struct wti_run_number *ret_number, struct wt_err *err)
{
	const struct wti_catalogue_run *runs;
	size_t count;
	int r;

	runs = wti_catalogue_runs(c, &count);
	r = make_number(count, column->name, ret_number, err);
	for (size_t i = 0; i < count && !r; i++) {
		int64_t number;

		memcpy(&number, (const char *)&runs[i] + column->offset, sizeof(number));
		ret_number->has[i] = number >= 0;
		ret_number->values[i] = number >= 0 ? (double)number / column->divisor : NAN;
	}
	if (!r)
		snprintf(ret_number->unit, sizeof(ret_number->unit), "%s", column->unit);
	return r;
}

/* The pass rate of a test in each run. */
struct rates {
	const struct wti_catalogue_run *runs;
	struct wti_run_number *number;
	uint64_t *judged;
	size_t found;
};

static int take_test(void *opaque, const struct wti_catalogue_test *row)
{
	struct rates *rates = opaque;
	size_t i = (size_t)(row->run - rates->runs);

	rates->found++;
	if (row->test.status > WT_CHECK_STATUS_ERROR)
		return 0;
	rates->number->has[i] = true;
	rates->number->values[i] += row->test.status == WT_CHECK_STATUS_PASSED;
	rates->judged[i]++;
	return 0;
}

static int test_number(struct wti_catalogue *c, const char *name, struct wti_run_number *ret_number,
		       struct wt_err *err)
{
	struct rates rates = {.number = ret_number};
	size_t count;
	int r;

	rates.runs = wti_catalogue_runs(c, &count);
	r = make_number(count, name, ret_number, err);
	if (r)
		return r;
	rates.judged = calloc(count + 1, sizeof(*rates.judged));
	r = rates.judged ? wti_catalogue_tests(c, name + strlen("check:"), take_test, &rates, err)
			 : wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < count && !r; i++)
		ret_number->values[i] =
			rates.judged[i] ? ret_number->values[i] / (double)rates.judged[i] : NAN;
	if (!r && !rates.found)
		r = wti_err(
			err, WT_E_ARG,
			"no run has a test '%.200s'; 'wheeltap tests' lists those of the latest "
			"run",
			name + strlen("check:"));
	free(rates.judged);
	if (r)
		wti_run_number_release(ret_number);
	return r;
}

/* ---- Settings -------------------------------------------------------------------------------- */

/* "lr" is that of "TrainConfig.lr", too, if no other setting ends so. */
static bool ends_with_key(const char *name, const char *key)
{
	size_t name_bytes = strlen(name), key_bytes = strlen(key);

	return name_bytes > key_bytes && !strcmp(name + name_bytes - key_bytes, key) &&
	       name[name_bytes - key_bytes - 1] == '.';
}

static int unknown_setting(const char *key, const struct wti_map *names, struct wt_err *err)
{
	const char **known = calloc(names->count + 1, sizeof(*known)), *near;

	if (!known)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < names->count; i++)
		known[i] = names->entries[i].text;
	near = wti_suggest(key, known, names->count);
	if (near)
		wti_err(err, WT_E_ARG,
			"no run has a setting '%.200s'; did you mean 'config.%.200s'?", key, near);
	else
		wti_err(err, WT_E_ARG,
			"no run has a setting '%.200s'; 'wheeltap report' shows those of a run",
			key);
	free(known);
	return WT_E_ARG;
}

int wti_setting_find(struct wti_catalogue *c, const char *name, char ret_key[WTI_FILTER_NAME_BYTES],
		     struct wt_err *err)
{
	const char *key = name + strlen(WTI_FILTER_CONFIG), *found = NULL;
	struct wti_map names;
	size_t count = 0;
	int r = wti_catalogue_setting_names(c, &names, err);

	if (!r && wti_map_find_text(&names, key, strlen(key))) {
		found = key;
		count = 1;
	}
	for (size_t i = 0; i < names.count && !r && found != key; i++) {
		if (!ends_with_key(names.entries[i].text, key))
			continue;
		if (count++)
			r = wti_err(err, WT_E_ARG,
				    "'%.100s' may be 'config.%.100s' or 'config.%.100s'; write it "
				    "in full",
				    name, found, names.entries[i].text);
		found = names.entries[i].text;
	}
	if (!r && !count)
		r = unknown_setting(key, &names, err);
	if (!r)
		snprintf(ret_key, WTI_FILTER_NAME_BYTES, "%.250s", found);
	wti_map_release(&names);
	return r;
}

static int take_setting(void *opaque, size_t place, const char *value)
{
	struct wti_run_number *number = opaque;

	number->has[place] = wti_configured_number(value, &number->values[place]);
	return 0;
}

static int setting_number(struct wti_catalogue *c, const char *name,
			  struct wti_run_number *ret_number, struct wt_err *err)
{
	char key[WTI_FILTER_NAME_BYTES];
	size_t count;
	int r = wti_setting_find(c, name, key, err);

	wti_catalogue_runs(c, &count);
	r = r ? r : make_number(count, name, ret_number, err);
	if (r)
		return r;
	for (size_t i = 0; i < count; i++)
		ret_number->values[i] = NAN;
	r = wti_catalogue_settings(c, key, take_setting, ret_number, err);
	if (r)
		wti_run_number_release(ret_number);
	return r;
}

/* ---- Metrics --------------------------------------------------------------------------------- */

/* All that can be asked for, for whoever has mistyped it. */
static int unknown_name(const char *name, const struct wti_map *metrics, struct wt_err *err)
{
	const char **known =
			   calloc(WTI_FILTER_FIELDS_MAX + COLUMNS + metrics->count, sizeof(*known)),
		   *near;
	const char *dot = strrchr(name, '.');
	char stem[WTI_FILTER_NAME_BYTES];
	size_t count, own;

	if (!known)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	count = wti_filter_fields(known);
	for (size_t i = 0; i < COLUMNS; i++)
		known[count++] = columns[i].name;
	own = count;
	for (size_t i = 0; i < metrics->count; i++)
		known[count++] = metrics->entries[i].text;
	if (dot && wti_statistic_number(dot + 1, strlen(dot + 1)) >= 0) { /* "los.last" */
		snprintf(stem, sizeof(stem), "%.*s", (int)(dot - name), name);
		near = wti_suggest(stem, known + own, metrics->count);
	} else {
		near = wti_suggest(name, known, count);
		dot = NULL;
	}
	if (near)
		wti_err(err, WT_E_ARG, "no run has a metric '%.200s'; did you mean '%.200s%s'?",
			name, near, dot ? dot : "");
	else
		wti_err(err, WT_E_ARG,
			"no run has a metric '%.200s'; 'wheeltap trend' lists the metrics, "
			"'wheeltap ls --help' the rest",
			name);
	free(known);
	return WT_E_ARG;
}

/* "loss.min" is the smallest of loss, unless there is a metric of that very name. */
static bool split_name(const char *name, const struct wti_map *metrics,
		       char ret_metric[WTI_FILTER_NAME_BYTES], enum wti_statistic *ret_statistic)
{
	const char *dot = strrchr(name, '.');
	int statistic = dot ? wti_statistic_number(dot + 1, strlen(dot + 1)) : -1;

	*ret_statistic = WTI_STAT_LAST;
	snprintf(ret_metric, WTI_FILTER_NAME_BYTES, "%s", name);
	if (wti_map_find_text(metrics, name, strlen(name)))
		return true;
	if (statistic < 0)
		return false;
	ret_metric[dot - name] = 0;
	*ret_statistic = (enum wti_statistic)statistic;
	return wti_map_find_text(metrics, ret_metric, strlen(ret_metric));
}

static const char *unit_of(const char *metric, enum wti_statistic statistic)
{
	static const struct {
		const char *metric, *unit;
	} known[] = {
		{"step_time", "s"}, {"cpu_time", "s"}, {"duration", "s"}, {"peak_memory", "bytes"}};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].metric, metric) && statistic != WTI_STAT_COUNT)
			return known[i].unit;
	return "";
}

static int metric_number(struct wti_catalogue *c, const char *name,
			 struct wti_run_number *ret_number, struct wt_err *err)
{
	char metric[WTI_FILTER_NAME_BYTES];
	enum wti_statistic statistic;
	struct wti_map names;
	size_t count;
	int r = wti_catalogue_metric_names(c, &names, err);

	wti_catalogue_runs(c, &count);
	if (!r && !split_name(name, &names, metric, &statistic))
		r = unknown_name(name, &names, err);
	wti_map_release(&names);
	r = r ? r : make_number(count, name, ret_number, err);
	if (r)
		return r;
	snprintf(ret_number->unit, sizeof(ret_number->unit), "%s", unit_of(metric, statistic));
	r = wti_catalogue_metric(c, metric, statistic, ret_number->values, ret_number->has, err);
	if (r)
		wti_run_number_release(ret_number);
	return r;
}

int wti_run_number(const struct wti_front *front, struct wti_catalogue *c, const char *name,
		   const bool *wanted, struct wti_run_number *ret_number, struct wt_err *err)
{
	int r;

	if (strlen(name) >= WTI_FILTER_NAME_BYTES)
		return wti_err(err, WT_E_ARG, "the name '%.60s...' is too long", name);
	for (size_t i = 0; i < COLUMNS; i++)
		if (!strcmp(columns[i].name, name))
			return column_number(c, &columns[i], ret_number, err);
	r = wti_catalogue_summarise(front, c, wanted, err);
	if (r)
		return r;
	if (!strncmp(name, WTI_FILTER_CONFIG, strlen(WTI_FILTER_CONFIG)))
		return setting_number(c, name, ret_number, err);
	return strncmp(name, "check:", strlen("check:")) ? metric_number(c, name, ret_number, err)
							 : test_number(c, name, ret_number, err);
}
