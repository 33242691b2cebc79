/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about rows that are in two places: in evaluation and in training. A trace keeps one
 * content in four (sixteen), the same ones everywhere: a sample is compared with a sample.
 */
#include "rule.h"
#include "slots.h"

enum row_use {
	TRAINED = 1,
	HELD_OUT = 2, /* evaluated, and not trained on before */
};

struct model {
	uint64_t trained, evaluated;
	/* Of the evaluation that goes on, or of all of them. */
	uint64_t rows, seen;
	uint64_t given_away; /* held out first, then trained on */
};

struct rows {
	struct wti_slots models;
	struct wti_slots rows; /* model and hash: enum row_use */
};

static void release_rows(void *state)
{
	struct rows *rows = state;

	wti_slots_release(&rows->models);
	wti_slots_release(&rows->rows);
}

/* A model's own inputs; a loader's rows are not known to be one or the other. */
static struct model *model_of(struct rows *rows, const struct wti_moment *moment, uint32_t name)
{
	const struct wti_object *object =
		wti_training_object(moment->training, moment->process->stream, name);

	if (!object || object->type != WT_OBJECT_TYPE_MODULE)
		return NULL;
	return wti_slot_of_object(&rows->models, object, sizeof(struct model));
}

static bool is_training(const struct wti_call *call)
{
	return call->flags & WTI_CALL_TRAINING && call->flags & WTI_CALL_GRAD;
}

static bool is_evaluation(const struct wti_call *call)
{
	return call->flags & WTI_CALL_SAYS_TRAINING && !(call->flags & WTI_CALL_TRAINING);
}

static uint64_t row_key(const struct wti_moment *moment, uint32_t name, uint64_t hash)
{
	return (hash ^ (uint64_t)moment->process->stream << 40 ^ name) * 0x9e3779b97f4a7c15u;
}

static struct model *take_row(struct rows *rows, const struct wti_moment *moment, uint32_t name)
{
	struct model *model = model_of(rows, moment, name);
	uint64_t hash = wt_event_u64(moment->event, WT_ROW_FIELD_HASH);
	uint8_t *use;

	if (!model || !moment->call || (!is_training(moment->call) && !is_evaluation(moment->call)))
		return NULL;
	use = wti_slot(&rows->rows, row_key(moment, name, hash), sizeof(*use));
	if (!use)
		return NULL;
	if (is_training(moment->call)) {
		model->trained++;
		model->given_away += (*use & (TRAINED | HELD_OUT)) == HELD_OUT;
		*use |= TRAINED;
		return model;
	}
	model->evaluated++;
	model->rows++;
	model->seen += *use & TRAINED;
	if (!(*use & TRAINED))
		*use |= HELD_OUT;
	return model;
}

/* ---- WT-ROWS-001: some evaluation rows were trained on -------------------------------------- */

enum { ROWS_TO_TELL = 3 };

/* All rows known: it is the training set that is evaluated. None: as it should be. */
static void judge_overlap(struct wti_case *account, struct model *model,
			  const struct wti_moment *moment, uint32_t name)
{
	if (!model->rows || !model->trained)
		return;
	if (model->seen >= ROWS_TO_TELL && model->seen * 20 < model->rows * 19)
		wti_violated(account, moment, name,
			     "of %llu rows of the evaluation that the trace has a sample of, %llu "
			     "had been trained on",
			     (unsigned long long)model->rows, (unsigned long long)model->seen);
	else if (!model->seen)
		wti_held(account);
}

static void see_overlap(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct rows *rows = state;
	struct model *model;
	uint32_t name;

	if (moment->type == WTI_MOMENT_ROW) {
		take_row(rows, moment,
			 wti_symbol_of(moment->training->symbols, moment->event,
				       WT_ROW_FIELD_OWNER));
		return;
	}
	if (!(moment->call->flags & WTI_CALL_OUTERMOST) || !moment->object ||
	    !is_evaluation(moment->call))
		return; /* a module has returned: its rows are complete */
	name = moment->object->name;
	model = wti_slot_of_object(&rows->models, moment->object, sizeof(*model));
	if (!model)
		return;
	judge_overlap(account, model, moment, name);
	model->rows = model->seen = 0;
}

const struct wti_rule wti_rule_rows_001 = {
	.code = "WT-ROWS-001",
	.severity = WT_WARNING,
	.title = "rows of the evaluation are in the training data too",
	.means = "the result of the evaluation is too good: the model has seen part of the answers",
	.hint = "split first; duplicate, augment and oversample the training part afterwards",
	.definition =
		"Of the rows that a model is given in one call in evaluation mode, either hardly "
		"any (fewer than three of the sample) or nearly all (19 in 20: it is the training "
		"set that is evaluated) have been trained on. A case is a call without any.",
	.innocent = "Rows of few values, such as short texts, may be equal by chance. Evaluating "
		    "all data at once, of which some is trained on (graphs).",
	.needs = "no model was evaluated on rows of which the trace has a sample, after training",
	.moments = WTI_MOMENT_ROW | WTI_MOMENT_MODULE_END,
	.state_bytes = sizeof(struct rows),
	.see = see_overlap,
	.release = release_rows,
};

/* ---- WT-ROWS-002: held out first, trained on later ------------------------------------------ */

static void see_given_away(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct rows *rows = state;
	struct model *model;
	uint64_t before;
	uint32_t name;

	name = wti_symbol_of(moment->training->symbols, moment->event, WT_ROW_FIELD_OWNER);
	model = model_of(rows, moment, name);
	before = model ? model->given_away : 0;
	model = take_row(rows, moment, name);
	if (!model || !is_training(moment->call) || !model->evaluated)
		return;
	if (model->given_away == before)
		wti_held(account);
	else if (model->given_away >= ROWS_TO_TELL)
		wti_violated(account, moment, name,
			     "%llu rows of the sample were evaluated before they were trained on",
			     (unsigned long long)model->given_away);
}

const struct wti_rule wti_rule_rows_002 = {
	.code = "WT-ROWS-002",
	.severity = WT_WARNING,
	.title = "rows that were held out are trained on later",
	.means = "later evaluations judge a model that has learned other parts of the same test "
		 "data: folds share a model, or the splits are drawn anew",
	.hint = "make a new model for each fold; draw the split once",
	.definition =
		"Rows that a model was given in evaluation mode, and had not been trained on, are "
		"not trained on later. Three of the sample are a violation. A case is a row in "
		"training after an evaluation.",
	.innocent = "Learning from a stream, where each row is predicted before it is learned; "
		    "a last training on all data; active learning.",
	.needs = "no model was trained after an evaluation on rows of which the trace has a sample",
	.moments = WTI_MOMENT_ROW,
	.state_bytes = sizeof(struct rows),
	.see = see_given_away,
	.release = release_rows,
};

/* ---- WT-ROWS-003: nothing was held out ------------------------------------------------------ */

enum { ROWS_TO_NOTE = 16 };

/* Of a model: its evaluations after it was trained, and whether they were of training inputs. */
struct judged {
	uint64_t rows, seen;
	uint64_t whole;  /* the last training input as a whole */
	uint64_t wholes; /* calls that were given just that */
	uint32_t name;
};

struct kept {
	struct rows rows;
	struct wti_slots judged;
};

static void release_kept(void *state)
{
	struct kept *kept = state;

	release_rows(&kept->rows);
	wti_slots_release(&kept->judged);
}

static uint64_t whole_of(const struct wti_call *call)
{
	const struct wti_value_row *input = wti_call_tensor(call, false, 0);

	return input && !(input->digest.flags & WTI_TENSOR_NO_HASH) ? input->digest.hash : 0;
}

static void note_call(struct kept *kept, const struct wti_moment *moment)
{
	struct model *model =
		wti_slot_of_object(&kept->rows.models, moment->object, sizeof(*model));
	struct judged *judged = wti_slot_of_object(&kept->judged, moment->object, sizeof(*judged));

	if (!model || !judged)
		return;
	judged->name = moment->object->name;
	if (is_training(moment->call)) {
		judged->whole = whole_of(moment->call);
	} else if (is_evaluation(moment->call) && model->trained) {
		judged->rows += model->rows;
		judged->seen += model->seen;
		judged->wholes += judged->whole && judged->whole == whole_of(moment->call);
	}
	model->rows = model->seen = 0;
}

static void see_kept(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct kept *kept = state;

	(void)account;
	if (moment->type == WTI_MOMENT_ROW)
		take_row(&kept->rows, moment,
			 wti_symbol_of(moment->training->symbols, moment->event,
				       WT_ROW_FIELD_OWNER));
	else if (moment->call->flags & WTI_CALL_OUTERMOST && moment->object)
		note_call(kept, moment);
}

static void finish_kept(struct wti_case *account, void *state, const struct wti_training *training)
{
	struct wti_slots *all = &((struct kept *)state)->judged;

	for (size_t i = 0; i < all->count; i++) {
		uint64_t key = all->index.entries[i].key;
		struct judged *judged = wti_slot(all, key, sizeof(*judged));
		struct wti_moment end = wti_moment_of_end(training, key >> 32);

		if (!judged || judged->rows < ROWS_TO_NOTE || judged->wholes)
			continue;
		if (judged->seen * 20 >= judged->rows * 19)
			wti_violated(
				account, &end, judged->name,
				"of %llu rows of all evaluations that the trace has a sample of, "
				"%llu had been trained on",
				(unsigned long long)judged->rows, (unsigned long long)judged->seen);
		else
			wti_held(account);
	}
}

const struct wti_rule wti_rule_rows_003 = {
	.code = "WT-ROWS-003",
	.severity = WT_NOTE,
	.title = "the model is only ever evaluated on rows that it was trained on",
	.means = "the results say how well it remembers, not how well it does: nothing was held "
		 "out, or the wrong split is loaded for the evaluation",
	.hint = "evaluate on rows that are not trained on",
	.definition =
		"Of the rows that a model is given in evaluation mode after it was trained, in the "
		"whole run, 19 in 20 are not ones that it was trained on; at least 16 of the "
		"sample. Inputs that are the training's as a whole (graphs) are not judged. A "
		"case is a model.",
	.innocent = "A run that is to show how well the model fits.",
	.needs = "no model was evaluated on rows of which the trace has a sample, after training",
	.moments = WTI_MOMENT_ROW | WTI_MOMENT_MODULE_END,
	.state_bytes = sizeof(struct kept),
	.see = see_kept,
	.finish = finish_kept,
	.release = release_kept,
};
