/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants learned from several runs, or from what was learned of them before. */
#ifndef WTI_RUNS_LEARN_H
#define WTI_RUNS_LEARN_H

#include <wheeltap/result.h>

#include "front.h"
#include "inspect/learn/pack.h"
#include "inspect/learn/tables.h"

/* Adds what the runs show to `tables`; `are_partial`: the words are files that wti_partial_write()
 * made. A thread a core. */
int wti_learn(const struct wti_front *front, const char *const *words, size_t count,
	      bool are_partial, struct wti_tables *tables, struct wt_result *result,
	      struct wt_err *err);
/* What is demanded of an invariant; 0 steps: as many as the runs allow, with a note if those are
 * few. */
int wti_learn_pack(struct wti_tables *tables, const struct wti_demand *demand,
		   struct wti_pack **ret_pack, struct wt_result *result, struct wt_err *err);

#endif
