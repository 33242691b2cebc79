/* SPDX-License-Identifier: Apache-2.0 */
/* The rule about ranks that share the data and not the model. */
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/compare.h"

/* ---- WT-RANK-010: each rank trains a model of its own --------------------------------------- */

enum { STEPS, NUMBERS };
enum { OF_RUN, OF_REPLICA }; /* keeps; of a parameter, on all ranks */

struct traffic {
	bool has_any; /* once training had begun: more than figures to print */
};

struct alone {
	const struct wti_parameter *parameter; /* of the rank that came to a step last */
	struct wti_compared values, gradients;
	bool is_shared; /* it, or its gradient, was the same on two ranks in a step */
	uint32_t differ_count;
	int32_t ranks[2];
	struct wti_scope since;
	struct wti_call call; /* without its values */
};

/* ---- What ranks send one another ------------------------------------------------------------ */

/* What a parameter holds since the last step. */
static bool is_parameter(const struct wti_moment *moment, const struct wti_value_row *value)
{
	const struct wti_training *training = moment->training;

	for (size_t i = 0; i < training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(training, i);

		if (parameter->stream == moment->process->stream && parameter->has_hash &&
		    parameter->hash == value->digest.hash)
			return true;
	}
	return false;
}

static bool is_traffic(const struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_value_row *value = NULL;

	if (strncmp(wti_moment_text(moment, moment->call->module), "torch.distributed",
		    strlen("torch.distributed")))
		return false; /* of a tensor: Tensor.scatter() */
	if (!wti_call_next_tensor(moment->call, false, NULL))
		return true; /* in objects that the trace does not show */
	while ((value = wti_call_next_tensor(moment->call, false, value)))
		if (value->digest.count > wti_threshold(account, NUMBERS) ||
		    is_parameter(moment, value))
			return true;
	return false;
}

/* ---- What they train ------------------------------------------------------------------------ */

static struct alone *alone_of(struct wti_case *account, const struct wti_parameter *parameter)
{
	uint64_t key = wti_mix_three(parameter->owner, parameter->name, parameter->shape);

	return wti_kept_of_key(account, OF_REPLICA, WTI_ALL_RANKS, key);
}

static void note_difference(struct alone *alone, const struct wti_moment *moment, int32_t other)
{
	if (alone->differ_count++)
		return;
	alone->ranks[0] = other;
	alone->ranks[1] = moment->scope.rank;
	alone->since = moment->scope;
	alone->call = wti_moment_call(moment);
}

static void note_parameter(struct alone *alone, const struct wti_moment *moment,
			   const struct wti_parameter *parameter)
{
	bool is_after = moment->type == WTI_MOMENT_STEPPED;
	enum wti_comparison outcome;
	int32_t other;

	alone->parameter = parameter;
	outcome = wti_compare(is_after ? &alone->values : &alone->gradients,
			      (int64_t)moment->object->step_count, moment->scope.rank,
			      is_after ? parameter->hash : parameter->grad_hash, &other);
	if (outcome == WTI_EQUAL)
		alone->is_shared = true;
	else if (outcome == WTI_DIFFERENT && is_after)
		note_difference(alone, moment, other);
}

static enum wti_answer see_alone(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	struct traffic *traffic = kept;

	if (moment->scope.world < 2)
		return WTI_RULE_NO_CASE;
	if (moment->type == WTI_MOMENT_CALL) {
		traffic->has_any |= moment->process->step_count && is_traffic(account, moment);
		return WTI_RULE_NO_CASE;
	}
	for (uint32_t i = 0; !traffic->has_any && i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);
		struct alone *alone = parameter->grad == WTI_GRAD_NONZERO && parameter->has_hash
					      ? alone_of(account, parameter)
					      : NULL;

		if (alone)
			note_parameter(alone, moment, parameter);
	}
	return WTI_RULE_NO_CASE;
}

/* ---- At the end ----------------------------------------------------------------------------- */

/* A sampler gives each rank its share: together they are one training. */
static bool shares_data(const struct wti_training *training, size_t stream)
{
	for (size_t i = 0; i < training->objects.count; i++) {
		const struct wti_object *object = wti_object_at(training, i);

		if (object->stream == stream && object->type == WT_OBJECT_TYPE_SAMPLER &&
		    !strcmp(wti_symbol_text(training->symbols, object->class_name),
			    "DistributedSampler"))
			return true;
	}
	return false;
}

/* Whoever wraps a model may keep it together in ways of its own. */
static bool is_wrapped(const struct wti_training *training, const struct wti_parameter *parameter)
{
	for (size_t i = 0; i < training->objects.count; i++) {
		const struct wti_object *object = wti_object_at(training, i);

		if (object->stream == parameter->stream && object->of == parameter->owner &&
		    object->type == WT_OBJECT_TYPE_WRAPPER)
			return true;
	}
	return parameter->placement;
}

static void judge_alone(struct wti_case *account, const struct alone *alone, struct wti_moment end)
{
	const struct wti_parameter *parameter = alone->parameter;

	if (!parameter || !shares_data(end.training, parameter->stream))
		return;
	if (alone->is_shared) {
		wti_held(account);
		return;
	}
	if (alone->differ_count < wti_threshold(account, STEPS) ||
	    is_wrapped(end.training, parameter))
		return;
	end.process = wti_process_at(end.training, alone->call.stream);
	end.scope = alone->since;
	end.call = &alone->call;
	end.parameter = parameter;
	wti_violated(account, &end, parameter->name,
		     "after none of %u steps was it the same on ranks %d and %d, nor was its "
		     "gradient before them, and neither was sent between ranks",
		     alone->differ_count, alone->ranks[0], alone->ranks[1]);
}

static enum wti_answer finish_alone(struct wti_case *account, void *kept,
				    const struct wti_moment *end)
{
	const struct traffic *traffic = kept;
	const struct alone *alone;
	size_t place = 0;

	while (!traffic->has_any &&
	       (alone = wti_kept_next(account, OF_REPLICA, WTI_ALL_RANKS, &place)))
		judge_alone(account, alone, *end);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_rank_010 = {
	.code = "WT-RANK-010",
	.severity = WT_WARNING,
	.title = "the ranks share the data, and each trains a model of its own",
	.means = "gradients are never averaged: the model was not wrapped in "
		 "DistributedDataParallel. What is saved is the model of one rank, which has seen "
		 "its share of the data alone",
	.hint = "model = DistributedDataParallel(model) before the optimizer is made",
	.definition =
		"Where a DistributedSampler gives each rank its share of the data, a parameter "
		"that is trained on two ranks has the same bytes on both after a step, or its "
		"gradient before one, or the ranks send one another tensors after the first step: "
		"of more than `numbers` elements, or what a parameter holds. Parameters in a "
		"wrapper, and those that were compared in fewer than `steps` steps, are not "
		"judged. A case is a parameter that two ranks train.",
	.innocent = "An ensemble whose members are trained on a share of the data each.",
	.needs = "no parameter was trained on two ranks with a DistributedSampler, or the ranks "
		 "send tensors to one another",
	.explains = (const char *const[]){"WT-RANK-006", NULL},
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_STEP | WTI_MOMENT_STEPPED | WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_EXCHANGE) | WTI_CALLEE_SET(WTI_CALLEE_REDUCE),
	.keeps = {[OF_RUN] = {WTI_PER_RUN, sizeof(struct traffic)},
		  [OF_REPLICA] = {WTI_PER_KEY, sizeof(struct alone)}},
	.see = see_alone,
	.finish = finish_alone,
	.thresholds = {[STEPS] = {"steps", 8,
				  "programs that average parameters now and then do so within "
				  "that many steps"},
		       [NUMBERS] = {"numbers", 64,
				    "metrics that are summed over the ranks have few elements, "
				    "gradients have many"}},
};
