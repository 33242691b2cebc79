/* SPDX-License-Identifier: Apache-2.0 */
/* Where the value of one more run is expected: see rerun_metric.h. */
#include "rerun_metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "inspect/digits/quantile.h"
#include "summary.h"

#define CONFIDENCE 0.95

/* "loss.min" is the smallest of loss, unless there is a metric of that very name. */
static const struct wti_run_metric *find(const struct wti_run_summary *summary, const char *name,
					 enum wti_statistic *ret_statistic)
{
	const struct wti_run_metric *metric = wti_summary_metric(summary, name);
	const char *dot = strrchr(name, '.');
	int statistic = dot ? wti_statistic_number(dot + 1, strlen(dot + 1)) : -1;
	char stem[256];

	*ret_statistic = WTI_STAT_LAST;
	if (metric || statistic < 0)
		return metric;
	*ret_statistic = (enum wti_statistic)statistic;
	snprintf(stem, sizeof(stem), "%.*s", (int)(dot - name), name);
	return wti_summary_metric(summary, stem);
}

int wti_rerun_value(const struct wti_front *front, const char *run, const char *name,
		    double *ret_value, struct wt_err *err)
{
	const struct wti_run_metric *metric;
	struct wti_run_summary summary;
	enum wti_statistic statistic;
	struct wti_run found;
	int r = wti_run_find(front, run, &found, err);

	if (r)
		return r;
	r = wti_summary_read(front, &found, &summary, err);
	if (!r) {
		metric = find(&summary, name, &statistic);
		if (metric)
			*ret_value = metric->values[statistic];
		else
			r = wti_err(err, WT_E_MISSING,
				    "'%s' has no metric '%s': `wheeltap trend` lists the metrics "
				    "of runs",
				    found.name, name);
		wti_summary_release(&summary);
	}
	wti_run_release(&found);
	return r;
}

struct wti_rerun_metric wti_rerun_metric(double recorded, const double *values, size_t count)
{
	struct wti_rerun_metric metric = {.recorded = recorded};
	double n = (double)count, squares = 0, reach;

	for (size_t i = 0; i < count; i++)
		metric.mean += values[i] / n;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - metric.mean) * (values[i] - metric.mean);
	reach = wti_student_quantile(CONFIDENCE, (unsigned)count - 1) *
		sqrt(squares / (n - 1) * (1 + 1 / n));
	metric.low = metric.mean - reach;
	metric.high = metric.mean + reach;
	metric.is_within = recorded >= metric.low && recorded <= metric.high;
	return metric;
}
