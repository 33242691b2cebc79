/* SPDX-License-Identifier: Apache-2.0 */
/* What a scheduler says of its own length, and how far it has come, in steps of its own. */
#ifndef WTI_INSPECT_PLAN_H
#define WTI_INSPECT_PLAN_H

#include "inspect/judge/rule.h"

/* Kept per object, by rules that go by it. */
struct wti_schedule_plan {
	double total; /* 0: not known */
	double done;
	bool is_part; /* of another scheduler */
	/* Of its optimizer, when the scheduler became known. */
	uint64_t steps_before;
	bool has_begun;
};

/* Takes a state of a scheduler into what is kept of it, `which` of the rule's; ignores every other
 * moment. */
void wti_plan_note(struct wti_case *account, unsigned which, const struct wti_moment *moment);

#endif
