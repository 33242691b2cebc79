/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reruns that differ in bits: does a number of the recorded run lie where that of one more such run
 * would? The interval is the one in which the next value lies with a probability of 95 %, if values
 * are normally distributed (Student's prediction interval). That of their mean would be narrower by
 * sqrt(n + 1), and most of the reruns themselves would lie outside of it.
 */
#ifndef WTI_RUNS_RERUN_METRIC_H
#define WTI_RUNS_RERUN_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "front.h"

#define WTI_RERUN_METRIC_MIN 5u /* reruns: with fewer the interval is too wide to mean anything */

struct wti_rerun_metric {
	double recorded;  /* in the run that was run again */
	double low, high; /* the interval */
	double mean;
	bool is_within;
};

/* The value of "loss" (its last), "loss.min" ... in a run that is over. */
int wti_rerun_value(const struct wti_front *front, const char *run, const char *name,
		    double *ret_value, struct wt_err *err);
/* `values`: of the reruns, at least two of them. What is not finite is never within. */
struct wti_rerun_metric wti_rerun_metric(double recorded, const double *values, size_t count);

#endif
