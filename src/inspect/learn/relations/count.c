/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts: steps, batches and samples of an epoch, and of a run. An epoch is held against the one
 * before; the figures themselves against those of other runs.
 */
#include <string.h>

#include "inspect/learn/relation.h"
#include "relations.h"

/* clang-format off */
enum term {
	/* subjects */
	EPOCH, RUN,
	/* facts */
	STEPS, BATCHES, SAMPLES, EPOCHS, EPOCH_BEFORE,
};

static const struct wti_term terms[] = {
	[EPOCH] = {"epoch", "epoch"},
	[RUN] = {"run", "run"},
	[STEPS] = {"steps", "steps"},
	[BATCHES] = {"batches", "batches"},
	[SAMPLES] = {"samples", "samples"},
	[EPOCHS] = {"epochs", "epochs"},
	[EPOCH_BEFORE] = {"epoch_before", "those of the epoch before"},
	{0},
};
/* clang-format on */

/* What is counted: the terms from STEPS on. */
enum { COUNTED = SAMPLES - STEPS + 1 };
enum memory { FLOWS };

struct flow { /* of a process */
	int64_t epoch;
	bool has_epoch, has_before;
	uint64_t now[COUNTED], before[COUNTED], all[COUNTED];
	uint64_t epochs;
	/* What a loader has given and no model was given yet: a batch is fetched before it is known
	 * what for. */
	uint64_t waiting_batches, waiting_samples;
	struct wti_moment moment;
};

static uint32_t word(struct wti_scene *scene, int term)
{
	return wti_term(scene, &wti_relation_count, term);
}

static void end_epoch(struct wti_scene *scene, struct flow *flow)
{
	wti_occasion_of_term(scene, &wti_relation_count, &flow->moment, EPOCH, WTI_NO_TERM);
	for (int i = 0; i < COUNTED; i++) {
		if (!flow->now[i])
			continue;
		wti_measure(scene, word(scene, STEPS + i), (double)flow->now[i]);
		if (flow->has_before && flow->now[i] == flow->before[i])
			wti_say(scene, WTI_FORM_SAME, word(scene, STEPS + i),
				word(scene, EPOCH_BEFORE));
	}
	wti_occasion_flag(scene, WTI_FEATURE_FIRST, !flow->has_before);
	wti_report(scene);
	for (int i = 0; i < COUNTED; i++) {
		flow->before[i] = flow->now[i];
		flow->now[i] = 0;
	}
	flow->has_before = true;
	flow->epochs++;
}

/* A loader is also called to begin. */
static bool is_batch(const struct wti_scene *scene, const struct wti_call *call)
{
	return call && !call->exception &&
	       !strstr(wti_symbol_text(scene->symbols, call->callee), ".__iter__");
}

static uint64_t samples_of(struct wti_scene *scene, const struct wti_call *call)
{
	const struct wti_value_row *batch = call ? wti_call_tensor(call, true, 0) : NULL;
	int64_t first =
		batch ? wti_shape_first(wti_symbol_text(scene->symbols, batch->digest.shape)) : -1;

	return first > 0 ? (uint64_t)first : 0;
}

static void add(struct flow *flow, enum term what, uint64_t number)
{
	flow->now[what - STEPS] += number;
	flow->all[what - STEPS] += number;
}

static void settle(struct flow *flow, const struct wti_moment *moment)
{
	if (!wti_stage_is(moment, "eval")) {
		add(flow, BATCHES, flow->waiting_batches);
		add(flow, SAMPLES, flow->waiting_samples);
	}
	flow->waiting_batches = flow->waiting_samples = 0;
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	struct flow *flow = wti_recall(scene, FLOWS, moment);

	if (!flow)
		return;
	if (moment->scope.epoch >= 0 && (!flow->has_epoch || flow->epoch != moment->scope.epoch)) {
		if (flow->has_epoch)
			end_epoch(scene, flow);
		flow->has_epoch = true;
		flow->epoch = moment->scope.epoch;
	}
	flow->moment = *moment;
	flow->moment.parent = NULL;
	flow->moment.call = NULL;
	flow->moment.event = NULL;
	if (moment->type == WTI_MOMENT_STEPPED)
		add(flow, STEPS, 1);
	if (moment->type != WTI_MOMENT_BATCH) {
		settle(flow, moment);
		return;
	}
	if (!is_batch(scene, moment->call))
		return;
	flow->waiting_batches++;
	flow->waiting_samples += samples_of(scene, moment->call);
}

/* The last epoch may be cut off by a budget of steps: it counts for the run alone. */
static void finish(struct wti_scene *scene, void *opaque)
{
	for (size_t i = 0; i < scene->training->processes.count; i++) {
		struct flow *flow = wti_recall_of_process(scene, FLOWS, i);

		if (!flow || !flow->all[0])
			continue; /* no step was taken */
		wti_occasion_of_term(scene, &wti_relation_count, &flow->moment, RUN, WTI_NO_TERM);
		for (int j = 0; j < COUNTED; j++)
			if (flow->all[j])
				wti_measure(scene, word(scene, STEPS + j), (double)flow->all[j]);
		if (flow->epochs)
			wti_measure(scene, word(scene, EPOCHS), (double)flow->epochs + 1);
		wti_report(scene);
	}
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	const char *article = words->subject_term[0] == EPOCH ? "an" : "a";

	if (words->form == WTI_FORM_SAME)
		wti_buf_printf(out, "an epoch has as many %s as the one before", words->a);
	else if (words->low == words->high)
		wti_buf_printf(out, "%s %s has %.0f %s", article, words->subject[0], words->low,
			       words->a);
	else
		wti_buf_printf(out, "%s %s has %.0f to %.0f %s", article, words->subject[0],
			       words->low, words->high, words->a);
}

const struct wti_relation wti_relation_count = {
	.name = "count",
	.code = "WT-LEARN-COUNT",
	.title = "a different number of steps, batches or samples",
	.definition = "hypothesis: an epoch has as many steps, batches or samples as the one "
		      "before; an epoch or a run has "
		      "so many of them as all runs that were learned from. For and against: each "
		      "epoch that ended; "
		      "each run.",
	.means = "training stops early, goes on too long, or leaves data out",
	.hint = "look at how the number of steps is computed, and at the loader and its sampler",
	.innocent = "another length of training, on purpose",
	.needs = "no epoch ended, or no step was taken",
	.measures = WTI_NEEDS_DATA,
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_STEPPED | WTI_MOMENT_BATCH,
	.features = WTI_FEATURES_OF_LOOPS,
	.keeps = {[FLOWS] = {WTI_PER_PROCESS, sizeof(struct flow)}},
	.terms = terms,
	.see = see,
	.finish = finish,
	.describe = describe,
	.kind_of = wti_kind_by_fact,
	.needs_all = true,
	.is_of_values = true,
};
