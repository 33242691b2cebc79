/* SPDX-License-Identifier: Apache-2.0 */
/* Between golden_learn.c and golden_vary.c, which knows names that are other ones in every run. */
#ifndef WTI_EFFECTS_GOLDEN_VARY_H
#define WTI_EFFECTS_GOLDEN_VARY_H

#include "golden.h"

/* Things of `golden` that only one run each has, and that are alike, get one name in all runs. */
int wti_golden_unify(const struct wti_golden *golden, struct wti_effects *runs, size_t count,
		     bool *ret_any);

#endif
