/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step, epoch and stage, derived from what happens, unless the program says them itself.
 *
 * They belong to the process, not to the thread on which they were noticed: a thread that has
 * something to emit says them first if they have changed since it last did.
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
#include "act.h"

#include <string.h>

#include "common/text.h"
#include "threads.h"
#include "emit.h"

#define MICRO_BATCHES_MAX 64

/* What has happened. Loaders by the name they have for good. */
static struct {
	const struct wt_name *loader; /* that gave the last batch */
	uint64_t rounds;              /* of it */
	uint64_t newest_loader;       /* by its order, plus one, when the last epoch began */
	const struct wt_name *training_loader;
	struct wti_live *model; /* called last; believed only if it is found again */
	PyObject *model_object;
	PyObject *trained; /* called last before the last backward; only compared */
	bool has_stepped;  /* an optimizer */
	uint64_t newest;   /* of optimizers, by its order, when the last step began or was joined */
	bool is_backward_done; /* since the last step */
	uint64_t backward_count;
} seen;

/* ---- Records ----------------------------------------------------------------------------------
 */

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

/* ---- The three --------------------------------------------------------------------------------
 */

/* A change that this thread says itself; what others changed before comes first. */
static void changes(void)
{
	wti_context_current();
	wti_python_thread.context_change = ++wti_python.context_change;
}

void wti_stage_set(const char *stage)
{
	if (wti_python.is_stage_said || (wti_python.stage && strcmp(wti_python.stage, stage) == 0))
		return;
	changes();
	wti_python.stage = stage;
	wti_context_text(WT_NAME("stage"), stage);
}

static void step_set(uint64_t step)
{
	if (wti_python.is_step_said) {
		wti_python.step = step;
		return;
	}
	changes();
	wti_python.step = step;
	wti_context_int(WT_NAME("step"), (int64_t)step);
}

static void epoch_set(uint64_t epoch)
{
	const struct wti_live *newest;

	if (epoch == wti_python.epoch)
		return;
	changes();
	newest = wti_live_next(NULL, WTI_LIVE_LOADER);
	seen.newest_loader = newest ? newest->order + 1 : 0;
	wti_python.epoch = epoch;
	wti_context_int(WT_NAME("epoch"), (int64_t)epoch);
}

/* A child has a stream of its own, in which nothing is known yet. */
static void forget_parent(struct wti_here here)
{
	if (wti_python_thread.generation && here.ring &&
	    wti_python_thread.generation != here.slot->generation) {
		wti_known_forget();
		wti_pace_say();
	}
	wti_python_thread.generation = here.ring ? here.slot->generation : 0;
}

void wti_context_catch_up(void)
{
	const struct wti_here here = wti_here();

	forget_parent(here);
	/* Where nothing that trains was imported there are no steps, not even a first. */
	if (!wti_python.is_step_said && (wti_python.stage || wti_python.step))
		wti_context_int(WT_NAME("step"), (int64_t)wti_python.step);
	if (wti_python.epoch != UINT64_MAX)
		wti_context_int(WT_NAME("epoch"), (int64_t)wti_python.epoch);
	if (wti_python.stage && !wti_python.is_stage_said)
		wti_context_text(WT_NAME("stage"), wti_python.stage);
	wti_python_thread.context_change = wti_python.context_change;
}

/* ---- What happens -----------------------------------------------------------------------------
 */

bool wti_context_begins_step(const struct wti_live *optimizer)
{
	if (!seen.has_stepped || optimizer->count == wti_python.step)
		return true;
	return !optimizer->count && optimizer->how == WT_FOUND_MADE &&
	       optimizer->order > seen.newest;
}

bool wti_context_stepped(struct wti_live *optimizer)
{
	const struct wti_live *newest = wti_live_next(NULL, WTI_LIVE_OPTIMIZER);
	bool is_new = wti_context_begins_step(optimizer);

	seen.has_stepped = true;
	seen.is_backward_done = false;
	if (newest && newest->order > seen.newest)
		seen.newest = newest->order;
	if (is_new)
		step_set(wti_python.step + 1);
	optimizer->count = wti_python.step;
	return is_new;
}

void wti_context_loader_begun(struct wti_live *loader)
{
	if (!loader->count && wti_python.epoch != UINT64_MAX && loader->order >= seen.newest_loader)
		loader->count = wti_python.epoch + 1;
	loader->count++;
}

void wti_context_batch(const struct wti_live *loader)
{
	seen.loader = loader->owner;
	seen.rounds = loader->count;
}

static struct wti_live *model_called_last(void)
{
	if (!seen.model_object)
		return NULL;
	return wti_live_find(seen.model_object, WTI_LIVE_MODULE) == seen.model ? seen.model : NULL;
}

/* It was training, whatever mode the model was in. */
void wti_context_backward(void)
{
	struct wti_live *model = model_called_last();

	seen.is_backward_done = true;
	seen.backward_count++;
	seen.trained = seen.model_object;
	seen.training_loader = seen.loader;
	if (model && !model->training)
		model->trains_in_eval = true;
	wti_stage_set("train");
	if (seen.loader)
		epoch_set(seen.rounds - 1);
}

/* Another model than those that are trained, fed with other data than they are. */
static bool is_evaluated_apart(void)
{
	return seen.loader && seen.training_loader && seen.loader != seen.training_loader;
}

static bool is_training(const struct wti_live *model, uint32_t modes)
{
	return (modes & WT_CALL_TRAIN || model->trains_in_eval) && modes & WT_CALL_GRAD;
}

bool wti_context_is_backward_unused(void)
{
	return seen.is_backward_done;
}

/* Where there is an optimizer its step() is waited for, over many micro-batches, but not forever.
 */
bool wti_context_ends_step(const struct wti_live *model, uint32_t modes)
{
	if (seen.has_stepped || !seen.is_backward_done)
		return false;
	if (wti_live_next(NULL, WTI_LIVE_OPTIMIZER) && seen.backward_count < MICRO_BATCHES_MAX)
		return false;
	return !model || is_training(model, modes) || model->object == seen.trained;
}

void wti_context_step_over(void)
{
	seen.is_backward_done = false;
	step_set(wti_python.step + 1);
}

void wti_context_model(struct wti_live *model, uint32_t modes)
{
	bool trains = is_training(model, modes);

	seen.model = model;
	seen.model_object = model->object;
	if (model->is_optimized || !wti_live_next(NULL, WTI_LIVE_OPTIMIZER) || is_evaluated_apart())
		wti_stage_set(trains ? "train" : "eval");
	if (trains && seen.loader && !is_evaluated_apart())
		epoch_set(seen.rounds - 1);
}
