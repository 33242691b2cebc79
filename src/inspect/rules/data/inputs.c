/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what models are given: in evaluation the same sort as in training, and not nothing.
 */
#include <math.h>

#include "inspect/judge/rule.h"
#include "inspect/training/dtype.h"
#include "inspect/training/slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

/* The first input of a model that is called by itself; NULL: not measured. */
static const struct wti_digest_row *input_of(const struct wti_moment *moment)
{
	const struct wti_value_row *input;

	if (!moment->object || !(moment->call->flags & WTI_CALL_OUTERMOST) ||
	    !(moment->call->flags & WTI_CALL_SAYS_TRAINING) ||
	    moment->call->what != WTI_CALLEE_OTHER)
		return NULL;
	input = wti_call_tensor(moment->call, false, 0);
	if (!input || input->digest.flags & WTI_TENSOR_NO_STATISTICS || input->digest.count < 8)
		return NULL;
	return &input->digest;
}

static bool is_training(const struct wti_moment *moment)
{
	return moment->call->flags & WTI_CALL_TRAINING && moment->call->flags & WTI_CALL_GRAD;
}

/* ---- WT-INPUT-001: another range in evaluation ---------------------------------------------- */

enum { CALLS_TO_COMPARE = 4 };
static const double times_apart = 8;
/* Both together are as far apart as one of them with the number above. */
static const double times_narrower = 4, times_aside = 2;
enum { ELEMENTS_ASIDE = 64 };

struct range {
	uint32_t dtype;
	uint64_t calls;
	double count, mean, m2; /* over all training inputs */
};

static void add(struct range *range, const struct wti_digest_row *input)
{
	double count = (double)input->count, total = range->count + count;
	double delta = input->mean - range->mean;

	range->m2 += input->m2 + delta * delta * range->count * count / total;
	range->mean += delta * count / total;
	range->count = total;
	range->dtype = input->dtype;
	range->calls++;
}

/* A narrow band beside the middle: normalised twice. A few elements may lie there by chance. */
static bool is_aside(const struct wti_digest_row *input, double spread, double here, double shift)
{
	return input->count >= ELEMENTS_ASIDE && here * times_narrower < spread &&
	       shift > times_aside * spread;
}

static void judge_range(struct wti_case *account, const struct range *range,
			const struct wti_moment *moment, const struct wti_digest_row *input)
{
	double spread = sqrt(range->m2 / range->count);
	double here = sqrt(input->m2 / (double)input->count);
	double shift = fabs(input->mean - range->mean);

	if (wti_dtype_is_float(input->dtype) != wti_dtype_is_float(range->dtype))
		wti_violated(account, moment, moment->object->name,
			     "in training its input was %s, here it is %s",
			     wti_dtype_is_float(range->dtype) ? "of floating point" : "of integers",
			     wti_dtype_is_float(input->dtype) ? "of floating point"
							      : "of integers");
	else if (!wti_dtype_is_float(input->dtype) || spread == 0)
		return;
	else if (here > times_apart * spread || here * times_apart < spread ||
		 shift > times_apart * spread || is_aside(input, spread, here, shift))
		wti_violated(account, moment, moment->object->name,
			     "in training its input was %.3g +- %.3g, here it is %.3g +- %.3g",
			     range->mean, spread, input->mean, here);
	else
		wti_held(account);
}

static void see_range(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_digest_row *input = input_of(moment);
	struct range *range =
		input ? wti_slot_of_object(state, moment->object, sizeof(*range)) : NULL;

	if (!range)
		return;
	if (is_training(moment))
		add(range, input);
	else if (!(moment->call->flags & WTI_CALL_TRAINING) && range->calls >= CALLS_TO_COMPARE)
		judge_range(account, range, moment, input);
}

const struct wti_rule wti_rule_input_001 = {
	.code = "WT-INPUT-001",
	.severity = WT_WARNING,
	.title = "inputs in evaluation have another range than in training",
	.means = "a transform is missing on one side, such as the normalisation: the model is "
		 "evaluated on something that it has never seen",
	.hint = "use the same transforms for both; only augmentation belongs to training alone",
	.definition =
		"In evaluation mode, after four calls in training mode, the first input of a model "
		"has a spread between an eighth and eight times that of its training inputs, and "
		"a mean within eight times that spread; and of 64 elements or more not both less "
		"than a quarter of the spread and a mean more than twice the spread away. A case "
		"is a call in evaluation mode.",
	.innocent = "A test of how the model bears inputs of another kind.",
	.needs = "no model was called in both modes with measured inputs",
	.moments = WTI_MOMENT_MODULE,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_range,
	.release = release_slots,
};

/* ---- WT-INPUT-002: zeros appear ------------------------------------------------------------- */

enum { CALLS_WITHOUT = 8, CALLS_WITH = 2 };

struct zeros {
	uint64_t without; /* calls with hardly any */
	uint32_t with;    /* calls in a row with many */
};

static void see_zeros(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_digest_row *input = input_of(moment);
	struct zeros *zeros;

	if (!input || !is_training(moment) || !wti_dtype_is_float(input->dtype))
		return;
	zeros = wti_slot_of_object(state, moment->object, sizeof(*zeros));
	if (!zeros)
		return;
	if (input->zeros * 100 <= input->count) {
		zeros->without++;
		zeros->with = 0;
		wti_held(account);
	} else if (zeros->without < CALLS_WITHOUT || input->zeros * 4 < input->count) {
		zeros->without = zeros->with = 0;
	} else if (++zeros->with >= CALLS_WITH) {
		wti_violated(account, moment, moment->object->name,
			     "%llu of %llu elements of its input are zero; there were hardly any "
			     "in the first %llu calls",
			     (unsigned long long)input->zeros, (unsigned long long)input->count,
			     (unsigned long long)zeros->without);
	}
}

const struct wti_rule wti_rule_input_002 = {
	.code = "WT-INPUT-002",
	.severity = WT_WARNING,
	.title = "a large part of the model's input has become zero",
	.means = "from here on it trains on padding: rows are missing, or whoever sends them and "
		 "whoever receives them do not agree on how many there are",
	.hint = "look at where the input comes from, and at what changed in this step",
	.definition =
		"If in eight or more calls in training at most one in a hundred elements of a "
		"model's first input was zero, it does not happen that in two calls in a row one "
		"in four is. A case is a call with hardly any zeros.",
	.innocent = "A curriculum that begins to mask or pad its inputs.",
	.needs = "no model was called in training with measured inputs without zeros",
	.moments = WTI_MOMENT_MODULE,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_zeros,
	.release = release_slots,
};

/* ---- WT-INPUT-003: made integers, nothing is left ------------------------------------------- */

struct collapsed {
	struct wti_slots lines;  /* uint32_t, how often in a row */
	struct wti_slots tracks; /* struct entering */
};

static void release_collapsed(void *state)
{
	struct collapsed *collapsed = state;

	wti_slots_release(&collapsed->lines);
	wti_slots_release(&collapsed->tracks);
}

/* Of a track: the input of the model that is being called, until its first layer is. */
struct entering {
	bool is_waiting;
	uint64_t count, zeros;
	double min, max;
	uint32_t streak;
};

static bool is_lost(uint64_t zeros_before, uint64_t zeros_after, uint64_t count)
{
	return zeros_after * 10 >= count * 9 && zeros_before * 10 <= count;
}

/* What a model does with its input before it comes to its first layer. */
static void see_layer(struct wti_case *account, struct wti_slots *slots,
		      const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *input = wti_call_tensor(call, false, 0);
	struct entering *entering =
		wti_slot(slots, (uint64_t)call->stream << 32 | call->track, sizeof(*entering));

	if (!entering || !input || input->digest.flags & WTI_TENSOR_NO_STATISTICS)
		return;
	if (call->flags & WTI_CALL_OUTERMOST) {
		*entering = (struct entering){true,
					      input->digest.count,
					      input->digest.zeros,
					      input->digest.min,
					      input->digest.max,
					      entering->streak};
		return;
	}
	if (!entering->is_waiting || entering->count < 16)
		return;
	entering->is_waiting = false;
	if (input->digest.count != entering->count)
		return;
	if (!is_lost(entering->zeros, input->digest.zeros, input->digest.count)) {
		entering->streak = 0;
		wti_held(account);
	} else if (++entering->streak >= 2) {
		wti_violated(account, moment, call->object,
			     "%llu of %llu elements that reach it are 0; in the model's input, "
			     "between %.3g and %.3g, %llu were",
			     (unsigned long long)input->digest.zeros,
			     (unsigned long long)input->digest.count, entering->min, entering->max,
			     (unsigned long long)entering->zeros);
	}
}

static void see_collapsed(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct collapsed *collapsed = state;
	const struct wti_call *call = moment->call;
	const struct wti_value_row *before, *after;
	uint32_t *streak;

	if (moment->type == WTI_MOMENT_MODULE) {
		see_layer(account, &collapsed->tracks, moment);
		return;
	}
	if (call->what != WTI_CALLEE_FLOOR)
		return;
	before = wti_call_tensor(call, false, 0);
	after = wti_call_tensor(call, true, 0);
	if (!before || !after || before->digest.count < 16 ||
	    (before->digest.flags | after->digest.flags) & WTI_TENSOR_NO_STATISTICS)
		return;
	streak = wti_slot(&collapsed->lines, wti_line_of(call), sizeof(*streak));
	if (!streak)
		return;
	if (!is_lost(before->digest.zeros, after->digest.zeros, after->digest.count)) {
		*streak = 0;
		wti_held(account);
	} else if (++*streak >= 2) {
		wti_violated(account, moment, call->callee,
			     "%llu of %llu elements became 0; before, they lay between %.3g and "
			     "%.3g, and %llu were 0",
			     (unsigned long long)after->digest.zeros,
			     (unsigned long long)after->digest.count, before->digest.min,
			     before->digest.max, (unsigned long long)before->digest.zeros);
	}
}

const struct wti_rule wti_rule_input_003 = {
	.code = "WT-INPUT-003",
	.severity = WT_WARNING,
	.title = "a division or a conversion to integers makes nearly everything zero",
	.means = "what was in the tensor is lost: // instead of /, or a conversion before scaling",
	.hint = "divide with /, and convert to floating point first",
	.definition =
		"A floor division or a conversion to integers does not make nine in ten elements "
		"of a tensor zero if at most one in ten was before; nor does a model, on the way "
		"from its input to its first layer. Two calls in a row are a violation. A case "
		"is such a call with 16 elements or more.",
	.innocent = "Finding rare events by dividing by a threshold.",
	.needs = "no floor division, conversion to integers or first layer was recorded",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_MODULE,
	.state_bytes = sizeof(struct collapsed),
	.watch = see_collapsed,
	.release = release_collapsed,
};
