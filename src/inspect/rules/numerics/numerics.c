/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about numbers: where NaN and infinity come from, and updates that rounding swallows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/dtype.h"
#include "infinity.h"

/* ---- WT-NUM-001: the first NaN -------------------------------------------------------------- */

/*
 * What is inside of a module is an origin once the NaN is seen again in the same step: in what the
 * call around it returns, in a loss, a gradient or a state. One that reaches nothing was masked
 * out, or the tensor was read before a collective had filled it.
 */
struct origin {
	bool is_found;
	bool is_waiting; /* for the rest */
	struct wti_scope scope;
	struct wti_call call; /* without its values */
	uint64_t nan, count;
	bool is_from_infinity;  /* its arguments had some, and no NaN */
	struct wti_call source; /* which made that infinity; no callee: it was not seen */
	struct wti_infinities infinities;
	double first_loss, loss; /* of those that are numbers */
	uint64_t loss_count;
};

enum { GROWN };

static bool is_bad(const struct wti_digest_row *digest)
{
	return !(digest->flags & WT_TENSOR_NO_STATISTICS) && (digest->nan || digest->inf);
}

/* Of masks minus infinity is a tool: NaN alone is never meant, infinity in a result is. */
static bool is_nan(const struct wti_digest_row *digest)
{
	return !(digest->flags & WT_TENSOR_NO_STATISTICS) && digest->nan;
}

static const struct wti_value_row *find_value(const struct wti_call *call, bool is_return,
					      bool (*is)(const struct wti_digest_row *digest))
{
	const struct wti_value_row *value = NULL;

	while ((value = wti_call_next_tensor(call, is_return, value)))
		if (is(&value->digest))
			return value;
	return NULL;
}

/* ", which Tensor.log had returned in train.py:7" */
static const char *source_words(char text[256], const struct origin *origin,
				struct wti_moment moment)
{
	char place[128] = "";
	struct wti_where where;
	const char *slash;

	*text = '\0';
	if (!origin->source.callee)
		return text;
	moment.call = &origin->source;
	where = wti_moment_where(&moment);
	slash = where.file ? strrchr(where.file, '/') : NULL;
	if (where.file)
		snprintf(place, sizeof(place), " in %s:%lld", slash ? slash + 1 : where.file,
			 (long long)where.line);
	snprintf(text, 256, ", which %s had returned%s", where.op, place);
	return text;
}

static enum wti_answer report_origin(struct wti_case *account, struct origin *origin,
				     struct wti_moment moment)
{
	char text[256];

	origin->is_found = true;
	moment.scope = origin->scope;
	moment.call = &origin->call;
	if (origin->is_from_infinity)
		return wti_violated(
			account, &moment, origin->call.callee,
			"it returned %llu NaN among %llu elements, of arguments with "
			"infinity%s; the loss had %s from %.3g to %.3g in %llu steps",
			(unsigned long long)origin->nan, (unsigned long long)origin->count,
			source_words(text, origin, moment),
			origin->loss > wti_threshold_real(account, GROWN) * origin->first_loss
				? "grown"
				: "gone",
			origin->first_loss, origin->loss, (unsigned long long)origin->loss_count);
	return wti_violated(
		account, &moment, origin->call.callee,
		"it returned %llu NaN among %llu elements, and none of its arguments had NaN or "
		"infinity",
		(unsigned long long)origin->nan, (unsigned long long)origin->count);
}

static bool is_waiting(const struct origin *origin, const struct wti_moment *moment)
{
	return origin->is_waiting && origin->scope.step == moment->scope.step;
}

static void wait_for_rest(struct origin *origin, const struct wti_moment *moment,
			  const struct wti_value_row *result, bool is_from_infinity)
{
	const struct wti_call *source;

	origin->is_waiting = true;
	origin->scope = moment->scope;
	origin->call = wti_moment_call(moment);
	origin->nan = result->digest.nan;
	origin->count = result->digest.count;
	origin->is_from_infinity = is_from_infinity;
	source = wti_infinity_source(&origin->infinities, moment->call);
	origin->source = source ? *source : (struct wti_call){0};
}

/* The call around the one that waits has returned NaN as well. */
static bool is_passed_on(const struct origin *origin, const struct wti_moment *moment)
{
	return is_waiting(origin, moment) && moment->call->track == origin->call.track &&
	       moment->call->depth + 1 == origin->call.depth &&
	       find_value(moment->call, true, is_nan);
}

/* What computes a tensor from tensors; memory as it is may be anything. */
static bool is_computed(const struct wti_call *call)
{
	return call->what != WTI_CALLEE_UNSET && wti_call_tensor(call, false, 0) &&
	       wti_call_tensor(call, true, 0);
}

static enum wti_answer see_call(struct wti_case *account, struct origin *origin,
				const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *result;

	if (!origin->is_from_infinity && is_passed_on(origin, moment))
		return report_origin(account, origin, *moment);
	if (!is_computed(call))
		return WTI_RULE_NO_CASE;
	wti_infinities_see(&origin->infinities, moment);
	result = find_value(call, true, is_nan);
	if (!result)
		return WTI_RULE_HELD;
	if (find_value(call, false, is_bad)) {
		if (!find_value(call, false, is_nan) && !is_waiting(origin, moment) &&
		    origin->loss_count)
			wait_for_rest(origin, moment, result, true);
		return WTI_RULE_HELD;
	}
	if (call->what == WTI_CALLEE_CONSTANT ||
	    (is_waiting(origin, moment) && !origin->is_from_infinity))
		return WTI_RULE_NO_CASE; /* it was asked for, or follows */
	wait_for_rest(origin, moment, result, false);
	return moment->parent ? WTI_RULE_NO_CASE : report_origin(account, origin, *moment);
}

static enum wti_answer see_nan(struct wti_case *account, void *kept,
			       const struct wti_moment *moment)
{
	struct origin *origin = kept;

	if (origin->is_found)
		return WTI_RULE_NO_CASE; /* what comes later follows from it */
	if (moment->type == WTI_MOMENT_CALL)
		return see_call(account, origin, moment);
	if (moment->type == WTI_MOMENT_LOSS && !isnan(moment->number)) {
		origin->first_loss = origin->loss_count ? origin->first_loss : moment->number;
		origin->loss = moment->number;
		origin->loss_count++;
		return WTI_RULE_HELD;
	}
	if (moment->type == WTI_MOMENT_TENSOR && !is_nan(&moment->digest))
		return WTI_RULE_NO_CASE;
	if (is_waiting(origin, moment))
		return report_origin(account, origin, *moment);
	origin->is_found = true;
	if (moment->type == WTI_MOMENT_LOSS)
		return wti_violated(account, moment, 0, "the loss is NaN");
	return wti_violated(account, moment, moment->attribute, "%llu of %llu elements are NaN",
			    (unsigned long long)moment->digest.nan,
			    (unsigned long long)moment->digest.count);
}

const struct wti_rule wti_rule_num_001 = {
	.code = "WT-NUM-001",
	.severity = WT_ERROR,
	.title = "NaN appears",
	.means = "from here on every number that depends on it is NaN",
	.hint = "look at the arguments of this call: a logarithm or a division of 0, a square root "
		"of a negative number, an overflow in half precision; if the loss had grown "
		"before, a "
		"lower learning rate",
	.definition =
		"No call returns NaN if none of its tensors had NaN or infinity; no loss, "
		"gradient, parameter or buffer is NaN. The first place counts; a place inside "
		"another call counts only if NaN is seen again in the same step: in what that "
		"call returns, a loss, a gradient or a state. A call that makes NaN of infinity is "
		"named where nothing else is. A case is a call that takes and "
		"returns tensors, or a loss.",
	.innocent = "NaN that marks missing data on purpose. Tensors of uninitialised memory "
		    "(torch.empty_like), or filled with a number that was asked for, are not "
		    "checked.",
	.needs = "no call with tensors and no loss was recorded",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_LOSS | WTI_MOMENT_TENSOR,
	.keeps = {{WTI_PER_PROCESS, sizeof(struct origin)}},
	.see = see_nan,
	.thresholds = {[GROWN] = {"grown", 10, "times: by less a loss varies from batch to batch"}},
};

/* ---- WT-NUM-002: rounded away --------------------------------------------------------------- */

/* In half precision, with a gradient, and yet unchanged. */
static enum wti_answer see_rounding(struct wti_case *account, void *kept,
				    const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	double lr;

	if (!wti_dtype_is_half(parameter->dtype) || parameter->grad != WTI_GRAD_NONZERO ||
	    !wti_parameter_lr(moment->training, parameter, &lr) || lr <= 0)
		return WTI_RULE_NO_CASE;
	if (parameter->moved)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, parameter->name,
			    "%u steps in a row with a gradient and a learning rate of %g left it "
			    "as it was",
			    wti_streak(account), lr);
}

const struct wti_rule wti_rule_num_002 = {
	.code = "WT-NUM-002",
	.severity = WT_ERROR,
	.title = "updates are rounded away in half precision",
	.means = "learning rate times gradient is smaller than half the distance between two "
		 "numbers of this type: the parameter stays where it is",
	.hint = "keep the parameters in float32 (autocast does), or let the optimizer keep "
		"float32 copies of them",
	.definition =
		"A float16 or bfloat16 parameter with a gradient other than zero and a learning "
		"rate above zero changes at least once in three steps. A case is such a "
		"parameter in a step.",
	.innocent = "A model that has converged.",
	.needs = "no parameter in half precision was stepped with a gradient",
	.explains = (const char *const[]){"WT-OPT-001", NULL},
	.moments = WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_PARAMETER, 0}},
	.see = see_rounding,
	.thresholds = {{WTI_IN_A_ROW, 3,
			"a gradient may be too small now and then, and momentum needs a few steps "
			"to grow"}},
};

/* ---- WT-NUM-003: outside of autocast -------------------------------------------------------- */

/* Of a module: whether it has a matrix of its own, looked up once. */
struct matrix {
	bool is_known;
	bool has_one;
};

static bool has_matrix(struct matrix *matrix, const struct wti_moment *moment)
{
	const struct wti_training *training = moment->training;

	for (size_t i = 0; !matrix->is_known && i < training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(training, i);

		matrix->has_one |= parameter->stream == moment->call->stream &&
				   parameter->module == moment->call->object &&
				   !parameter->is_buffer &&
				   wti_parameter_is_matrix(training, parameter);
	}
	matrix->is_known = true;
	return matrix->has_one;
}

static enum wti_answer see_autocast(struct wti_case *account, void *kept,
				    const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *input, *result;

	if (!(call->flags & WT_CALL_AUTOCAST))
		return WTI_RULE_NO_CASE;
	input = wti_call_tensor(call, false, 0);
	result = wti_call_tensor(call, true, 0);
	if (!input || !result || !wti_dtype_is_half(input->digest.dtype) ||
	    !has_matrix(kept, moment))
		return WTI_RULE_NO_CASE;
	if (result->digest.dtype != WT_DTYPE_F32 && result->digest.dtype != WT_DTYPE_F64)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, call->object,
			    "its input is in half precision, autocast is on, and its result is "
			    "in %s",
			    result->digest.dtype == WT_DTYPE_F32 ? "float32" : "float64");
}

const struct wti_rule wti_rule_num_003 = {
	.code = "WT-NUM-003",
	.severity = WT_WARNING,
	.title = "a layer computes in full precision under autocast",
	.means = "the layer has an operator that autocast does not know, or converts its input: it "
		 "is slower, takes more memory, and what follows differs in type",
	.hint = "make the operator follow autocast: torch.cuda.amp.custom_fwd(cast_inputs=...), or "
		"convert "
		"its arguments",
	.definition =
		"A module with a matrix among its own parameters that is called under autocast "
		"with an input in half precision returns half precision. A case is such a call.",
	.innocent = "A last layer that is kept in float32 on purpose.",
	.needs =
		"no module with a matrix was called under autocast with an input in half precision",
	.moments = WTI_MOMENT_MODULE_END,
	.keeps = {{WTI_PER_MODULE, sizeof(struct matrix)}},
	.see = see_autocast,
};

/* ---- WT-NUM-004: too small to be added ------------------------------------------------------ */

enum { ADDITIONS, SHARE };

/* Of a line, over all tensors that it adds to. */
struct additions {
	uint32_t lost, kept;
};

static double root_mean_square(const struct wti_digest_row *row)
{
	return sqrt(row->mean * row->mean + row->m2 / (double)row->count);
}

/* The distance between two neighbours, in parts of a number. */
static double unit_of(uint32_t dtype)
{
	return dtype == WT_DTYPE_F16 ? 0x1p-11 : 0x1p-8;
}

static enum wti_answer judge_addition(struct wti_case *account, struct additions *additions,
				      const struct wti_moment *moment,
				      const struct wti_digest_row *to, double added)
{
	double least = unit_of(to->dtype) * root_mean_square(to);

	if (added >= least) {
		additions->kept++;
		return WTI_RULE_HELD;
	}
	additions->lost++;
	if (additions->lost < wti_threshold(account, ADDITIONS) ||
	    additions->lost < wti_threshold_real(account, SHARE) *
				      ((double)additions->lost + (double)additions->kept))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, moment->call->callee,
			    "numbers of about %.2g are added to numbers of about %.2g in %s, whose "
			    "neighbours are %.2g apart",
			    added, root_mean_square(to),
			    to->dtype == WT_DTYPE_F16 ? "float16" : "bfloat16", least);
}

static enum wti_answer see_addition(struct wti_case *account, void *kept,
				    const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *to = wti_call_tensor(call, false, 0);
	const struct wti_value_row *what = wti_call_tensor(call, false, 1);
	double alpha = 1, added;

	if (!call->is_in_place || !to || !what || !wti_dtype_is_half(to->digest.dtype) ||
	    to->digest.count < 2 || what->digest.count != to->digest.count ||
	    (to->digest.flags | what->digest.flags) & WT_TENSOR_NO_STATISTICS)
		return WTI_RULE_NO_CASE;
	wti_call_as_number(call, wti_symbol_word(moment->training->symbols, "alpha"), -2, &alpha);
	added = fabs(alpha) * root_mean_square(&what->digest);
	if (added == 0)
		return WTI_RULE_NO_CASE;
	return judge_addition(account, kept, moment, &to->digest, added);
}

const struct wti_rule wti_rule_num_004 = {
	.code = "WT-NUM-004",
	.severity = WT_WARNING,
	.title = "updates in half precision are too small to have an effect",
	.means = "most of the updates are rounded away: weights stay where they are, or move only "
		 "where a gradient is large",
	.hint = "update copies of the weights in float32, and copy those over",
	.definition =
		"What is added in place to a float16 or bfloat16 tensor of the same size has a "
		"root mean square of at least one rounding unit of that tensor: most of an update "
		"half as large is rounded away. Two smaller additions by the same line are a "
		"violation, if they are at least a third (`share`) of its additions. A case is "
		"such an addition.",
	.innocent = "The last steps of a model that has converged.",
	.needs = "nothing was added in place to a tensor in half precision by a recorded call",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_BLEND) | WTI_CALLEE_SET(WTI_CALLEE_ADD_IN_PLACE) |
		   WTI_CALLEE_SET(WTI_CALLEE_SUBTRACT_IN_PLACE),
	.keeps = {{WTI_PER_LINE, sizeof(struct additions)}},
	.see = see_addition,
	.thresholds =
		{[ADDITIONS] = {"additions", 2, "a single small update is harmless"},
		 [SHARE] = {"share", 1.0 / 3,
			    "of the additions of a line, which may be those of all parameters: "
			    "some of them have small gradients in any run"}},
};
