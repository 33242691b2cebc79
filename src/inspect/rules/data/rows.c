/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about rows that are in two places: in evaluation and in training. */
#include <string.h>

#include "inspect/judge/rule.h"
#include "sampled.h"

enum { ROWS_TO_TELL = 3, ROWS_TO_NOTE = 16 };

/* Nearly all of them. */
static bool is_most(const struct wti_sampled_tally *tally)
{
	return tally->seen * 20 >= tally->rows * 19;
}

/* Nothing of it but what was trained on: the training set is evaluated. */
static bool is_training_set(const struct wti_sampled_model *model)
{
	for (uint32_t i = 0; i < model->input_count; i++)
		if (!is_most(&model->inputs[i].call))
			return false;
	return true;
}

/*
 * The input of which the smallest share was trained on: the rows as a whole cannot have more. NULL:
 * none was given.
 */
static const struct wti_input *least_seen(const struct wti_sampled_model *model)
{
	const struct wti_input *least = NULL;

	for (uint32_t i = 0; i < model->input_count; i++) {
		const struct wti_input *input = &model->inputs[i];

		if (!input->all.rows)
			continue;
		if (!least || input->all.seen * least->all.rows < least->all.seen * input->all.rows)
			least = input;
	}
	return least;
}

/* ---- WT-ROWS-001: some evaluation rows were trained on -------------------------------------- */

/* The last call of several. */
struct last_call {
	uint32_t name; /* of the model; 0: there was none */
	struct wti_scope scope;
	struct wti_call call; /* without its values */
};

/* An evaluation: the calls of a model between two trainings. */
struct evaluation {
	struct last_call kept;
	struct last_call pending; /* in the present round of a loader */
	uint64_t batches;         /* that had been given when it was last called */
};

/* What a process reads from. */
struct source {
	uint32_t loader;
	uint64_t batches;
};

struct overlap {
	struct wti_sampled sampled;
	struct wti_slots evaluations; /* of models */
	struct wti_slots sources;     /* by stream */
};

static void release_overlap(void *state)
{
	struct overlap *overlap = state;

	wti_sampled_release(&overlap->sampled);
	wti_slots_release(&overlap->evaluations);
	wti_slots_release(&overlap->sources);
}

static struct last_call last_call_of(const struct wti_moment *moment)
{
	struct last_call last = {moment->object->name, moment->scope, *moment->call};

	last.call.values = NULL;
	last.call.value_count = 0;
	return last;
}

/*
 * Where nearly all rows are known it is the training set that is evaluated, and no part of the
 * evaluation. That is said of a round of a loader as a whole: rows that have leaked may all be in
 * the first of its batches. Without a loader it is said of each call.
 */
static void end_round(struct wti_sampled_model *model, struct evaluation *evaluation)
{
	bool is_kept = evaluation->pending.name && !is_training_set(model);

	if (is_kept)
		evaluation->kept = evaluation->pending;
	evaluation->pending.name = 0;
	wti_sampled_keep_call(model, is_kept);
}

static void judge_evaluation(struct wti_case *account, struct wti_sampled_model *model,
			     struct evaluation *evaluation, struct wti_moment moment)
{
	const struct wti_input *least;

	end_round(model, evaluation);
	least = least_seen(model);
	if (!evaluation->kept.name || !least)
		return;
	moment.scope = evaluation->kept.scope;
	moment.call = &evaluation->kept.call;
	if (least->all.seen >= ROWS_TO_TELL &&
	    (wti_input_exceeds(least, least->all.seen, least->all.rows) ||
	     wti_input_is_copied(least)))
		wti_violated(account, &moment, evaluation->kept.name,
			     "of %llu rows of the evaluation that the trace has a sample of, %llu "
			     "had been trained on",
			     (unsigned long long)least->all.rows,
			     (unsigned long long)least->all.seen);
	else
		wti_held(account);
	evaluation->kept.name = 0;
	for (uint32_t i = 0; i < model->input_count; i++)
		model->inputs[i].all = (struct wti_sampled_tally){0};
}

static struct source *source_of(struct overlap *overlap, const struct wti_moment *moment)
{
	return wti_slot(&overlap->sources, moment->process->stream, sizeof(struct source));
}

static void end_rounds(struct overlap *overlap, size_t stream)
{
	for (size_t i = 0; i < overlap->evaluations.count; i++) {
		uint64_t key = overlap->evaluations.index.entries[i].key;
		struct evaluation *evaluation = wti_slot_find(&overlap->evaluations, key);
		struct wti_sampled_model *model = wti_slot_find(&overlap->sampled.models, key);

		if (key >> 32 == stream && evaluation && model && evaluation->pending.name)
			end_round(model, evaluation);
	}
}

/* Another loader, or the same one anew. */
static void see_source(struct overlap *overlap, const struct wti_moment *moment)
{
	const char *callee = wti_moment_text(moment, moment->call->callee);
	struct source *source = source_of(overlap, moment);

	if (!source || !moment->object)
		return;
	if (source->loader != moment->object->name || strstr(callee, "__iter__"))
		end_rounds(overlap, moment->process->stream);
	source->loader = moment->object->name;
	source->batches++;
}

static struct evaluation *evaluation_of(struct overlap *overlap, const struct wti_moment *moment)
{
	return wti_slot_of_object(&overlap->evaluations, moment->object, sizeof(struct evaluation));
}

/* A call that no new batch came before is given something else than the loader's rows. */
static void begin_call(struct overlap *overlap, const struct wti_moment *moment)
{
	struct evaluation *evaluation = evaluation_of(overlap, moment);
	const struct source *source = source_of(overlap, moment);

	if (evaluation && source && evaluation->pending.name &&
	    evaluation->batches == source->batches)
		end_rounds(overlap, moment->process->stream);
}

static void end_call(struct wti_case *account, struct overlap *overlap,
		     struct wti_sampled_model *model, const struct wti_moment *moment)
{
	struct evaluation *evaluation = evaluation_of(overlap, moment);
	const struct source *source = source_of(overlap, moment);
	bool is_given;

	if (!evaluation || !source)
		return;
	is_given = evaluation->batches != source->batches;
	evaluation->batches = source->batches;
	if (wti_is_training_call(moment->call))
		judge_evaluation(account, model, evaluation, *moment);
	if (!wti_is_evaluation_call(moment->call) || !model->is_trained) {
		wti_sampled_keep_call(model, false);
		return;
	}
	evaluation->pending = last_call_of(moment);
	if (!is_given)
		end_round(model, evaluation);
}

static void see_overlap(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct overlap *overlap = state;
	struct wti_sampled_model *model;

	if (moment->type == WTI_MOMENT_BATCH) {
		see_source(overlap, moment);
	} else if (moment->type == WTI_MOMENT_MODULE) {
		if (moment->call->flags & WTI_CALL_OUTERMOST && moment->object)
			begin_call(overlap, moment);
	} else {
		model = wti_sampled_take(&overlap->sampled, moment);
		if (model && moment->type != WTI_MOMENT_ROW)
			end_call(account, overlap, model, moment);
	}
}

static void finish_overlap(struct wti_case *account, void *state,
			   const struct wti_training *training)
{
	struct overlap *overlap = state;

	for (size_t i = 0; i < overlap->evaluations.count; i++) {
		uint64_t key = overlap->evaluations.index.entries[i].key;
		struct evaluation *evaluation = wti_slot_find(&overlap->evaluations, key);
		struct wti_sampled_model *model = wti_slot_find(&overlap->sampled.models, key);

		if (evaluation && model)
			judge_evaluation(account, model, evaluation,
					 wti_moment_of_end(training, key >> 32));
	}
}

const struct wti_rule wti_rule_rows_001 = {
	.code = "WT-ROWS-001",
	.severity = WT_WARNING,
	.title = "rows of the evaluation are in the training data too",
	.means = "the result of the evaluation is too good: the model has seen part of the answers",
	.hint = "split first; duplicate, augment and oversample the training part afterwards",
	.definition =
		"Of the rows that a model is given in evaluation mode between two trainings, "
		"hardly any (fewer than three of the sample) have been trained on, or not more "
		"than rows repeat inside of an epoch of training by themselves (by three standard "
		"deviations) and are not set apart as copies are: many contents that come several "
		"times, hardly any that come twice or three times, many that come once, or pairs "
		"without triples. A row is all its inputs together: the input that was trained on "
		"least "
		"decides, so that a mask that is the same in most rows proves nothing. Numbers "
		"that are no integers do not repeat by themselves. A round of a loader, or a call "
		"without a loader, of which nearly all rows (19 in 20) were trained on evaluates "
		"the training set, and is left out. A case is an evaluation.",
	.innocent = "Evaluating all data at once, of which some is trained on (graphs). Rows of "
		    "few numbers that are scaled and equal by chance.",
	.needs = "no model was evaluated on rows of which the trace has a sample, after training",
	.moments = WTI_MOMENT_ROW | WTI_MOMENT_MODULE | WTI_MOMENT_MODULE_END | WTI_MOMENT_BATCH,
	.state_bytes = sizeof(struct overlap),
	.watch = see_overlap,
	.conclude = finish_overlap,
	.release = release_overlap,
};

/* ---- WT-ROWS-002: held out first, trained on later ------------------------------------------ */

static void release_sampled(void *state)
{
	wti_sampled_release(state);
}

/* As above, of contents that were held out. */
static const struct wti_input *least_given_away(const struct wti_sampled_model *model)
{
	const struct wti_input *least = NULL;

	for (uint32_t i = 0; i < model->input_count; i++) {
		const struct wti_input *input = &model->inputs[i];

		if (!input->held_out)
			continue;
		if (!least ||
		    input->given_away * least->held_out < least->given_away * input->held_out)
			least = input;
	}
	return least;
}

static void see_given_away(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct wti_sampled_model *model = wti_sampled_take(state, moment);
	const struct wti_input *least;

	if (!model || moment->type == WTI_MOMENT_ROW || !wti_is_training_call(moment->call))
		return;
	least = least_given_away(model);
	if (!least)
		return;
	if (least->given_away < ROWS_TO_TELL ||
	    !wti_input_exceeds(least, least->given_away, least->held_out))
		wti_held(account);
	else
		wti_violated(account, moment, moment->object->name,
			     "%llu rows of the sample were evaluated before they were trained on",
			     (unsigned long long)least->given_away);
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
		"not trained on later. Three of the sample are a violation, if they are more than "
		"rows repeat inside of an epoch of training by themselves; the input that has "
		"fewest of them decides. A case is a call in training after an evaluation.",
	.innocent = "Learning from a stream, where each row is predicted before it is learned; "
		    "a last training on all data; active learning.",
	.needs = "no model was trained after an evaluation on rows of which the trace has a sample",
	.moments = WTI_MOMENT_ROW | WTI_MOMENT_MODULE_END,
	.state_bytes = sizeof(struct wti_sampled),
	.watch = see_given_away,
	.release = release_sampled,
};

/* ---- WT-ROWS-003: nothing was held out ------------------------------------------------------ */

/* Of a model: whether its evaluations were of training inputs as a whole. */
struct judged {
	uint64_t whole;        /* the last training input */
	uint64_t wholes;       /* calls that were given just that */
	struct last_call last; /* of its evaluations */
	uint32_t loader;       /* of the last training call */
	bool is_shared;        /* a batch was evaluated that no other loader gave */
	uint64_t before;       /* rows of all evaluations before the present one */
	uint64_t before_seen;  /* those of them that had been trained on */
	uint64_t largest;      /* rows of one evaluation */
	/* How many steps its process had made in its last training call, and in the last one before
	 * that with another number. */
	int64_t last_step, earlier_step;
	bool is_teacher; /* it was evaluated while others were trained, and itself no more */
};

struct kept {
	struct wti_sampled sampled;
	struct wti_slots judged;
	struct wti_slots sources; /* by stream */
};

static void release_kept(void *state)
{
	struct kept *kept = state;

	wti_sampled_release(&kept->sampled);
	wti_slots_release(&kept->judged);
	wti_slots_release(&kept->sources);
}

static uint64_t whole_of(const struct wti_call *call)
{
	const struct wti_value_row *input = wti_call_tensor(call, false, 0);

	return input && !(input->digest.flags & WTI_TENSOR_NO_HASH) ? input->digest.hash : 0;
}

static void note_training(struct judged *judged, const struct wti_moment *moment)
{
	int64_t step = (int64_t)moment->process->step_count + 1; /* 0: never */

	if (judged->last_step != step)
		judged->earlier_step = judged->last_step;
	judged->last_step = step;
	judged->is_teacher = false;
}

/* Another model has been trained in two steps or more since this one was for the last time. */
static bool serves_another(const struct kept *kept, const struct judged *judged,
			   const struct wti_moment *moment)
{
	size_t stream = moment->process->stream;

	for (size_t i = 0; i < kept->judged.count; i++) {
		uint64_t key = kept->judged.index.entries[i].key;
		const struct judged *other = wti_slot_find(&kept->judged, key);

		if (other && key >> 32 == stream && other->earlier_step > judged->last_step &&
		    wti_model_is_trained(moment->training, stream, (uint32_t)key))
			return true;
	}
	return false;
}

static void see_call(struct judged *judged, const struct source *source,
		     struct wti_sampled_model *model, const struct wti_moment *moment)
{
	bool is_kept = wti_is_evaluation_call(moment->call) && model->is_trained;
	const struct wti_input *least;

	if (is_kept) {
		judged->last = last_call_of(moment);
		judged->wholes += judged->whole && judged->whole == whole_of(moment->call);
		judged->is_shared |= !source->loader || source->loader == judged->loader;
	}
	wti_sampled_keep_call(model, is_kept);
	least = least_seen(model);
	if (least && least->all.rows - judged->before > judged->largest)
		judged->largest = least->all.rows - judged->before;
	if (!wti_is_training_call(moment->call))
		return;
	judged->whole = whole_of(moment->call);
	judged->loader = source->loader;
	judged->before = least ? least->all.rows : 0;
	judged->before_seen = least ? least->all.seen : 0;
	note_training(judged, moment);
}

static void see_kept(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct kept *kept = state;
	struct source *source = wti_slot(&kept->sources, moment->process->stream, sizeof(*source));
	struct wti_sampled_model *model;
	struct judged *judged;

	(void)account;
	if (source && moment->type == WTI_MOMENT_BATCH) {
		source->loader = moment->object ? moment->object->name : 0;
		return;
	}
	model = wti_sampled_take(&kept->sampled, moment);
	if (!source || !model || moment->type == WTI_MOMENT_ROW)
		return;
	judged = wti_slot_of_object(&kept->judged, moment->object, sizeof(*judged));
	if (!judged)
		return;
	judged->is_teacher |=
		wti_is_evaluation_call(moment->call) && serves_another(kept, judged, moment);
	see_call(judged, source, model, moment);
}

/*
 * A loader of its own that gives at most half of what was trained on was meant to give something
 * else. All of it again is how one looks at how well a model fits.
 */
static bool is_split(const struct kept *kept, const struct judged *judged)
{
	return !judged->is_shared && kept->sampled.models.count == 1 &&
	       judged->largest * 2 <= kept->sampled.trained.count;
}

static void judge_kept(struct wti_case *account, const struct kept *kept,
		       const struct wti_sampled_model *model, const struct judged *judged,
		       struct wti_moment moment)
{
	const struct wti_input *least = least_seen(model);
	struct wti_sampled_tally all = least ? least->all : (struct wti_sampled_tally){0};

	moment.scope = judged->last.scope;
	moment.call = &judged->last.call;
	if (judged->is_teacher) {
		all.rows = judged->before;
		all.seen = judged->before_seen;
	}
	if (!judged->last.name || !least || all.rows < ROWS_TO_NOTE || judged->wholes)
		return;
	if (!is_most(&all) || !wti_input_exceeds(least, all.seen, all.rows)) {
		wti_held(account);
		return;
	}
	if (is_split(kept, judged))
		wti_raise(account, WT_WARNING);
	wti_violated(account, &moment, judged->last.name,
		     "of %llu rows of all evaluations that the trace has a sample of, %llu had "
		     "been trained on",
		     (unsigned long long)all.rows, (unsigned long long)all.seen);
}

static void finish_kept(struct wti_case *account, void *state, const struct wti_training *training)
{
	struct kept *kept = state;

	for (size_t i = 0; i < kept->judged.count; i++) {
		uint64_t key = kept->judged.index.entries[i].key;
		const struct judged *judged = wti_slot_find(&kept->judged, key);
		const struct wti_sampled_model *model = wti_slot_find(&kept->sampled.models, key);

		if (judged && model)
			judge_kept(account, kept, model, judged,
				   wti_moment_of_end(training, key >> 32));
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
		"whole run, 19 in 20 are not ones that it was trained on, or rows of training "
		"repeat "
		"as often by themselves; at least 16 of the sample. Inputs that are the training's "
		"as a whole (graphs) are not judged, nor what a model is given after its own "
		"training while another one is trained (a teacher). It is a warning where a loader "
		"that does not "
		"give the training its batches gives at most half of what was trained on. A case "
		"is a model.",
	.innocent = "A run that is to show how well the model fits.",
	.needs = "no model was evaluated on rows of which the trace has a sample, after training",
	.moments = WTI_MOMENT_ROW | WTI_MOMENT_MODULE_END | WTI_MOMENT_BATCH,
	.state_bytes = sizeof(struct kept),
	.watch = see_kept,
	.conclude = finish_kept,
	.release = release_kept,
};
