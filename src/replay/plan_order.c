/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What had to come before what: order of a queue, wait lists, barriers, and the host that waited
 * before it went on. From that, orders in which the work may be done.
 *
 * The host counts as one: what any of its threads enqueues after any of them has waited comes after
 * that. Threads may have agreed on an order by means that no trace shows, and a race between
 * operations that were that far apart would be a guess.
 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"

#define BEFORES_MAX (1u << 26)

/* What is known of a queue while its operations come by. */
struct lane {
	uint32_t *open; /* operations that nothing in the queue waits for yet */
	size_t count, capacity;
	uint32_t barrier; /* that all later ones wait for */
};

struct weave {
	struct wti_replay_plan *plan;
	struct lane *lanes; /* one for each object */
	uint32_t sync_last;
};

static int out_of_memory(struct wt_err *err, int code)
{
	if (code == WT_E_LIMIT)
		return wti_err(err, code, "too many dependencies to replay");
	return wti_err(err, WT_E_NOMEM, "out of memory for dependencies");
}

static int add_before(struct wti_replay_plan *plan, struct wti_replay_plan_op *op, uint32_t before)
{
	int r;

	if (before == WTI_PLAN_NONE || before == (uint32_t)(op - plan->ops))
		return 0;
	r = wti_grow(&plan->befores, plan->before_count + 1, &plan->before_capacity, BEFORES_MAX);
	if (r)
		return r;
	plan->befores[plan->before_count++] = before;
	op->before_count++;
	return 0;
}

static int add_open(struct wti_replay_plan *plan, struct wti_replay_plan_op *op,
		    const struct lane *lane)
{
	int r = 0;

	for (size_t i = 0; !r && i < lane->count; i++)
		r = add_before(plan, op, lane->open[i]);
	return r;
}

/* The queue's view of an operation: `op` follows what is open, or joins it. */
static int weave_queue(struct weave *weave, struct wti_replay_plan_op *op)
{
	struct wti_replay_plan *plan = weave->plan;
	struct lane *lane = &weave->lanes[op->queue];
	uint32_t own = (uint32_t)(op - plan->ops);
	bool is_ordered = wti_replay_plan_is_ordered(&plan->objects[op->queue]);
	bool waits_for_all =
		is_ordered ||
		((op->call == WTI_CALL_MARKER || op->call == WTI_CALL_BARRIER) && !op->wait_count);
	int r = waits_for_all ? add_open(plan, op, lane) : add_before(plan, op, lane->barrier);

	if (r)
		return r;
	if (waits_for_all)
		lane->count = 0;
	if (op->call == WTI_CALL_BARRIER)
		lane->barrier = own;
	r = wti_grow(&lane->open, lane->count + 1, &lane->capacity, WTI_NO_CEILING);
	if (!r)
		lane->open[lane->count++] = own;
	return r;
}

/* clFinish() waits for all of a queue, others for what their edges name. */
static int weave_sync(struct weave *weave, struct wti_replay_plan_op *op)
{
	struct wti_replay_plan *plan = weave->plan;
	int r = add_before(plan, op, weave->sync_last);

	if (!r && op->queue != WTI_PLAN_NONE && !strcmp(op->name, "clFinish"))
		r = add_open(plan, op, &weave->lanes[op->queue]);
	weave->sync_last = (uint32_t)(op - plan->ops);
	return r;
}

/* It has its place when it was made; it was set after the host had waited for what had ended then.
 */
static int weave_user_set(struct weave *weave, struct wti_replay_plan_op *op)
{
	const struct wti_replay_plan *plan = weave->plan;
	uint32_t last = WTI_PLAN_NONE;

	for (uint32_t i = 0; i < plan->op_count; i++)
		if (plan->ops[i].call == WTI_CALL_SYNC && plan->ops[i].end_ns <= op->start_ns)
			last = i;
	return add_before(weave->plan, op, last);
}

static int weave_one(struct weave *weave, struct wti_replay_plan_op *op)
{
	struct wti_replay_plan *plan = weave->plan;
	int r = 0;

	op->before_first = (uint32_t)plan->before_count;
	for (uint32_t i = 0; !r && i < op->wait_count; i++)
		r = add_before(plan, op, plan->waits[op->wait_first + i]);
	if (r)
		return r;
	if (op->call == WTI_CALL_SYNC)
		return weave_sync(weave, op);
	if (op->call == WTI_CALL_USER_SET)
		return weave_user_set(weave, op);
	r = add_before(plan, op, weave->sync_last);
	return r || op->queue == WTI_PLAN_NONE ? r : weave_queue(weave, op);
}

int wti_replay_plan_order(struct wti_replay_plan *plan, struct wt_err *err)
{
	struct weave weave = {.plan = plan, .sync_last = WTI_PLAN_NONE};
	const struct wti_replay_order serial = {.type = WTI_ORDER_SERIAL};
	int r = 0;

	weave.lanes = calloc(plan->object_count + 1, sizeof(*weave.lanes));
	plan->serial = calloc(plan->op_count + 1, sizeof(*plan->serial));
	if (!weave.lanes || !plan->serial)
		r = WT_E_NOMEM;
	for (size_t i = 0; !r && i < plan->object_count; i++)
		weave.lanes[i].barrier = WTI_PLAN_NONE;
	for (size_t i = 0; !r && i < plan->op_count; i++)
		r = weave_one(&weave, &plan->ops[i]);
	for (size_t i = 0; weave.lanes && i < plan->object_count; i++)
		free(weave.lanes[i].open);
	free(weave.lanes);
	if (r)
		return out_of_memory(err, r);
	return wti_replay_plan_arrange(plan, &serial, plan->serial, &plan->serial_count, err);
}

/* ---- Orders ---------------------------------------------------------------------------------- */

/* A heap of operations that may come next, the one with the smallest key on top. */
struct ready {
	const struct wti_replay_order *order;
	uint64_t state; /* of the random numbers */
	struct {
		uint64_t key;
		uint32_t op;
	} * heap;
	size_t count;
	bool *is_early; /* what `first` needs, and itself */
};

/* splitmix64: the same order of a seed on every machine. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t key_of(struct ready *ready, uint32_t op)
{
	switch (ready->order->type) {
	case WTI_ORDER_REVERSED:
		return UINT32_MAX - op;
	case WTI_ORDER_RANDOM:
		return next_random(&ready->state);
	case WTI_ORDER_FIRST:
		return (ready->is_early[op] ? 0 : UINT64_C(1) << 32) + op;
	default:
		return op;
	}
}

static void push(struct ready *ready, uint32_t op)
{
	size_t at = ready->count++;
	uint64_t key = key_of(ready, op);

	for (; at && ready->heap[(at - 1) / 2].key > key; at = (at - 1) / 2)
		ready->heap[at] = ready->heap[(at - 1) / 2];
	ready->heap[at].key = key;
	ready->heap[at].op = op;
}

static uint32_t pop(struct ready *ready)
{
	uint32_t top = ready->heap[0].op;
	size_t at = 0, child;

	ready->heap[at] = ready->heap[--ready->count];
	for (; (child = 2 * at + 1) < ready->count; at = child) {
		if (child + 1 < ready->count && ready->heap[child + 1].key < ready->heap[child].key)
			child++;
		if (ready->heap[at].key <= ready->heap[child].key)
			break;
		typeof(*ready->heap) other = ready->heap[at];

		ready->heap[at] = ready->heap[child];
		ready->heap[child] = other;
	}
	return top;
}

/* Operations by what they come after: of `op` from first[op] to first[op + 1]. */
struct afters {
	uint32_t *first, *all, *missing;
};

static int find_afters(const struct wti_replay_plan *plan, struct afters *ret)
{
	struct afters a = {calloc(plan->op_count + 2, sizeof(*a.first)),
			   calloc(plan->before_count + 1, sizeof(*a.all)),
			   calloc(plan->op_count + 1, sizeof(*a.missing))};

	*ret = a;
	if (!a.first || !a.all || !a.missing)
		return WT_E_NOMEM;
	for (size_t i = 0; i < plan->before_count; i++)
		a.first[plan->befores[i] + 2]++;
	for (size_t i = 2; i < plan->op_count + 2; i++)
		a.first[i] += a.first[i - 1];
	for (uint32_t i = 0; i < plan->op_count; i++) {
		const struct wti_replay_plan_op *op = &plan->ops[i];

		a.missing[i] = op->before_count;
		for (uint32_t k = 0; k < op->before_count; k++)
			a.all[a.first[plan->befores[op->before_first + k] + 1]++] = i;
	}
	return 0;
}

/* Marks what an operation needs, itself included: befores mostly have smaller numbers. */
static void mark_early(const struct wti_replay_plan *plan, bool *is_early, uint32_t first)
{
	bool changes = true;

	is_early[first] = true;
	while (changes) {
		changes = false;
		for (size_t i = plan->op_count; i-- > 0;)
			for (uint32_t k = 0; is_early[i] && k < plan->ops[i].before_count; k++) {
				bool *before =
					&is_early[plan->befores[plan->ops[i].before_first + k]];

				changes |= !*before;
				*before = true;
			}
	}
}

static void arrange(const struct wti_replay_plan *plan, struct ready *ready, struct afters *afters,
		    uint32_t *ret_ops, size_t *ret_count)
{
	for (uint32_t i = 0; i < plan->op_count; i++)
		if (!afters->missing[i])
			push(ready, i);
	*ret_count = 0;
	while (ready->count) {
		uint32_t op = pop(ready);

		ret_ops[(*ret_count)++] = op;
		for (uint32_t i = afters->first[op]; i < afters->first[op + 1]; i++)
			if (!--afters->missing[afters->all[i]])
				push(ready, afters->all[i]);
	}
}

int wti_replay_plan_arrange(const struct wti_replay_plan *plan,
			    const struct wti_replay_order *order, uint32_t *ret_ops,
			    size_t *ret_count, struct wt_err *err)
{
	struct ready ready = {.order = order, .state = order->seed};
	struct afters afters = {0};
	int r = find_afters(plan, &afters);

	ready.heap = malloc((plan->op_count + 1) * sizeof(*ready.heap));
	ready.is_early = calloc(plan->op_count + 1, sizeof(*ready.is_early));
	if (!ready.heap || !ready.is_early)
		r = WT_E_NOMEM;
	if (!r && order->type == WTI_ORDER_FIRST)
		mark_early(plan, ready.is_early, order->first);
	if (!r)
		arrange(plan, &ready, &afters, ret_ops, ret_count);
	free(ready.heap);
	free(ready.is_early);
	free(afters.first);
	free(afters.all);
	free(afters.missing);
	return r ? out_of_memory(err, r) : 0;
}
