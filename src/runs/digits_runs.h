/* SPDX-License-Identifier: Apache-2.0 */
/* The runs that digits are measured in: those of sets, and runs by name. */
#ifndef WTI_RUNS_DIGITS_RUNS_H
#define WTI_RUNS_DIGITS_RUNS_H

#include "inspect/digits/digits.h"
#include "open.h"

struct wti_digits_runs {
	struct wti_opened_run *opened;
	struct wti_digits_run *runs; /* the same, as the inspector takes them */
	unsigned count;
	unsigned readable;
	unsigned noisy;    /* recorded under noise */
	char noise[32];    /* of the first that was: "rr:24" */
	double noise_bits; /* 0: not given */
	bool is_cut;       /* some ended early or are damaged */
};

/* Runs that cannot be opened are noted, and are there without a trace. An error: none can be. */
int wti_digits_runs_open(const struct wti_front *front, char *const *words, size_t word_count,
			 struct wti_digits_runs *ret_runs, struct wt_result *result,
			 struct wt_err *err);
void wti_digits_runs_close(struct wti_digits_runs *runs);

#endif
