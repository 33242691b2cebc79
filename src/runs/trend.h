/* SPDX-License-Identifier: Apache-2.0 */
/* A number over runs in the order of time: each against the median of those before it. */
#ifndef WTI_RUNS_TREND_H
#define WTI_RUNS_TREND_H

#include "run_filter.h"

struct wti_trend_options {
	const char *metric; /* as wti_run_number() takes it; NULL: which ones there are */
	char **filters;
	size_t filter_count;
	bool by_commit; /* a row a commit: the median of its runs */
	uint64_t limit; /* rows, the last ones; 0: all */
};

/*
 * Facts, a series `values` of all runs, and a table `trend`; or a table `metrics` if none is asked
 * for. Runs that were removed are in it, as far as their summaries are kept.
 */
int wti_trend(const struct wti_front *front, const struct wti_trend_options *options,
	      struct wt_result *result, struct wt_err *err);

/* The change from a median to a value: as text, and as a number of per cent. Two cells. */
void wti_trend_put_change(struct wt_table *table, double value, double median);
/* Sorts them; NAN of none. */
double wti_trend_median(double *values, size_t count);

#endif
