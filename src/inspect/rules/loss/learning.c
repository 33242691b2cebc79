/* SPDX-License-Identifier: Apache-2.0 */
/* Notes about the outcome: what a trace shows of whether anything was learned. */
#include <math.h>
#include <stdio.h>

#include "inspect/judge/rule.h"
#include "inspect/training/shape.h"

/* ---- WT-LEARN-001: no better than guessing -------------------------------------------------- */

enum { CALLS, SHARE, SUM };
enum { LOSSES_MAX = 20 };

/* Of a line with a cross entropy: the last losses, a ring. */
struct guessing {
	double losses[LOSSES_MAX];
	uint64_t count;
	uint64_t classes;
	uint32_t callee;
};

static enum wti_answer see_loss(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *input = wti_call_tensor(call, false, 0);
	const struct wti_value_row *loss = wti_call_tensor(call, true, 0);
	struct guessing *guessing = kept;
	struct wti_shape shape;

	if (!wti_stage_is(moment, "train") || !input || !wti_value_is_measured(loss) ||
	    loss->digest.count != 1)
		return WTI_RULE_NO_CASE;
	shape = wti_shape_read(wti_moment_text(moment, input->digest.shape));
	if (shape.rank < 2 || shape.extents[1] < 2)
		return WTI_RULE_NO_CASE;
	guessing->losses[guessing->count++ % LOSSES_MAX] = loss->digest.mean;
	guessing->classes = shape.extents[1];
	guessing->callee = call->callee;
	return WTI_RULE_NO_CASE;
}

static int count_of_last(const struct guessing *guessing)
{
	return guessing->count < LOSSES_MAX ? (int)guessing->count : LOSSES_MAX;
}

static double mean_of_last(const struct guessing *guessing)
{
	int count = count_of_last(guessing);
	double sum = 0;

	for (int i = 0; i < count; i++)
		sum += guessing->losses[i];
	return sum / count;
}

struct shares {
	uint32_t trained, frozen;
	const struct wti_parameter *example; /* a frozen one */
};

/* Of the models of which an optimizer trains a part. */
static struct shares shares_of(const struct wti_training *training, size_t stream)
{
	struct shares shares = {0};
	struct wti_map owners;

	wti_map_init(&owners, training->parameters.count + 1);
	for (size_t i = 0; i < training->parameters.count; i++)
		if (wti_parameter_at(training, i)->step_count)
			wti_map_number(&owners, wti_parameter_at(training, i)->owner);
	for (size_t i = 0; i < training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(training, i);

		if (parameter->stream != stream || parameter->is_buffer || !parameter->is_member ||
		    !wti_map_find_number(&owners, parameter->owner))
			continue;
		if (parameter->requires_grad) {
			shares.trained += parameter->step_count > 0;
			continue;
		}
		shares.frozen++;
		if (!shares.example)
			shares.example = parameter;
	}
	wti_map_release(&owners);
	return shares;
}

/* What is frozen by mistake learns nothing either; frozen on purpose, it was good before. */
static void say_frozen(char *text, size_t bytes, const struct wti_training *training, size_t stream)
{
	struct shares shares = shares_of(training, stream);

	text[0] = '\0';
	if (shares.frozen)
		snprintf(text, bytes,
			 "; only %u of %u parameters are trained, the others are frozen "
			 "(requires_grad=False), such as %s",
			 shares.trained, shares.trained + shares.frozen,
			 wti_symbol_text(training->symbols, shares.example->name));
}

static enum wti_answer finish_loss(struct wti_case *account, void *kept,
				   const struct wti_moment *end)
{
	const struct guessing *guessing = kept;
	double limit, mean;
	char frozen[256];

	if (!guessing->count || guessing->count < wti_threshold(account, CALLS))
		return WTI_RULE_NO_CASE;
	limit = log((double)guessing->classes);
	mean = mean_of_last(guessing);
	if (mean < wti_threshold_real(account, SHARE) * limit ||
	    mean > wti_threshold_real(account, SUM) * limit)
		return WTI_RULE_HELD;
	say_frozen(frozen, sizeof(frozen), end->training, end->process->stream);
	return wti_violated(account, end, guessing->callee,
			    "the mean of the last %d losses is %.4g; guessing among %llu "
			    "classes gives ln %llu = %.4g%s",
			    count_of_last(guessing), mean, (unsigned long long)guessing->classes,
			    (unsigned long long)guessing->classes, limit, frozen);
}

const struct wti_rule wti_rule_learn_001 = {
	.code = "WT-LEARN-001",
	.severity = WT_NOTE,
	.title = "the model does no better than guessing",
	.means = "the cross entropy is still that of equal probabilities for all classes",
	.hint = "look at the learning rate, at what is frozen, at whether labels belong to their "
		"rows, and at a few predictions",
	.definition = "After sixty or more losses of one line the mean of the last twenty is below "
		      "`share` of ln C. A case is a line with a cross entropy over C classes.",
	.innocent = "Targets that cannot be predicted, and runs that have only begun.",
	.needs = "no line computed sixty cross entropies in training",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_CROSS_ENTROPY),
	.keeps = {{WTI_PER_LINE, sizeof(struct guessing)}},
	.see = see_loss,
	.finish = finish_loss,
	.thresholds = {{"calls", 60, "earlier, a slow beginning looks the same"},
		       {"share", 0.98,
			"the loss of equal probabilities varies by that much from batch to batch"},
		       {"sum", 4,
			"times ln C: above it, the loss is a sum of several losses, or has grown"}},
};
