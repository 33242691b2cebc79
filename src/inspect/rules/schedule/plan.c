/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the plans of schedulers from their states; which attributes those are is known here alone.
 */
#include <string.h>

#include "plan.h"

static void begin(struct wti_schedule_plan *plan, const struct wti_moment *moment)
{
	const struct wti_object *optimizer = wti_optimizer_of(moment->training, moment->object);

	plan->has_begun = true;
	plan->steps_before = optimizer ? optimizer->step_count : 0;
}

void wti_plan_note(struct wti_case *account, unsigned which, const struct wti_moment *moment)
{
	const char *attribute = wti_moment_text(moment, moment->attribute);
	struct wti_schedule_plan *plan;

	if (moment->type != WTI_MOMENT_STATE || !moment->object ||
	    moment->object->type != WT_OBJECT_TYPE_SCHEDULER)
		return;
	plan = wti_kept_of_object(account, which, moment->object);
	if (!plan)
		return;
	if (!plan->has_begun)
		begin(plan, moment);
	if (!strcmp(attribute, "last_epoch"))
		plan->done = moment->number;
	else if (!strcmp(attribute, "part_of"))
		plan->is_part = true;
	else if (!strcmp(attribute, "total_iters") || !strcmp(attribute, "total_steps") ||
		 !strcmp(attribute, "T_max"))
		plan->total = moment->number;
}
