/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about steps that are made of several backward() calls. */
#include "lineage.h"
#include "rule.h"
#include "slots.h"

enum { WINDOWS_TO_TELL = 2 };

static void release_slots(void *state)
{
	wti_slots_release(state);
}

/* ---- The backward() calls of a step --------------------------------------------------------- */

struct window {
	struct wti_lineage lineage;
	uint32_t site; /* of the calls; 0: not all from one line */
	uint32_t count, mean_count;
	bool is_mixed;
	bool is_rescaled; /* something was divided after the last of them */
	/* The last loss function since the backward() before. */
	bool has_loss;
	double elements;
	/* Over the window, of those with a loss function that takes the mean. */
	double smallest, largest;
	uint32_t weighed_count;
	uint32_t streak;
};

static void begin_window(struct window *window)
{
	window->site = 0;
	window->count = window->mean_count = window->weighed_count = 0;
	window->is_mixed = window->is_rescaled = window->has_loss = false;
	window->smallest = window->largest = 0;
}

/* How many elements a mean goes over; those to ignore are known only where they are zeros. */
static void note_loss(struct window *window, const struct wti_moment *moment)
{
	const struct wti_value_row *target = wti_call_tensor(moment->call, false, 1);
	double ignored = -100;
	bool is_classes = moment->call->what == WTI_CALLEE_CROSS_ENTROPY ||
			  moment->call->what == WTI_CALLEE_NLL;

	if (!is_classes && moment->call->what != WTI_CALLEE_DISTANCE &&
	    moment->call->what != WTI_CALLEE_BINARY)
		return;
	window->has_loss = false;
	if (!target || target->digest.flags & WTI_TENSOR_NO_STATISTICS)
		return;
	wti_call_as_number(moment->call, wti_symbol_word(moment->training->symbols, "ignore_index"),
			   -2, &ignored);
	window->elements = (double)target->digest.count;
	if (is_classes && ignored == 0)
		window->elements -= (double)target->digest.zeros;
	window->has_loss =
		window->lineage.count &&
		window->lineage.scalars[(window->lineage.count - 1) % WTI_LINEAGE_MAX].is_mean;
}

static void note_backward(struct window *window, const struct wti_moment *moment)
{
	const struct wti_digest_row *loss = wti_backward_loss(moment->call);
	const struct wti_scalar *from =
		loss ? wti_lineage_find(&window->lineage, loss->hash) : NULL;

	if (window->count++ && window->site != moment->call->site)
		window->is_mixed = true;
	if (moment->parent && moment->parent->tag == WTI_MOMENT_STEP)
		window->is_mixed = true; /* a closure: one evaluation of the loss after another */
	window->site = moment->call->site;
	window->is_rescaled = false;
	window->mean_count += from && from->is_mean;
	if (window->has_loss && window->elements > 0) {
		if (!window->weighed_count++ || window->elements < window->smallest)
			window->smallest = window->elements;
		if (window->elements > window->largest)
			window->largest = window->elements;
	}
	window->has_loss = false;
}

static struct window *see_window(struct wti_slots *slots, const struct wti_moment *moment)
{
	struct window *window = wti_slot(slots, moment->process->stream, sizeof(*window));

	if (!window || moment->type == WTI_MOMENT_STEPPED)
		return window;
	if (moment->type == WTI_MOMENT_BACKWARD) {
		note_backward(window, moment);
	} else if (moment->type == WTI_MOMENT_ZERO_GRAD) {
		begin_window(window); /* what was added up is gone */
	} else {
		wti_lineage_call(&window->lineage, moment);
		note_loss(window, moment);
		window->is_rescaled |= moment->call->what == WTI_CALLEE_SCALE_IN_PLACE;
	}
	return NULL;
}

/* Several calls from one line: parts of one batch. */
static bool is_accumulation(const struct window *window)
{
	return window->count >= 2 && !window->is_mixed && !window->is_rescaled;
}

/* ---- WT-ACC-001: summed where a mean was meant ---------------------------------------------- */

static void see_undivided(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct window *window = see_window(state, moment);

	if (!window)
		return;
	if (is_accumulation(window)) {
		if (window->mean_count < window->count) {
			window->streak = 0;
			wti_held(account);
		} else if (++window->streak >= WINDOWS_TO_TELL) {
			wti_violated(account, moment, moment->object->name,
				     "%u backward() calls of one line before the step, each on a "
				     "mean that was not divided",
				     window->count);
		}
	}
	begin_window(window);
}

const struct wti_rule wti_rule_acc_001 = {
	.code = "WT-ACC-001",
	.severity = WT_WARNING,
	.title = "losses of micro-batches are added up without being divided",
	.means = "the gradient is as many times larger as there are micro-batches: the effective "
		 "learning rate is not the one that was set",
	.hint = "divide the loss by the number of micro-batches before backward()",
	.definition =
		"If a step follows two or more backward() calls of the same line, the loss of at "
		"least one of them is not the immediate result of a mean (a loss function or "
		"mean()), or gradients are divided afterwards. Two steps in a row are a "
		"violation. A case is such a step.",
	.innocent = "A learning rate that was chosen for the sum; tasks whose losses are meant to "
		    "be added up.",
	.needs = "no step followed several backward() calls of one line with a recorded loss",
	.moments =
		WTI_MOMENT_CALL | WTI_MOMENT_BACKWARD | WTI_MOMENT_ZERO_GRAD | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.see = see_undivided,
	.release = release_slots,
};

/* ---- WT-ACC-002: of unequal weight ---------------------------------------------------------- */

static void see_unequal(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct window *window = see_window(state, moment);

	if (!window)
		return;
	if (is_accumulation(window) && window->weighed_count == window->count) {
		if (window->largest <= 2 * window->smallest) {
			window->streak = 0;
			wti_held(account);
		} else if (++window->streak >= WINDOWS_TO_TELL) {
			wti_violated(account, moment, moment->object->name,
				     "each of %u micro-batches was averaged by itself, over %.0f "
				     "to %.0f targets",
				     window->count, window->smallest, window->largest);
		}
	}
	begin_window(window);
}

const struct wti_rule wti_rule_acc_002 = {
	.code = "WT-ACC-002",
	.severity = WT_WARNING,
	.title = "micro-batches of very different size weigh the same",
	.means = "a target in a small micro-batch counts for many times one in a large one: the "
		 "mean of means is not the mean",
	.hint = "sum the losses (reduction=\"sum\") and divide by the number of targets in all "
		"micro-batches",
	.definition =
		"If a step follows two or more backward() calls of the same line, each on a loss "
		"function that takes the mean, the largest number of targets in one is at most "
		"twice the smallest. Ignored targets are left out where ignore_index is 0. Two "
		"steps in a row are a violation. A case is such a step.",
	.innocent = "The last batch of a loader may be small; that is one step in an epoch.",
	.needs = "no step followed several backward() calls of one line with known targets",
	.moments =
		WTI_MOMENT_CALL | WTI_MOMENT_BACKWARD | WTI_MOMENT_ZERO_GRAD | WTI_MOMENT_STEPPED,
	.state_bytes = sizeof(struct wti_slots),
	.see = see_unequal,
	.release = release_slots,
};
