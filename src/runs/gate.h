/* SPDX-License-Identifier: Apache-2.0 */
/* What a gate needs of a run: measured, and held against goldens. */
#ifndef WTI_RUNS_GATE_H
#define WTI_RUNS_GATE_H

#include "seen.h"
#include "inspect/gate/gate.h"

/* A run with all that the assertions need of it. */
struct wti_measured {
	struct wti_seen_run seen;
	struct wti_counts counts;
	struct wti_counter *counters; /* as of the gate, in the same order */
	struct wt_result doctor, syscalls, profile, path;
	char broken[256], failed[320];
	struct wt_err unfit;     /* code 0: it is fit */
	struct wti_gate_run run; /* points into the others */
};

int wti_gate_measure(const struct wti_front *front, const char *word, const struct wti_gate *gate,
		     struct wti_measured *ret_measured, struct wt_result *result,
		     struct wt_err *err);
void wti_measured_release(struct wti_measured *measured);
/* The assertion, with the counter of this run. */
struct wti_assertion wti_measured_assertion(const struct wti_measured *measured,
					    const struct wti_gate *gate, size_t i);
int wti_gate_golden(const struct wti_front *front, const struct wti_assertion *assertion,
		    const struct wti_measured *measured, struct wti_outcome *ret_outcome,
		    struct wt_err *err);

#endif
