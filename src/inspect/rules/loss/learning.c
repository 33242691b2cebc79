/* SPDX-License-Identifier: Apache-2.0 */
/* Notes about the outcome: what a trace shows of whether anything was learned. */
#include <math.h>
#include <stdio.h>

#include "inspect/judge/rule.h"
#include "inspect/training/shape.h"
#include "inspect/training/slots.h"

static void release_slots(void *state)
{
	wti_slots_release(state);
}

/* ---- WT-LEARN-001: no better than guessing -------------------------------------------------- */

enum { LAST_LOSSES = 20, CALLS_TO_JUDGE = 60 };
static const double share_of_guessing = 0.98;

/* Of a line with a cross entropy: the last losses, a ring. */
struct guessing {
	double losses[LAST_LOSSES];
	uint64_t count;
	uint64_t classes;
	uint32_t callee;
	size_t stream;
};

static void see_loss(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	const struct wti_value_row *input, *loss;
	struct guessing *guessing;
	struct wti_shape shape;

	if (call->what != WTI_CALLEE_CROSS_ENTROPY || !wti_stage_is(moment, "train"))
		return;
	input = wti_call_tensor(call, false, 0);
	loss = wti_call_tensor(call, true, 0);
	if (!input || !loss || loss->digest.count != 1 ||
	    loss->digest.flags & WTI_TENSOR_NO_STATISTICS)
		return;
	shape = wti_shape_read(wti_moment_text(moment, input->digest.shape));
	guessing = wti_slot(state, wti_line_of(call), sizeof(*guessing));
	if (!guessing || shape.rank < 2 || shape.extents[1] < 2)
		return;
	guessing->losses[guessing->count++ % LAST_LOSSES] = loss->digest.mean;
	guessing->classes = shape.extents[1];
	guessing->callee = call->callee;
	guessing->stream = call->stream;
}

static double mean_of_last(const struct guessing *guessing)
{
	double sum = 0;

	for (size_t i = 0; i < LAST_LOSSES; i++)
		sum += guessing->losses[i];
	return sum / LAST_LOSSES;
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

static void finish_loss(struct wti_case *account, void *state, const struct wti_training *training)
{
	struct wti_slots *slots = state;

	for (size_t i = 0; i < slots->count; i++) {
		const struct guessing *guessing =
			wti_slot(slots, slots->index.entries[i].key, sizeof(*guessing));
		double limit = log((double)guessing->classes), mean = mean_of_last(guessing);
		struct wti_moment moment;
		char frozen[256];

		if (guessing->count < CALLS_TO_JUDGE)
			continue;
		say_frozen(frozen, sizeof(frozen), training, guessing->stream);
		moment = wti_moment_of_end(training, guessing->stream);
		if (mean < share_of_guessing * limit || mean > 4 * limit)
			wti_held(account); /* a sum is far above it */
		else
			wti_violated(account, &moment, guessing->callee,
				     "the mean of the last %d losses is %.4g; guessing among %llu "
				     "classes gives ln %llu = %.4g%s",
				     LAST_LOSSES, mean, (unsigned long long)guessing->classes,
				     (unsigned long long)guessing->classes, limit, frozen);
	}
}

const struct wti_rule wti_rule_learn_001 = {
	.code = "WT-LEARN-001",
	.severity = WT_NOTE,
	.title = "the model has not learned more than to guess",
	.means = "the cross entropy is still what equal chances for all classes give",
	.hint = "look at the learning rate, at what is frozen, at whether labels belong to their "
		"rows, and at a few predictions",
	.definition = "After sixty or more losses of one line the mean of the last twenty is below "
		      "0.98 ln C. A case is a line with a cross entropy over C classes.",
	.innocent = "Targets that cannot be predicted, and runs that have only begun.",
	.needs = "no line computed sixty cross entropies in training",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_loss,
	.conclude = finish_loss,
	.release = release_slots,
};
