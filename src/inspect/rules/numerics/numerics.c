/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about numbers: where NaN and infinity come from, and updates that rounding swallows. */
#include <math.h>
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/dtype.h"
#include "inspect/training/slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

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
};

static bool is_bad(const struct wti_digest_row *digest)
{
	return !(digest->flags & WTI_TENSOR_NO_STATISTICS) && (digest->nan || digest->inf);
}

/* Of masks minus infinity is a tool: NaN alone is never meant, infinity in a result is. */
static bool is_nan(const struct wti_digest_row *digest)
{
	return !(digest->flags & WTI_TENSOR_NO_STATISTICS) && digest->nan;
}

static const struct wti_value_row *bad_argument(const struct wti_call *call)
{
	for (uint32_t i = 0; i < call->value_count; i++)
		if (call->values[i].position >= 0 && call->values[i].type == WTI_VALUE_TENSOR &&
		    is_bad(&call->values[i].digest))
			return &call->values[i];
	return NULL;
}

/* What only makes a tensor, from memory as it is or from a number that was asked for. */
static bool only_makes(const struct wti_moment *moment)
{
	const char *callee = wti_moment_text(moment, moment->call->callee);

	return strstr(callee, "empty") || strstr(callee, "full") || strstr(callee, "resize") ||
	       !wti_call_tensor(moment->call, false, 0);
}

static const struct wti_value_row *nan_return(const struct wti_call *call)
{
	for (uint32_t i = 0; i < call->value_count; i++)
		if (call->values[i].position < 0 && call->values[i].type == WTI_VALUE_TENSOR &&
		    is_nan(&call->values[i].digest))
			return &call->values[i];
	return NULL;
}

static void tell_origin(struct wti_case *account, struct origin *origin, struct wti_moment moment)
{
	origin->is_found = true;
	moment.scope = origin->scope;
	moment.call = &origin->call;
	wti_violated(
		account, &moment, origin->call.callee,
		"it returned %llu NaN among %llu elements, and none of its arguments had NaN or "
		"infinity",
		(unsigned long long)origin->nan, (unsigned long long)origin->count);
}

static bool is_waiting(const struct origin *origin, const struct wti_moment *moment)
{
	return origin->is_waiting && origin->scope.step == moment->scope.step;
}

/* The call around the one that waits has returned NaN as well. */
static bool is_passed_on(const struct origin *origin, const struct wti_moment *moment)
{
	return is_waiting(origin, moment) && moment->call->track == origin->call.track &&
	       moment->call->depth + 1 == origin->call.depth && nan_return(moment->call);
}

static void see_call(struct wti_case *account, struct origin *origin,
		     const struct wti_moment *moment)
{
	const struct wti_value_row *result;

	if (is_passed_on(origin, moment)) {
		tell_origin(account, origin, *moment);
		return;
	}
	if (!wti_call_tensor(moment->call, true, 0) || only_makes(moment))
		return;
	result = nan_return(moment->call);
	if (!result || bad_argument(moment->call)) {
		wti_held(account);
		return;
	}
	if (is_waiting(origin, moment))
		return;
	*origin = (struct origin){.is_waiting = true,
				  .scope = moment->scope,
				  .call = *moment->call,
				  .nan = result->digest.nan,
				  .count = result->digest.count};
	origin->call.values = NULL;
	origin->call.value_count = 0;
	if (!moment->parent)
		tell_origin(account, origin, *moment);
}

static void see_nan(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct origin *origin = wti_slot(state, moment->process->stream, sizeof(*origin));

	if (!origin || origin->is_found)
		return; /* what comes later follows from it */
	if (moment->type == WTI_MOMENT_CALL) {
		see_call(account, origin, moment);
	} else if (moment->type == WTI_MOMENT_LOSS) {
		if (!isnan(moment->number)) {
			wti_held(account);
			return;
		}
		if (is_waiting(origin, moment)) {
			tell_origin(account, origin, *moment);
			return;
		}
		origin->is_found = true;
		wti_violated(account, moment, 0, "the loss is NaN");
	} else if (is_nan(&moment->digest) && is_waiting(origin, moment)) {
		tell_origin(account, origin, *moment);
	} else if (is_nan(&moment->digest)) {
		origin->is_found = true;
		wti_violated(account, moment, moment->attribute, "%llu of %llu elements are NaN",
			     (unsigned long long)moment->digest.nan,
			     (unsigned long long)moment->digest.count);
	}
}

const struct wti_rule wti_rule_num_001 = {
	.code = "WT-NUM-001",
	.severity = WT_ERROR,
	.title = "NaN appears",
	.means = "from here on every number that depends on it is NaN",
	.hint = "look at the arguments of this call: a logarithm or a division of 0, a square root "
		"of "
		"a negative number, an overflow in half precision",
	.definition =
		"No call returns NaN when none of its tensors had NaN or infinity; no loss, "
		"gradient, parameter or buffer is NaN. The first place counts; one inside of "
		"another call when the NaN is seen again in the same step, in what that call "
		"returns, a loss, a gradient or a state. A case is a call that takes and returns "
		"tensors, or a loss.",
	.innocent = "NaN that marks missing data on purpose.",
	.needs = "no call with tensors and no loss was recorded",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_LOSS | WTI_MOMENT_TENSOR,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_nan,
	.release = release_slots,
};

/* ---- WT-NUM-002: rounded away --------------------------------------------------------------- */

enum { STEPS_TO_TELL = 3 };

/* In half precision, with a gradient, and yet unchanged. */
static void see_rounding(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;

	for (uint32_t i = 0; i < optimizer->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, optimizer, i);
		uint32_t *still = wti_slot_of_parameter(state, parameter, sizeof(*still));
		double lr;

		if (!still || !wti_dtype_is_half(parameter->dtype) ||
		    parameter->grad != WTI_GRAD_NONZERO ||
		    !wti_parameter_lr(moment->training, parameter, &lr) || lr <= 0)
			continue;
		*still = parameter->moved ? 0 : *still + 1;
		if (parameter->moved)
			wti_held(account);
		else if (*still >= STEPS_TO_TELL)
			wti_violated(
				account, moment, parameter->name,
				"%u steps in a row with a gradient and a learning rate of %g left "
				"it as it was",
				*still, lr);
	}
}

const struct wti_rule wti_rule_num_002 = {
	.code = "WT-NUM-002",
	.severity = WT_ERROR,
	.title = "updates are rounded away in half precision",
	.means = "learning rate times gradient is smaller than half the distance between two "
		 "numbers "
		 "of this type: the parameter stays where it is",
	.hint = "keep the parameters in float32 (autocast does), or let the optimizer have float32 "
		"masters of them",
	.definition =
		"A float16 or bfloat16 parameter with a gradient other than zero and a learning "
		"rate above zero changes at least once in three steps. A case is such a "
		"parameter in a step.",
	.innocent = "A model that has converged.",
	.needs = "no parameter in half precision was stepped with a gradient",
	.explains = (const char *const[]){"WT-OPT-001", NULL},
	.moments = WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_rounding,
	.release = release_slots,
};

/* ---- WT-NUM-003: outside of autocast -------------------------------------------------------- */

/* Of a module: whether it has a matrix of its own, looked up once. */
struct matrix {
	bool is_known;
	bool has_one;
};

static bool has_matrix(struct wti_slots *slots, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	struct matrix *matrix =
		wti_slot(slots, (uint64_t)call->stream << 32 | call->object, sizeof(*matrix));

	if (!matrix)
		return false;
	if (matrix->is_known)
		return matrix->has_one;
	matrix->is_known = true;
	for (size_t i = 0; i < moment->training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(moment->training, i);

		matrix->has_one |= parameter->stream == call->stream &&
				   parameter->module == call->object && !parameter->is_buffer &&
				   strchr(wti_moment_text(moment, parameter->shape), 'x');
	}
	return matrix->has_one;
}

static void see_autocast(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *input, *result;

	if (!(call->flags & WTI_CALL_AUTOCAST) || !call->object)
		return;
	input = wti_call_tensor(call, false, 0);
	result = wti_call_tensor(call, true, 0);
	if (!input || !result || !wti_dtype_is_half(input->digest.dtype) ||
	    !has_matrix(state, moment))
		return;
	if (result->digest.dtype == WT_DTYPE_F32 || result->digest.dtype == WT_DTYPE_F64)
		wti_violated(account, moment, call->object,
			     "its input is in half precision, autocast is on, and its result is "
			     "in %s",
			     result->digest.dtype == WT_DTYPE_F32 ? "float32" : "float64");
	else
		wti_held(account);
}

const struct wti_rule wti_rule_num_003 = {
	.code = "WT-NUM-003",
	.severity = WT_WARNING,
	.title = "a layer computes in full precision under autocast",
	.means = "the layer has an operator that autocast does not know, or converts its input: it "
		 "is slower, takes more memory, and what follows differs in type",
	.hint = "let the operator join in: torch.cuda.amp.custom_fwd(cast_inputs=...), or convert "
		"its arguments",
	.definition =
		"A module with a matrix among its own parameters that is called under autocast "
		"with an input in half precision returns half precision. A case is such a call.",
	.innocent = "A last layer that is kept in float32 on purpose.",
	.needs =
		"no module with a matrix was called under autocast with an input in half precision",
	.moments = WTI_MOMENT_MODULE_END,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_autocast,
	.release = release_slots,
};

/* ---- WT-NUM-004: too small to be added ------------------------------------------------------ */

enum { ADDITIONS_TO_TELL = 2 };

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

static bool is_addition(const struct wti_call *call)
{
	return call->is_in_place &&
	       (call->what == WTI_CALLEE_BLEND || call->what == WTI_CALLEE_SUBTRACT_IN_PLACE);
}

static void see_addition(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *to, *what;
	double alpha = 1, added, least;
	struct additions *additions;

	if (!is_addition(call))
		return;
	to = wti_call_tensor(call, false, 0);
	what = wti_call_tensor(call, false, 1);
	if (!to || !what || !wti_dtype_is_half(to->digest.dtype) || to->digest.count < 2 ||
	    what->digest.count != to->digest.count ||
	    (to->digest.flags | what->digest.flags) & WTI_TENSOR_NO_STATISTICS)
		return;
	wti_call_as_number(call, wti_symbol_word(moment->training->symbols, "alpha"), -2, &alpha);
	added = fabs(alpha) * root_mean_square(&what->digest);
	least = unit_of(to->digest.dtype) * root_mean_square(&to->digest);
	additions = wti_slot(state, wti_line_of(call), sizeof(*additions));
	if (!additions || added == 0)
		return;
	if (added >= least) {
		additions->kept++;
		wti_held(account);
	} else if (++additions->lost >= ADDITIONS_TO_TELL &&
		   additions->lost * 2 >= additions->kept) {
		wti_violated(account, moment, call->callee,
			     "numbers of about %.2g are added to numbers of about %.2g in %s, "
			     "whose neighbours are %.2g apart",
			     added, root_mean_square(&to->digest),
			     to->digest.dtype == WT_DTYPE_F16 ? "float16" : "bfloat16", least);
	}
}

const struct wti_rule wti_rule_num_004 = {
	.code = "WT-NUM-004",
	.severity = WT_WARNING,
	.title = "what is added in half precision is too small to be kept",
	.means = "most of the updates are rounded away: weights stay where they are, or move only "
		 "where a gradient is large",
	.hint = "keep masters of the weights in float32, and copy them over",
	.definition =
		"What is added in place to a float16 or bfloat16 tensor of its size has a root "
		"mean "
		"square of at least a unit of that of the tensor: of what is half as large, most "
		"is rounded away. Two such additions of a line, and a third of all its additions, "
		"are a violation. A case is such an addition.",
	.innocent = "The last steps of a model that has converged.",
	.needs = "nothing was added in place to a tensor in half precision by a recorded call",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_addition,
	.release = release_slots,
};
