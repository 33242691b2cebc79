/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goes back from what was asked for: an operation is needed if it writes what a later one reads. A
 * content that was recorded in between spares all that led to it, so a window late in a run needs
 * nothing of its beginning.
 */
#include "select.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"

static bool matches(const struct wti_replay_plan *plan, const struct wti_replay_plan_op *op,
		    uint32_t index, const struct wti_replay_options *o)
{
	const char *queue = op->queue == WTI_PLAN_NONE ? "" : plan->objects[op->queue].name;

	if (o->by_time && (op->start_ns < o->from_ns || op->start_ns >= o->to_ns))
		return false;
	if (!o->by_time && (index < o->from || index > o->to))
		return false;
	if (o->queue && wti_replay_plan_is_command(op) && !wti_glob(o->queue, queue, strlen(queue)))
		return false;
	return !o->kernel ||
	       (op->call == WTI_CALL_KERNEL && wti_glob(o->kernel, op->name, strlen(op->name)));
}

/* What was recorded of an object when the host had waited. */
static bool restores(const struct wti_replay_plan *plan, const struct wti_replay_plan_op *op,
		     const struct wti_replay_plan_access *access)
{
	return op->call == WTI_CALL_SYNC && wti_replay_plan_reads(plan, access) && access->hash &&
	       !access->offset && access->bytes == plan->objects[access->object].bytes;
}

/* True: it is needed for the content of an object that is wanted. */
static bool is_needed(const struct wti_replay_plan *plan, const struct wti_replay_plan_op *op,
		      bool *is_wanted, struct wti_replay_selection *selection)
{
	bool is = false;

	for (uint32_t i = 0; i < op->access_count; i++) {
		const struct wti_replay_plan_access *access = &plan->accesses[op->access_first + i];

		if (access->object == WTI_PLAN_NONE || !is_wanted[access->object])
			continue;
		if (restores(plan, op, access)) {
			is_wanted[access->object] = false;
			selection->restored_count++;
			is = true;
		} else {
			is |= wti_replay_plan_writes(plan, access);
		}
	}
	return is;
}

/* Memory that is written in part keeps the rest, so it is read, too. */
static void want(const struct wti_replay_plan *plan, const struct wti_replay_plan_op *op,
		 bool *is_wanted)
{
	for (uint32_t i = 0; i < op->access_count; i++) {
		const struct wti_replay_plan_access *access = &plan->accesses[op->access_first + i];
		bool is_memory =
			wti_replay_plan_reads(plan, access) || wti_replay_plan_writes(plan, access);

		if (is_memory && op->call != WTI_CALL_SYNC)
			is_wanted[access->object] = true;
	}
}

static void go_back(const struct wti_replay_plan *plan, struct wti_replay_selection *selection,
		    bool *is_wanted)
{
	for (size_t i = plan->serial_count; i-- > 0;) {
		uint32_t index = plan->serial[i];
		const struct wti_replay_plan_op *op = &plan->ops[index];
		bool is_asked = selection->is_asked[index];
		bool needed = !is_asked && is_needed(plan, op, is_wanted, selection);

		selection->is_selected[index] = is_asked || needed;
		if (wti_replay_plan_is_command(op)) {
			selection->needed_count += needed;
			selection->avoided_count += !is_asked && !needed;
		}
		if (is_asked || needed)
			want(plan, op, is_wanted);
	}
}

int wti_replay_select(const struct wti_replay_plan *plan, const struct wti_replay_options *options,
		      struct wti_replay_selection *ret_selection, struct wt_err *err)
{
	struct wti_replay_selection s = {.is_asked = calloc(plan->op_count + 1, sizeof(bool)),
					 .is_selected = calloc(plan->op_count + 1, sizeof(bool)),
					 .is_all = true};
	bool *is_wanted = calloc(plan->object_count + 1, sizeof(bool));

	if (!s.is_asked || !s.is_selected || !is_wanted) {
		free(is_wanted);
		wti_replay_selection_release(&s);
		return wti_err(err, WT_E_NOMEM, "out of memory for a selection");
	}
	for (uint32_t i = 0; i < plan->op_count; i++) {
		s.is_asked[i] = matches(plan, &plan->ops[i], i, options);
		if (!wti_replay_plan_is_command(&plan->ops[i]))
			continue;
		s.asked_count += s.is_asked[i];
		s.is_all &= s.is_asked[i];
	}
	if (s.is_all)
		memset(s.is_asked, true, plan->op_count);
	go_back(plan, &s, is_wanted);
	free(is_wanted);
	*ret_selection = s;
	return 0;
}

void wti_replay_selection_release(struct wti_replay_selection *selection)
{
	free(selection->is_asked);
	free(selection->is_selected);
	*selection = (struct wti_replay_selection){0};
}
