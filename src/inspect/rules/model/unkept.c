/* SPDX-License-Identifier: Apache-2.0 */
/* The rule about averages that are computed and left behind: lerp() where lerp_() was meant. */
#include "inspect/judge/rule.h"
#include "inspect/training/compare.h"

/* ---- WT-EMA-006: an average that nobody keeps ------------------------------------------------ */

enum { STEPS };
enum { OF_PROCESS, OF_UPDATE, OF_PRODUCT, OF_RESULT }; /* keeps; the last two since the last step */

struct pending {
	bool has_results;
};

/* Of a line and a parameter that is trained. */
struct update {
	const struct wti_parameter *parameter;
	uint64_t copy;  /* what it is averaged with, by hash */
	uint64_t step;  /* of the process, when that was last so */
	uint32_t steps; /* for which it has been the same */
	bool is_used;   /* a result was given to a call, or the copy was another one later */
	struct wti_scope since;
	struct wti_call call; /* without its values */
};

struct product {
	uint64_t of; /* hash */
};

struct result {
	struct update *update;
};

static bool is_known(const struct wti_value_row *value)
{
	return value && value->digest.count > 1 && !(value->digest.flags & WT_TENSOR_NO_HASH);
}

/* decay * parameter */
static void note_product(struct wti_case *account, const struct wti_call *call)
{
	const struct wti_value_row *given = wti_call_tensor(call, false, 0);
	const struct wti_value_row *made = wti_call_tensor(call, true, 0);
	struct product *product;

	if (!is_known(given) || !is_known(made) || wti_call_tensor(call, false, 1))
		return;
	product = wti_kept_of_key(account, OF_PRODUCT, call->stream, made->digest.hash);
	if (product)
		product->of = given->digest.hash;
}

/* The two that are averaged; false: this is no average. */
static bool read_average(const struct wti_case *account, const struct wti_call *call,
			 uint64_t ret_sides[2])
{
	for (uint32_t i = 0; i < 2; i++) {
		const struct wti_value_row *side = wti_call_tensor(call, false, i);
		const struct product *product;

		if (!is_known(side))
			return false;
		ret_sides[i] = side->digest.hash;
		if (call->what == WTI_CALLEE_MIX)
			continue;
		product = wti_kept_find_key(account, OF_PRODUCT, call->stream, side->digest.hash);
		if (!product)
			return false;
		ret_sides[i] = product->of;
	}
	return ret_sides[0] != ret_sides[1];
}

/* What the last step left in a parameter that an optimizer trains. */
static const struct wti_parameter *trained_with(const struct wti_moment *moment, uint64_t hash)
{
	for (size_t i = 0; i < moment->training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(moment->training, i);

		if (parameter->stream == moment->process->stream && parameter->optimizer &&
		    parameter->step_count && parameter->has_hash && parameter->hash == hash)
			return parameter;
	}
	return NULL;
}

static void note_update(struct update *update, const struct wti_moment *moment, uint64_t copy)
{
	uint64_t step = moment->process->step_count;

	if (!update->steps) {
		update->copy = copy;
		update->since = moment->scope;
		update->call = wti_moment_call(moment);
	}
	update->is_used |= update->copy != copy;
	update->steps += update->step != step;
	update->step = step;
}

static void see_average(struct wti_case *account, struct pending *pending,
			const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *made = wti_call_tensor(call, true, 0);
	const struct wti_parameter *one, *other, *trained;
	struct update *update;
	struct result *result;
	uint64_t sides[2];

	if (!is_known(made) || !read_average(account, call, sides))
		return;
	one = trained_with(moment, sides[0]);
	other = trained_with(moment, sides[1]);
	trained = one ? one : other;
	if (!trained || (one && other) || trained->shape != made->digest.shape)
		return;
	update = wti_kept_of_key(account, OF_UPDATE, call->stream,
				 wti_mix_three(call->site, trained->place, 0));
	result = wti_kept_of_key(account, OF_RESULT, call->stream, made->digest.hash);
	if (!update || !result)
		return;
	update->parameter = trained;
	note_update(update, moment, one ? sides[1] : sides[0]);
	result->update = update;
	pending->has_results = true;
}

static void note_uses(struct wti_case *account, const struct wti_call *call)
{
	const struct wti_value_row *value = NULL;

	while ((value = wti_call_next_tensor(call, false, value))) {
		const struct result *result =
			wti_kept_find_key(account, OF_RESULT, call->stream, value->digest.hash);

		if (result && result->update)
			result->update->is_used = true;
	}
}

static enum wti_answer see_unkept(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	struct pending *pending = kept;

	if (moment->type == WTI_MOMENT_STEPPED) {
		wti_kept_forget(account, OF_PRODUCT);
		wti_kept_forget(account, OF_RESULT);
		pending->has_results = false;
		return WTI_RULE_NO_CASE;
	}
	if (pending->has_results)
		note_uses(account, moment->call);
	if (!moment->process->step_count)
		return WTI_RULE_NO_CASE;
	if (moment->call->what == WTI_CALLEE_MULTIPLY)
		note_product(account, moment->call);
	else if (moment->call->what == WTI_CALLEE_MIX || moment->call->what == WTI_CALLEE_ADD)
		see_average(account, pending, moment);
	return WTI_RULE_NO_CASE;
}

static enum wti_answer finish_unkept(struct wti_case *account, void *kept,
				     const struct wti_moment *end)
{
	struct wti_moment moment = *end;
	const struct update *update;
	size_t place = 0;

	while ((update = wti_kept_next(account, OF_UPDATE, end->process->stream, &place))) {
		if (update->steps < wti_threshold(account, STEPS))
			continue;
		if (update->is_used) {
			wti_held(account);
			continue;
		}
		moment.scope = update->since;
		moment.call = &update->call;
		moment.parameter = update->parameter;
		wti_violated(account, &moment, update->parameter->name,
			     "after %u steps it was averaged with the same tensor, which has "
			     "stayed as it was, and no call was given the result",
			     update->steps);
	}
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_ema_006 = {
	.code = "WT-EMA-006",
	.severity = WT_WARNING,
	.title = "the average of a copy and the model is computed and then discarded",
	.means = "the copy stays as it was: lerp() and the operators make a new tensor, and "
		 "assigning to the variable of a loop does not change the parameter",
	.hint = "write in place, under no_grad(): slow.lerp_(fast, 1 - decay), or "
		"slow.mul_(decay).add_(fast, alpha=1 - decay)",
	.definition =
		"If a line averages a trained parameter, as the last step left it, with another "
		"tensor (lerp(), or a sum of two products with numbers) after `steps` steps or "
		"more, that other tensor changes, or some call is given a result before the next "
		"step. A case is a parameter that is averaged in that many steps.",
	.innocent = "Averages that are used only by something that is not recorded.",
	.needs = "no line averaged trained parameters with other tensors, step by step",
	.flags = WTI_RULE_ABSENCE,
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_STEPPED,
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, sizeof(struct pending)},
		  [OF_UPDATE] = {WTI_PER_KEY, sizeof(struct update)},
		  [OF_PRODUCT] = {WTI_PER_KEY, sizeof(struct product)},
		  [OF_RESULT] = {WTI_PER_KEY, sizeof(struct result)}},
	.see = see_unkept,
	.finish = finish_unkept,
	.thresholds = {[STEPS] = {"steps", 8,
				  "a copy may stay unchanged at first and only be inspected"}},
};
