/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans of replays, made of streams that anybody may have written. What plan.h promises is checked:
 * executing relies on it.
 */
#include <stdlib.h>
#include <unistd.h>

#include "exercise.h"
#include "fuzz.h"
#include "replay/plan.h"
#include "replay/races.h"

#define PROMISED(condition)                                                                        \
	do {                                                                                       \
		if (!(condition))                                                                  \
			abort();                                                                   \
	} while (0)

static void check_access(const struct wti_replay_plan *plan, const struct wti_replay_plan_op *op,
			 const struct wti_replay_plan_access *access)
{
	const struct wti_replay_plan_object *object;

	if (access->object == WTI_PLAN_NONE || op->refusal)
		return;
	PROMISED(access->object < plan->object_count);
	object = &plan->objects[access->object];
	if (wti_replay_plan_reads(plan, access) || wti_replay_plan_writes(plan, access))
		PROMISED(access->bytes <= object->bytes &&
			 access->offset <= object->bytes - access->bytes);
}

static void check_plan(const struct wti_replay_plan *plan)
{
	for (size_t i = 0; i < plan->object_count; i++)
		PROMISED(plan->objects[i].parent == WTI_PLAN_NONE || plan->objects[i].parent < i);
	for (size_t i = 0; i < plan->op_count; i++) {
		const struct wti_replay_plan_op *op = &plan->ops[i];

		PROMISED(op->access_first + (size_t)op->access_count <= plan->access_count);
		PROMISED(op->wait_first + (size_t)op->wait_count <= plan->wait_count);
		PROMISED(op->before_first + (size_t)op->before_count <= plan->before_count);
		PROMISED(op->queue == WTI_PLAN_NONE || op->queue < plan->object_count);
		for (uint32_t k = 0; wti_replay_plan_is_command(op) && k < op->access_count; k++)
			check_access(plan, op, &plan->accesses[op->access_first + k]);
	}
}

/* Nothing comes before what it has to follow. */
static void check_order(const struct wti_replay_plan *plan, enum wti_replay_order_type type)
{
	const struct wti_replay_order order = {.type = type, .seed = 7};
	uint32_t *ops = calloc(plan->op_count + 1, sizeof(*ops));
	bool *is_done = calloc(plan->op_count + 1, sizeof(*is_done));
	struct wt_err err = {0};
	size_t count = 0;

	if (ops && is_done && plan->op_count &&
	    !wti_replay_plan_arrange(plan, &order, ops, &count, &err)) {
		PROMISED(count == plan->serial_count);
		for (size_t i = 0; i < count; i++) {
			const struct wti_replay_plan_op *op = &plan->ops[ops[i]];

			for (uint32_t k = 0; k < op->before_count; k++)
				PROMISED(is_done[plan->befores[op->before_first + k]]);
			PROMISED(!is_done[ops[i]]);
			is_done[ops[i]] = true;
		}
	}
	free(ops);
	free(is_done);
}

static void exercise(const struct wt_trace *trace, size_t stream)
{
	struct wti_replay_races races;
	struct wti_replay_plan plan;
	struct wt_err err = {0};

	if (wti_replay_plan_read(trace, stream, &plan, &err))
		return;
	check_plan(&plan);
	for (int i = WTI_ORDER_ORIGINAL; i <= WTI_ORDER_FIRST; i++)
		check_order(&plan, (enum wti_replay_order_type)i);
	if (!wti_replay_races_find(&plan, &races, &err))
		wti_replay_races_release(&races);
	wti_replay_plan_release(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wt_err err = {0};
	struct wt_trace *trace;
	char path[64];
	int fd = wtt_memory_file(data, bytes, path);

	if (!wt_trace_open(path, &trace, &err)) {
		for (size_t i = 0; i < wt_trace_stream_count(trace); i++)
			exercise(trace, i);
		wt_trace_free(trace);
	}
	close(fd);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t bytes_max, unsigned seed)
{
	bytes = LLVMFuzzerMutate(data, bytes, bytes_max);
	if (seed % 8)
		wtt_repair(data, bytes);
	return bytes;
}
