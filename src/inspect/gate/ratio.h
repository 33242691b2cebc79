/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much longer one set of runs takes than another, and how sure that is: the interval of the
 * ratio by Mann and Whitney's test, which knows nothing of how times are distributed and is
 * exact for few runs. A run is one number, as steps of the same run are not independent.
 */
#ifndef WTI_GATE_RATIO_H
#define WTI_GATE_RATIO_H

#include <stdbool.h>
#include <stddef.h>

#define WTI_RATIO_RUNS_MAX 64

struct wti_ratio {
	double estimate; /* the median of all ratios between a run here and one there; 1: the same
			  */
	/* One-sided bounds: the ratio is above `low`, and below `high`, each with the confidence
	 * asked for. */
	double low, high;
};

/* All times are above 0. False: too few runs for this confidence, whatever they say. */
bool wti_ratio(const double *now, size_t now_count, const double *before, size_t before_count,
	       double confidence, struct wti_ratio *ret_ratio);
/* How many runs on each side are needed for this confidence at least. */
size_t wti_ratio_runs_needed(double confidence);

#endif
