/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a step is made of: the backward passes since the one before. Occasions are a step after
 * several passes of one line (micro-batches), whose losses are parts of one mean, and the clearing
 * of gradients after a pass, which a step should have used by then.
 */
#include "inspect/learn/relation.h"
#include "inspect/training/window.h"
#include "relations.h"

/* clang-format off */
enum term {
	/* subjects */
	MICROBATCH_LOSS, MICROBATCH, BACKWARD_PASS,
	/* facts */
	IS_PART_OF_MEAN, HAS_AS_MANY_TARGETS, IS_USED_BY_STEP,
};

static const struct wti_term terms[] = {
	[MICROBATCH_LOSS] = {"microbatch_loss", "loss of a micro-batch"},
	[MICROBATCH] = {"microbatch", "micro-batch"},
	[BACKWARD_PASS] = {"backward_pass", "backward pass"},
	[IS_PART_OF_MEAN] = {"is_part_of_mean", "is a part of the mean"},
	[HAS_AS_MANY_TARGETS] = {"has_as_many_targets", "has as many targets as the others"},
	[IS_USED_BY_STEP] = {"is_used_by_step", "is used by a step", WTI_TOPIC_OPTIMIZER_STEP},
	{0},
};
/* clang-format on */

enum memory { WINDOWS, PASSES };

struct passes {                /* since the last step or clearing, and all */
	uint64_t unused_count; /* by any optimizer */
	uint64_t count;        /* since gradients were cleared */
};

static void report_window(struct wti_scene *scene, const struct wti_moment *moment,
			  const struct wti_window *window)
{
	if (window->known_count == window->count) {
		wti_occasion_of_term(scene, &wti_relation_parts, moment, MICROBATCH_LOSS,
				     WTI_NO_TERM);
		if (window->mean_count < window->count)
			wti_say_term(scene, IS_PART_OF_MEAN);
		wti_report(scene);
	}
	if (window->weighed_count == window->count) {
		wti_occasion_of_term(scene, &wti_relation_parts, moment, MICROBATCH, WTI_NO_TERM);
		if (window->largest <= 2 * window->smallest)
			wti_say_term(scene, HAS_AS_MANY_TARGETS);
		wti_report(scene);
	}
}

/* Whether what a pass gave was used is known when it is thrown away. */
static void see_passes(struct wti_scene *scene, struct passes *passes,
		       const struct wti_moment *moment)
{
	switch (moment->type) {
	case WTI_MOMENT_BACKWARD:
		if (moment->parent && moment->parent->tag == WTI_MOMENT_STEP)
			break; /* a closure: the step is there already */
		passes->unused_count++;
		passes->count++;
		break;
	case WTI_MOMENT_STEP:
		passes->unused_count = 0;
		break;
	default:
		if (passes->count) {
			wti_occasion_of_term(scene, &wti_relation_parts, moment, BACKWARD_PASS,
					     WTI_NO_TERM);
			if (!passes->unused_count)
				wti_say_term(scene, IS_USED_BY_STEP);
			wti_report(scene);
		}
		*passes = (struct passes){0};
	}
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	struct passes *passes = wti_recall(scene, PASSES, moment);
	struct wti_window *window = wti_recall(scene, WINDOWS, moment);

	if (passes && moment->type & (WTI_MOMENT_BACKWARD | WTI_MOMENT_STEP | WTI_MOMENT_ZERO_GRAD))
		see_passes(scene, passes, moment);
	if (moment->type == WTI_MOMENT_STEP)
		return;
	if (!window || !wti_window_see(window, moment))
		return;
	if (wti_window_is_accumulation(window))
		report_window(scene, moment, window);
	wti_window_begin(window);
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	if (words->subject_term[0] == BACKWARD_PASS)
		wti_buf_printf(out, "each %s %s before gradients are cleared", words->subject[0],
			       words->a);
	else
		wti_buf_printf(out, "of the backward passes of one step, each %s %s",
			       words->subject[0], words->a);
}

const struct wti_relation wti_relation_parts = {
	.name = "parts",
	.code = "WT-LEARN-PARTS",
	.title = "a step does not use what its backward passes computed",
	.definition = "hypothesis: where a step follows several backward passes of one line, each "
		      "loss is a part of a mean (divided, "
		      "or a sum) rather than a mean of its own, and each mean goes over about as "
		      "many targets as the others, "
		      "within a factor of two; what a backward pass gives is used by a step before "
		      "gradients are cleared. For "
		      "and against: each such step; each clearing after a backward pass.",
	.means = "micro-batches are weighted wrongly, or gradients are thrown away",
	.hint = "look at how the loss of a micro-batch is divided, and at where gradients are "
		"cleared",
	.innocent = "losses that are meant to be added up; steps that a loss scaler skips",
	.needs = "no step after several backward passes of one line, and no clearing after one",
	.measures =
		WTI_NEEDS_LOSSES | WTI_NEEDS_OPTIMIZER | WTI_NEEDS_ARGUMENTS | WTI_NEEDS_TENSORS,
	.moments = WTI_WINDOW_MOMENTS | WTI_MOMENT_STEP,
	.features = 1u << WTI_FEATURE_SCALER | 1u << WTI_FEATURE_OPTIMIZERS,
	.keeps = {[WINDOWS] = {WTI_PER_PROCESS, sizeof(struct wti_window)},
		  [PASSES] = {WTI_PER_PROCESS, sizeof(struct passes)}},
	.terms = terms,
	.see = see,
	.describe = describe,
	.kind_of = wti_kind_by_fact,
	.needs_all = true,
};
