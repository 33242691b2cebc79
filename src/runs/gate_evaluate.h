/* SPDX-License-Identifier: Apache-2.0 */
/* All assertions of a gate, evaluated on runs, and what came out as a result. */
#ifndef WTI_RUNS_GATE_EVALUATE_H
#define WTI_RUNS_GATE_EVALUATE_H

#include "gate.h"
#include "inspect/gate/ratio.h"
#include "show/junit.h"

#define WTI_GATE_RUNS_MAX WTI_RATIO_RUNS_MAX

struct wti_gate_runs {
	struct wti_measured *items; /* they do not move */
	size_t count;
};

struct wti_gate_question {
	const struct wti_gate *gate;
	const struct wti_gate_runs *now;    /* one or more */
	const struct wti_gate_runs *before; /* to compare with; may be empty */
};

/* Measures what the gate needs of the run that `word` names (run.h). */
int wti_gate_add_run(const struct wti_front *front, const struct wti_gate *gate, const char *word,
		     struct wti_gate_runs *runs, struct wt_result *result, struct wt_err *err);
void wti_gate_runs_release(struct wti_gate_runs *runs);

/* To be freed; points into the question. Whether one fails is for the caller to say. */
int wti_gate_evaluate(const struct wti_front *front, const struct wti_gate_question *question,
		      struct wti_judged **ret_judged, size_t *ret_count, struct wt_err *err);
/* Findings, a table of all, and the status. `ret_counts`: how many of each enum wti_verdict. */
void wti_gate_result(const struct wti_judged *judged, size_t count, size_t ret_counts[4],
		     struct wt_result *result);

#endif
