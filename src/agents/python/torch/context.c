/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step, epoch and stage, derived from what happens, unless the program gives them itself.
 *
 * They belong to the process, not to the thread on which they were noticed: a thread that has
 * something to emit emits them first if they have changed since it last did.
 *
 * step: an optimizer that steps begins a new one if it has stepped in this one already. Several
 * that step in turn, as those of a GAN, so count as the one that steps most; those of phases that
 * follow one another, as of folds, add up: one that was made after the last step begins a step,
 * too. In a program without optimizers, a step is over when a model is called after a backward to
 * train it, when that which was trained is called at all, and when the program ends.
 *
 * epoch: how often the loader that feeds training has been begun before. One that was made since
 * the last epoch began, as by programs that make one for every epoch or fold, counts on from there.
 *
 * stage: training is where gradients are on and the model is in training mode, or where a backward
 * followed on a call in evaluation mode (fine-tuning with frozen statistics). Models that no
 * optimizer trains (a teacher, a target, an average) leave the stage as it is, unless they are fed
 * by another loader than training is.
 */
#include "own.h"

#include <string.h>

#include "common/text.h"
#include "threads.h"
#include "emit.h"

#define MICRO_BATCHES_MAX 64

/* ---- Records --------------------------------------------------------------------------------- */

void wti_context_emit(struct wt_name *key, uint32_t type, uint64_t value,
		      const struct wti_kept_text *kept)
{
	const struct wti_here here = wti_here();
	struct wti_record_context context;

	if (!here.ring)
		return;
	context = (struct wti_record_context){
		.key = wti_name(here, key), .type = type, .value = value};
	if (wti_emit_context(here, &context, kept))
		wti_threads_context(key, type, value, kept);
}

void wti_context_int(struct wt_name *key, int64_t value)
{
	wti_context_emit(key, WT_VALUE_TYPE_INT, (uint64_t)value, NULL);
}

void wti_context_float(struct wt_name *key, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	wti_context_emit(key, WT_VALUE_TYPE_FLOAT, bits, NULL);
}

void wti_context_text(struct wt_name *key, const char *text)
{
	struct wti_kept_text kept;

	if (!wti_here().ring)
		return;
	wti_keep_text(&kept, text);
	wti_context_emit(key, WT_VALUE_TYPE_TEXT, 0, &kept);
}

void wti_counter(struct wt_name *name, double value)
{
	const struct wti_here here = wti_here();

	if (here.ring)
		wti_emit_counter(here, &(struct wti_record_counter){.name = wti_name(here, name),
								    .value = value});
}

/* ---- The three ------------------------------------------------------------------------------- */

/* A change that this thread emits itself; what others changed before comes first. */
static void changes(void)
{
	wti_context_current();
	wti_python_thread.context_change = ++wti_python.context_change;
}

void wti_stage_set(const char *stage)
{
	if (wti_torch_state.is_stage_given ||
	    (wti_torch_state.stage && strcmp(wti_torch_state.stage, stage) == 0))
		return;
	changes();
	wti_torch_state.stage = stage;
	wti_context_text(WT_NAME("stage"), stage);
}

static void step_set(uint64_t step)
{
	wti_state_begin_step(step);
	if (wti_torch_state.is_step_given) {
		wti_torch_state.step = step;
		return;
	}
	changes();
	wti_torch_state.step = step;
	wti_context_int(WT_NAME("step"), (int64_t)step);
}

static void epoch_set(uint64_t epoch)
{
	const struct wti_live *newest;

	if (epoch == wti_torch_state.epoch)
		return;
	changes();
	newest = wti_live_next(NULL, WTI_LIVE_LOADER);
	wti_torch_state.seen.newest_loader = newest ? newest->order + 1 : 0;
	wti_torch_state.epoch = epoch;
	wti_context_int(WT_NAME("epoch"), (int64_t)epoch);
}

/* A child has a stream of its own, in which nothing is known yet. */
static void forget_parent(struct wti_here here)
{
	if (wti_python_thread.generation && here.ring &&
	    wti_python_thread.generation != here.slot->generation) {
		wti_known_forget();
		wti_pace_emit();
	}
	wti_python_thread.generation = here.ring ? here.slot->generation : 0;
}

void wti_context_catch_up(void)
{
	const struct wti_here here = wti_here();

	forget_parent(here);
	/* Where nothing that trains was imported there are no steps, not even a first. */
	if (!wti_torch_state.is_step_given && (wti_torch_state.stage || wti_torch_state.step))
		wti_context_int(WT_NAME("step"), (int64_t)wti_torch_state.step);
	if (wti_torch_state.epoch != UINT64_MAX)
		wti_context_int(WT_NAME("epoch"), (int64_t)wti_torch_state.epoch);
	if (wti_torch_state.stage && !wti_torch_state.is_stage_given)
		wti_context_text(WT_NAME("stage"), wti_torch_state.stage);
	wti_python_thread.context_change = wti_python.context_change;
}

/* ---- What happens ---------------------------------------------------------------------------- */

bool wti_context_begins_step(const struct wti_live *optimizer)
{
	if (!wti_torch_state.seen.has_stepped || optimizer->count == wti_torch_state.step)
		return true;
	return !optimizer->count && optimizer->how == WT_FOUND_MADE &&
	       optimizer->order > wti_torch_state.seen.newest;
}

bool wti_context_stepped(struct wti_live *optimizer)
{
	const struct wti_live *newest = wti_live_next(NULL, WTI_LIVE_OPTIMIZER);
	bool is_new = wti_context_begins_step(optimizer);

	wti_torch_state.seen.has_stepped = true;
	wti_torch_state.seen.is_backward_done = false;
	if (newest && newest->order > wti_torch_state.seen.newest)
		wti_torch_state.seen.newest = newest->order;
	if (is_new)
		step_set(wti_torch_state.step + 1);
	optimizer->count = wti_torch_state.step;
	return is_new;
}

void wti_context_loader_begun(struct wti_live *loader)
{
	if (!loader->count && wti_torch_state.epoch != UINT64_MAX &&
	    loader->order >= wti_torch_state.seen.newest_loader)
		loader->count = wti_torch_state.epoch + 1;
	loader->count++;
}

void wti_context_batch(const struct wti_live *loader)
{
	wti_torch_state.seen.loader = loader->owner;
	wti_torch_state.seen.rounds = loader->count;
}

static struct wti_live *model_called_last(void)
{
	if (!wti_torch_state.seen.model_object)
		return NULL;
	return wti_live_find(wti_torch_state.seen.model_object, WTI_LIVE_MODULE) ==
			       wti_torch_state.seen.model
		       ? wti_torch_state.seen.model
		       : NULL;
}

/* It was training, whatever mode the model was in. */
void wti_context_backward(void)
{
	struct wti_live *model = model_called_last();

	wti_torch_state.seen.is_backward_done = true;
	wti_torch_state.seen.backward_count++;
	wti_torch_state.seen.trained = wti_torch_state.seen.model_object;
	wti_torch_state.seen.training_loader = wti_torch_state.seen.loader;
	if (model && !model->training)
		model->trains_in_eval = true;
	wti_stage_set("train");
	if (wti_torch_state.seen.loader)
		epoch_set(wti_torch_state.seen.rounds - 1);
}

/* Another model than those that are trained, fed with other data than they are. */
static bool is_evaluated_apart(void)
{
	return wti_torch_state.seen.loader && wti_torch_state.seen.training_loader &&
	       wti_torch_state.seen.loader != wti_torch_state.seen.training_loader;
}

static bool is_training(const struct wti_live *model, uint32_t modes)
{
	return (modes & WT_CALL_TRAIN || model->trains_in_eval) && modes & WT_CALL_GRAD;
}

bool wti_context_is_backward_unused(void)
{
	return wti_torch_state.seen.is_backward_done;
}

/* Where there is an optimizer its step() is waited for, over many micro-batches, but not forever.
 */
bool wti_context_ends_step(const struct wti_live *model, uint32_t modes)
{
	if (wti_torch_state.seen.has_stepped || !wti_torch_state.seen.is_backward_done)
		return false;
	if (wti_live_next(NULL, WTI_LIVE_OPTIMIZER) &&
	    wti_torch_state.seen.backward_count < MICRO_BATCHES_MAX)
		return false;
	return !model || is_training(model, modes) || model->object == wti_torch_state.seen.trained;
}

void wti_context_step_over(void)
{
	wti_torch_state.seen.is_backward_done = false;
	step_set(wti_torch_state.step + 1);
}

void wti_context_model(struct wti_live *model, uint32_t modes)
{
	bool trains = is_training(model, modes);

	wti_torch_state.seen.model = model;
	wti_torch_state.seen.model_object = model->object;
	if (model->is_optimized || !wti_live_next(NULL, WTI_LIVE_OPTIMIZER) || is_evaluated_apart())
		wti_stage_set(trains ? "train" : "eval");
	if (trains && wti_torch_state.seen.loader && !is_evaluated_apart())
		epoch_set(wti_torch_state.seen.rounds - 1);
}
