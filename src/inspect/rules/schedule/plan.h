/* SPDX-License-Identifier: Apache-2.0 */
/* What a scheduler says of its own length, and how far it has come, in steps of its own. */
#ifndef WTI_INSPECT_PLAN_H
#define WTI_INSPECT_PLAN_H

#include "inspect/training/slots.h"

struct wti_schedule_plan {
	double total; /* 0: not known */
	double done;
	bool is_part; /* of another scheduler */
	/* Of its optimizer, when the scheduler became known. */
	uint64_t steps_before;
	bool has_begun;
};

/* Takes a state of a scheduler; ignores every other one. `plans`: of schedulers. */
void wti_plan_note(struct wti_slots *plans, const struct wti_moment *moment);
/* NULL: nothing is known of it. */
struct wti_schedule_plan *wti_plan_of(struct wti_slots *plans, const struct wti_object *scheduler);

#endif
