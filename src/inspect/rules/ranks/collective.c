/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what ranks compute together: from the same they make the same. */
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/compare.h"
#include "inspect/training/shape.h"

/* ---- Modules on all ranks ------------------------------------------------------------------- */

struct modules {
	struct wti_repeated calls;
	struct wti_slots same; /* by module: how often it computed the same from the same */
};

static void release_modules(void *state)
{
	struct modules *modules = state;

	wti_repeated_release(&modules->calls);
	wti_slots_release(&modules->same);
}

/* What another rank made of its input in the same call; false: nothing to compare. */
static bool compare_call(struct modules *modules, const struct wti_moment *moment,
			 struct wti_repeated_value *ret_mine, struct wti_repeated_value *ret_other)
{
	const struct wti_call *call = moment->call;

	if (moment->scope.world < 2 || !call->object || call->exception)
		return false;
	ret_mine->first = wti_call_hash(call, false);
	ret_mine->second = wti_call_hash(call, true);
	if (!ret_mine->first || !ret_mine->second)
		return false;
	return wti_repeated_compare(&modules->calls, moment, call->object, ret_mine->first,
				    ret_mine->second, ret_other) &&
	       ret_other->first == ret_mine->first;
}

/* ---- WT-RANK-005: replicas evaluate differently --------------------------------------------- */

static bool is_replicated(const struct wti_moment *moment)
{
	return moment->object && moment->object->type == WT_OBJECT_TYPE_WRAPPER &&
	       strstr(wti_moment_text(moment, moment->object->class_name),
		      "DistributedDataParallel");
}

static void see_evaluation(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	struct wti_repeated_value mine, other;

	if (!(call->flags & WTI_CALL_SAYS_TRAINING) || call->flags & WTI_CALL_TRAINING ||
	    !is_replicated(moment) || !compare_call(state, moment, &mine, &other))
		return;
	if (mine.second == other.second)
		wti_held(account);
	else
		wti_violated(account, moment, call->object,
			     "in evaluation mode, from the same input, ranks %d and %d compute "
			     "something else",
			     other.rank, moment->scope.rank);
}

const struct wti_rule wti_rule_rank_005 = {
	.code = "WT-RANK-005",
	.severity = WT_ERROR,
	.title = "replicas evaluate the same input differently",
	.means = "their buffers differ, such as the running statistics of batch normalisation: "
		 "each rank has followed its own data",
	.hint = "leave broadcast_buffers=True, or use SyncBatchNorm",
	.definition =
		"A model wrapped in DistributedDataParallel, in evaluation mode, returns the same "
		"bytes for the same input on all ranks. A case is a call with the same input on "
		"two ranks, in the same step.",
	.innocent = "None is known.",
	.needs = "no replicated model evaluated the same input on two ranks",
	.moments = WTI_MOMENT_MODULE_END,
	.state_bytes = sizeof(struct modules),
	.watch = see_evaluation,
	.release = release_modules,
};

/* ---- WT-RANK-006: no longer the same -------------------------------------------------------- */

static void see_computed(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct modules *modules = state;
	struct wti_repeated_value mine, other;
	uint32_t *same;

	if (!(moment->call->flags & WTI_CALL_GRAD) || !compare_call(modules, moment, &mine, &other))
		return;
	same = wti_slot(&modules->same, moment->call->object, sizeof(*same));
	if (!same)
		return;
	if (mine.second == other.second) {
		++*same;
		wti_held(account);
	} else if (*same) {
		wti_violated(account, moment, moment->call->object,
			     "from the same input it computes something else on ranks %d and %d; "
			     "it has computed the same %u times",
			     other.rank, moment->scope.rank, *same);
	}
}

const struct wti_rule wti_rule_rank_006 = {
	.code = "WT-RANK-006",
	.severity = WT_WARNING,
	.title = "a layer that is replicated on all ranks no longer computes the same",
	.means = "its parameters have drifted apart: something was done to them, or to their "
		 "gradients, on one rank only",
	.hint = "look at code that asks for the rank, such as clipping or weight decay for some "
		"parameters",
	.definition =
		"A module that returned the same bytes for the same input on two ranks does so "
		"whenever it is given the same input. A case is a call, with gradients on, with "
		"the same input on two ranks in the same step.",
	.innocent = "Ranks that begin with one model and train it in different ways on purpose.",
	.needs = "no module was given the same input on two ranks",
	.moments = WTI_MOMENT_MODULE_END,
	.state_bytes = sizeof(struct modules),
	.watch = see_computed,
	.release = release_modules,
};

/* ---- WT-RANK-008: different parts of the same ----------------------------------------------- */

enum { TIMES_TO_TELL = 2, SHAPES_MAX = 4 };

/* Of a process: shapes of what it exchanged last, a ring. */
struct exchanged {
	uint32_t shapes[SHAPES_MAX];
	uint32_t count;
};

struct parts {
	struct wti_repeated calls;
	struct wti_slots exchanged;
	uint32_t count;
};

static void release_parts(void *state)
{
	struct parts *parts = state;

	wti_repeated_release(&parts->calls);
	wti_slots_release(&parts->exchanged);
}

static uint64_t line_of(const struct wti_moment *moment)
{
	struct wti_where where = wti_moment_where(moment);

	return where.file ? (uint64_t)(uintptr_t)where.file * 31 + (uint64_t)where.line : 0;
}

static void note_exchange(struct exchanged *exchanged, const struct wti_call *call)
{
	const struct wti_value_row *value = wti_call_tensor(call, false, 0);

	if (value)
		exchanged->shapes[exchanged->count++ % SHAPES_MAX] = value->digest.shape;
}

static bool is_exchanged(const struct exchanged *exchanged, uint32_t shape)
{
	for (uint32_t i = 0; i < SHAPES_MAX && i < exchanged->count; i++)
		if (exchanged->shapes[i] == shape)
			return true;
	return false;
}

/* tensor[:n], not a mask and not a number. */
static bool is_slice(const struct wti_moment *moment)
{
	const struct wti_value_row *index = wti_call_argument(moment->call, 0, 1);

	return index && index->text && !strcmp(wti_moment_text(moment, index->text), "<slice>");
}

static bool differ(const struct wti_moment *moment, uint64_t shape, uint64_t other_shape)
{
	struct wti_shape a = wti_shape_read(wti_moment_text(moment, (uint32_t)shape));
	struct wti_shape b = wti_shape_read(wti_moment_text(moment, (uint32_t)other_shape));

	return a.rank && a.rank == b.rank && a.extents[0] != b.extents[0];
}

static void see_parts(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct parts *parts = state;
	const struct wti_call *call = moment->call;
	const struct wti_value_row *whole, *part;
	struct wti_repeated_value other;
	struct exchanged *exchanged;

	if (moment->scope.world < 2 ||
	    (call->what != WTI_CALLEE_INDEX && call->what != WTI_CALLEE_EXCHANGE))
		return;
	exchanged = wti_slot(&parts->exchanged, call->stream, sizeof(*exchanged));
	if (!exchanged)
		return;
	if (call->what == WTI_CALLEE_EXCHANGE) {
		note_exchange(exchanged, call);
		return;
	}
	whole = wti_call_tensor(call, false, 0);
	part = wti_call_tensor(call, true, 0);
	if (!whole || !part || !is_slice(moment) || !is_exchanged(exchanged, whole->digest.shape) ||
	    !wti_repeated_compare(&parts->calls, moment, line_of(moment) ^ whole->digest.shape,
				  part->digest.shape, 0, &other))
		return;
	if (!differ(moment, part->digest.shape, other.first))
		wti_held(account);
	else if (++parts->count >= TIMES_TO_TELL)
		wti_violated(
			account, moment, 0,
			"of what was exchanged, of shape %s, rank %d takes %s here and rank %d "
			"takes %s",
			wti_moment_text(moment, whole->digest.shape), moment->scope.rank,
			wti_moment_text(moment, part->digest.shape), other.rank,
			wti_moment_text(moment, (uint32_t)other.first));
}

const struct wti_rule wti_rule_rank_008 = {
	.code = "WT-RANK-008",
	.severity = WT_WARNING,
	.title = "ranks take parts of different length from what they exchange",
	.means = "a size that all ranks must agree on was computed from local data, such as the "
		 "capacity of an expert: rows are dropped on one side",
	.hint = "agree on the size first: dist.all_reduce(size, op=ReduceOp.MAX)",
	.definition =
		"If the same line takes a slice of a tensor of the shape that was exchanged last "
		"(gathered, received, broadcast), its length is the same on two ranks in the same "
		"step. Two times are a violation. A case is such a slice on two ranks.",
	.innocent = "Ranks that take only their own part of what was gathered, of different size.",
	.needs = "no slice of what was exchanged was taken on two ranks",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct parts),
	.watch = see_parts,
	.release = release_parts,
};
