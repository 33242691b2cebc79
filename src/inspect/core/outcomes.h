/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what was judged, rules or invariants: held, violated or not measured. */
#ifndef WTI_INSPECT_OUTCOMES_H
#define WTI_INSPECT_OUTCOMES_H

#include <wheeltap/inspect.h>

struct wti_outcomes {
	uint64_t violated, held, unmeasured;
};

struct wti_outcome_titles {
	const char *table, *title; /* "rules", "Rules" */
	const char *id, *id_title; /* of the first column */
	const char *what;          /* the title column */
	const char *why;
};

struct wt_table *wti_outcome_table(struct wt_result *result,
				   const struct wti_outcome_titles *titles);
/* One more of them. */
void wti_outcome_count(struct wti_outcomes *outcomes, bool is_measured, bool is_violated);
/* rules_violated, rules_held, rules_not_measured, for "rules". */
void wti_outcome_facts(struct wt_result *result, const struct wti_outcomes *outcomes,
		       const char *table);

#endif
