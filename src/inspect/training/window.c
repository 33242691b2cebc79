/* SPDX-License-Identifier: Apache-2.0 */
/* The backward() calls of a step, put together. */
#include "window.h"

void wti_window_begin(struct wti_window *window)
{
	window->site = 0;
	window->count = window->known_count = window->mean_count = window->weighed_count = 0;
	window->is_mixed = window->is_rescaled = window->has_loss = false;
	window->input_count = 0;
	window->has_new_input = window->is_shared = false;
	window->smallest = window->largest = 0;
}

/* How many elements a mean goes over; those to ignore are known only where they are zeros. */
static void note_loss(struct wti_window *window, const struct wti_moment *moment)
{
	const struct wti_value_row *target = wti_call_tensor(moment->call, false, 1);
	bool is_classes = moment->call->what == WTI_CALLEE_CROSS_ENTROPY ||
			  moment->call->what == WTI_CALLEE_NLL;

	if (!is_classes && moment->call->what != WTI_CALLEE_DISTANCE &&
	    moment->call->what != WTI_CALLEE_BINARY)
		return;
	window->has_loss = false;
	if (!target || target->digest.flags & WT_TENSOR_NO_STATISTICS)
		return;
	window->elements = (double)target->digest.count;
	if (is_classes && wti_ignored_class(moment) == 0)
		window->elements -= (double)target->digest.zeros;
	window->has_loss =
		window->lineage.count &&
		window->lineage.scalars[(window->lineage.count - 1) % WTI_LINEAGE_MAX].is_mean;
}

/* What a model is called with, if it was not called with it before in this window. */
static void note_input(struct wti_window *window, const struct wti_call *call)
{
	const struct wti_value_row *input = wti_call_tensor(call, false, 0);

	if (!wti_is_model_call(call) || !input)
		return;
	if (input->digest.flags & WT_TENSOR_NO_HASH) {
		window->has_new_input = true; /* it may be one */
		return;
	}
	for (uint32_t i = 0; i < window->input_count && i < WTI_WINDOW_INPUTS_MAX; i++)
		if (window->inputs[i] == input->digest.hash)
			return;
	window->inputs[window->input_count++ % WTI_WINDOW_INPUTS_MAX] = input->digest.hash;
	window->has_new_input = true;
}

static void note_backward(struct wti_window *window, const struct wti_moment *moment)
{
	const struct wti_digest_row *loss = wti_backward_loss(moment->call);
	const struct wti_scalar *from =
		loss ? wti_lineage_find(&window->lineage, loss->hash) : NULL;

	if (window->count++ && window->site != moment->call->site)
		window->is_mixed = true;
	if (moment->parent && moment->parent->tag == WTI_MOMENT_STEP)
		window->is_mixed = true; /* a closure: one evaluation of the loss after another */
	window->site = moment->call->site;
	window->is_shared |= window->input_count && !window->has_new_input;
	window->has_new_input = false;
	window->is_rescaled = false;
	window->known_count += from != NULL;
	window->mean_count += from && from->is_mean;
	if (window->has_loss && window->elements > 0) {
		if (!window->weighed_count++ || window->elements < window->smallest)
			window->smallest = window->elements;
		if (window->elements > window->largest)
			window->largest = window->elements;
	}
	window->has_loss = false;
}

bool wti_window_see(struct wti_window *window, const struct wti_moment *moment)
{
	if (moment->type == WTI_MOMENT_STEPPED)
		return true;
	if (moment->type == WTI_MOMENT_BACKWARD) {
		note_backward(window, moment);
	} else if (moment->type == WTI_MOMENT_ZERO_GRAD) {
		wti_window_begin(window); /* what was added up is gone */
	} else {
		wti_lineage_call(&window->lineage, moment);
		note_loss(window, moment);
		note_input(window, moment->call);
		window->is_rescaled |= moment->call->what == WTI_CALLEE_SCALE_IN_PLACE;
	}
	return false;
}

bool wti_window_is_accumulation(const struct wti_window *window)
{
	return window->count >= 2 && !window->is_mixed && !window->is_rescaled &&
	       !window->is_shared;
}
