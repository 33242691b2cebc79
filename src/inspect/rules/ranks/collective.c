/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what ranks compute together: from the same they make the same. */
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/compare.h"
#include "inspect/training/shape.h"

/* ---- The same on all ranks ------------------------------------------------------------------ */

enum { OF_RUN, OF_SUBJECT, OF_TIME, OF_MODULE, OF_PROCESS = OF_MODULE }; /* keeps */

struct meeting {
	uint32_t value_count;
	struct wti_patience differing; /* parts that were of another length */
};

/* By process and subject it is counted which time it is, by that the ranks meet. */
#define KEEPS_OF_COMPARISON                                                                        \
	[OF_RUN] = {WTI_PER_RUN, sizeof(struct meeting)},                                          \
	[OF_SUBJECT] = {WTI_PER_KEY, sizeof(struct wti_repeated_count)},                           \
	[OF_TIME] = {WTI_PER_KEY, sizeof(struct wti_repeated_value)}

static bool compare(struct wti_case *account, struct meeting *meeting,
		    const struct wti_moment *moment, uint64_t subject, const uint64_t numbers[2],
		    struct wti_repeated_value *ret_other)
{
	struct wti_repeated_count *count =
		wti_kept_of_key(account, OF_SUBJECT, moment->process->stream, subject);
	struct wti_repeated_value *value;
	uint64_t key;

	if (!count)
		return false;
	key = wti_mix_three(subject, (uint64_t)moment->scope.step,
			    wti_repeated_next(count, moment->scope.step));
	if (meeting->value_count > WTI_REPEATED_MAX) {
		wti_kept_forget(account, OF_TIME);
		meeting->value_count = 0;
	}
	value = wti_kept_of_key(account, OF_TIME, WTI_ALL_RANKS, key);
	if (!value)
		return false;
	meeting->value_count += !value->is_set;
	return wti_repeated_meet(value, moment->scope.rank, numbers[0], numbers[1], ret_other);
}

enum { INPUT, RESULT };

/* What another rank made of the same input in the same call; false: nothing to compare. */
static bool compare_call(struct wti_case *account, struct meeting *meeting,
			 const struct wti_moment *moment, bool *ret_is_same, int32_t *ret_rank)
{
	const struct wti_call *call = moment->call;
	struct wti_repeated_value other;
	uint64_t numbers[2];

	if (moment->scope.world < 2 || !call->object || call->exception)
		return false;
	numbers[INPUT] = wti_call_hash(call, false);
	numbers[RESULT] = wti_call_hash(call, true);
	if (!numbers[INPUT] || !numbers[RESULT] ||
	    !compare(account, meeting, moment, call->object, numbers, &other) ||
	    other.first != numbers[INPUT])
		return false;
	*ret_is_same = other.second == numbers[RESULT];
	*ret_rank = other.rank;
	return true;
}

/* ---- WT-RANK-005: replicas evaluate differently --------------------------------------------- */

static enum wti_answer see_evaluation(struct wti_case *account, void *kept,
				      const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	int32_t other;
	bool is_same;

	if (!(call->flags & WT_CALL_MODE_KNOWN) || call->flags & WT_CALL_TRAIN || !moment->object ||
	    !wti_object_replicates(moment->training, moment->object) ||
	    !compare_call(account, kept, moment, &is_same, &other))
		return WTI_RULE_NO_CASE;
	if (is_same)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, call->object,
			    "in evaluation mode, from the same input, ranks %d and %d compute "
			    "different results",
			    other, moment->scope.rank);
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
	.keeps = {KEEPS_OF_COMPARISON},
	.see = see_evaluation,
};

/* ---- WT-RANK-006: no longer the same -------------------------------------------------------- */

struct computed { /* by a module, on all ranks */
	uint32_t same_count;
};

static enum wti_answer see_computed(struct wti_case *account, void *kept,
				    const struct wti_moment *moment)
{
	struct computed *computed;
	int32_t other;
	bool is_same;

	if (!(moment->call->flags & WT_CALL_GRAD) ||
	    !compare_call(account, kept, moment, &is_same, &other))
		return WTI_RULE_NO_CASE;
	computed = wti_kept_of_key(account, OF_MODULE, WTI_ALL_RANKS, moment->call->object);
	if (!computed)
		return WTI_RULE_NO_CASE;
	if (is_same) {
		computed->same_count++;
		return WTI_RULE_HELD;
	}
	if (!computed->same_count)
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, moment->call->object,
			    "from the same input it computes different results on ranks %d and %d; "
			    "before that it computed the same %u times",
			    other, moment->scope.rank, computed->same_count);
}

const struct wti_rule wti_rule_rank_006 = {
	.code = "WT-RANK-006",
	.severity = WT_WARNING,
	.title = "a layer that is replicated on all ranks no longer computes the same result",
	.means = "its parameters have drifted apart: something was done to them, or to their "
		 "gradients, on one rank only",
	.hint = "look at code that depends on the rank, such as clipping or weight decay for some "
		"parameters",
	.definition =
		"A module that returned the same bytes for the same input on two ranks does so "
		"whenever it is given the same input. A case is a call, with gradients on, with "
		"the same input on two ranks in the same step.",
	.innocent = "Ranks that begin with one model and train it in different ways on purpose.",
	.needs = "no module was given the same input on two ranks",
	.moments = WTI_MOMENT_MODULE_END,
	.keeps = {KEEPS_OF_COMPARISON, [OF_MODULE] = {WTI_PER_KEY, sizeof(struct computed)}},
	.see = see_computed,
};

/* ---- WT-RANK-008: different parts of the same ----------------------------------------------- */

enum { TIMES };
enum { SHAPES_MAX = 4 };

/* Of a process: shapes of what it exchanged last, a ring. */
struct exchanged {
	uint32_t shapes[SHAPES_MAX];
	uint32_t count;
};

/* A line of the program, as all ranks call it, and what it takes a part of. */
static uint64_t subject_of(const struct wti_moment *moment, uint32_t shape)
{
	struct wti_where where = wti_moment_where(moment);
	uint32_t file = where.file ? wti_symbol_word(moment->training->symbols, where.file) : 0;

	return wti_mix_three(file, (uint64_t)where.line, shape);
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

/* A slice of what was exchanged. */
static enum wti_answer judge_part(struct wti_case *account, struct meeting *meeting,
				  const struct wti_moment *moment,
				  const struct exchanged *exchanged)
{
	const struct wti_value_row *whole = wti_call_tensor(moment->call, false, 0);
	const struct wti_value_row *part = wti_call_tensor(moment->call, true, 0);
	struct wti_repeated_value other;

	if (!whole || !part || !is_slice(moment) || !is_exchanged(exchanged, whole->digest.shape) ||
	    !compare(account, meeting, moment, subject_of(moment, whole->digest.shape),
		     (const uint64_t[2]){part->digest.shape}, &other))
		return WTI_RULE_NO_CASE;
	if (!differ(moment, part->digest.shape, other.first))
		return WTI_RULE_HELD;
	if (!wti_waited(account, &meeting->differing, moment, TIMES))
		return WTI_RULE_NO_CASE;
	return wti_violated(
		account, moment, 0,
		"of what was exchanged, of shape %s, rank %d takes %s here and rank %d takes %s",
		wti_moment_text(moment, whole->digest.shape), moment->scope.rank,
		wti_moment_text(moment, part->digest.shape), other.rank,
		wti_moment_text(moment, (uint32_t)other.first));
}

static enum wti_answer see_parts(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	struct exchanged *exchanged =
		moment->scope.world < 2 ? NULL : wti_kept(account, OF_PROCESS, moment);

	if (!exchanged)
		return WTI_RULE_NO_CASE;
	if (moment->call->what == WTI_CALLEE_INDEX)
		return judge_part(account, kept, moment, exchanged);
	note_exchange(exchanged, moment->call);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_rank_008 = {
	.code = "WT-RANK-008",
	.severity = WT_WARNING,
	.title = "ranks take slices of different lengths from what they exchanged",
	.means = "a size that all ranks must agree on was computed from local data, such as the "
		 "capacity of an expert: rows are dropped on one side",
	.hint = "agree on the size first: dist.all_reduce(size, op=ReduceOp.MAX)",
	.definition =
		"If the same line takes a slice of a tensor of the shape that was exchanged last "
		"(gathered, received, broadcast), its length is the same on two ranks in the same "
		"step. The second time is a violation. A case is such a slice on two ranks.",
	.innocent = "Ranks that take only their own part of what was gathered, of different size.",
	.needs = "no slice of what was exchanged was taken on two ranks",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_INDEX) | WTI_CALLEE_SET(WTI_CALLEE_EXCHANGE),
	.keeps = {KEEPS_OF_COMPARISON, [OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct exchanged)}},
	.see = see_parts,
	.thresholds = {[TIMES] = {"times", 2,
				  "the last batch of an epoch may be shorter on one of the ranks"}},
};
