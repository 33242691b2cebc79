/* SPDX-License-Identifier: Apache-2.0 */
/* `digits --bisect`: the recorded program again, with noise at some lines only. */
#ifndef WTI_CLI_DIGITS_BISECT_H
#define WTI_CLI_DIGITS_BISECT_H

#include "inspect/digits/digits.h"
#include "runs/front.h"

struct wti_bisection {
	const struct wti_front *front;
	const char *word; /* of the set */
	const struct wti_digits_options *how;
	const char *value; /* whose digits are watched; NULL or "yes": the worst result */
	bool is_allowed;   /* --yes */
};

/*
 * Fills the table `bisect` of the result with the lines whose inputs lose the digits if they are
 * perturbed alone. Without leave it only notes the command that it would run: then 1 is returned.
 */
int wti_digits_bisect(const struct wti_bisection *bisection, struct wt_result *result,
		      struct wt_err *err);

#endif
