/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about rows that are in two places: in evaluation and in training. */
#include "sampled.h"

/* ---- WT-ROWS-001: some evaluation rows were trained on -------------------------------------- */

enum {
	OVERLAP_ROWS,
	OVERLAP_ALL_BUT,
	OVERLAP_DEVIATIONS,
	COPIED_TIMES,
	COPIED,
	COPIED_IN,
	COPIED_FEWER,
	OVERLAP_SPLIT,
};

/* Of a model. An evaluation: its calls between two trainings. */
struct evaluation {
	struct wti_sampled_model model;
	struct wti_last_call kept;
	struct wti_last_call pending; /* in the present round of a loader */
	uint64_t batches;             /* that had been given when it was last called */
	/* Passes that look like the training set, before it was augmented. */
	struct wti_sampled_tally aside[WTI_INPUTS_MAX];
	struct wti_last_call last_aside;
	bool has_clean; /* a pass, ever, of which nothing was trained on */
};

/* Of a process: what it reads from. */
struct source {
	uint32_t loader;
	uint64_t batches;
};

/* Nothing of it but what was trained on: the training set is evaluated. */
static bool is_training_set(const struct wti_case *account, const struct wti_sampled_model *model)
{
	for (uint32_t i = 0; i < model->input_count; i++)
		if (!wti_tally_is_most(&model->inputs[i].call,
				       wti_threshold(account, OVERLAP_ALL_BUT)))
			return false;
	return true;
}

/*
 * Most of it was trained on, or it has as many rows as most of an epoch: the training set without
 * its augmentation looks like that, of which a part was trained on as it is.
 */
static bool is_like_training(const struct wti_case *account, const struct wti_sampled_model *model)
{
	uint64_t split = wti_threshold(account, OVERLAP_SPLIT);

	for (uint32_t i = 0; i < model->input_count; i++) {
		const struct wti_input *input = &model->inputs[i];

		if (input->call.seen * split <= input->call.rows &&
		    input->call.rows * split <= input->settled_rows)
			return false;
	}
	return true;
}

/* Nothing of it was trained on, but for what repeats by itself. */
static bool is_clean(const struct wti_case *account, const struct wti_sampled_model *model)
{
	double deviations = wti_threshold_real(account, OVERLAP_DEVIATIONS);

	for (uint32_t i = 0; i < model->input_count; i++) {
		const struct wti_input *input = &model->inputs[i];

		if (input->call.rows >= wti_threshold(account, OVERLAP_ROWS) &&
		    !wti_input_exceeds(input, input->call.seen, input->call.rows, deviations))
			return true;
	}
	return false;
}

static void set_aside(struct evaluation *evaluation)
{
	for (uint32_t i = 0; i < evaluation->model.input_count; i++)
		wti_tally_add(&evaluation->aside[i], &evaluation->model.inputs[i].call);
	evaluation->last_aside = evaluation->pending;
}

/*
 * A pass that looks like the training set is that, if another one is of rows that were held out:
 * two accuracies are printed. Where it is the only one it is the evaluation.
 */
static void decide_aside(struct evaluation *evaluation)
{
	bool is_kept = evaluation->last_aside.name && !evaluation->has_clean;

	for (uint32_t i = 0; i < evaluation->model.input_count; i++) {
		if (is_kept)
			wti_tally_add(&evaluation->model.inputs[i].all, &evaluation->aside[i]);
		evaluation->aside[i] = (struct wti_sampled_tally){0};
	}
	if (is_kept)
		evaluation->kept = evaluation->last_aside;
	evaluation->last_aside.name = 0;
}

/*
 * Where nearly all rows are known it is the training set that is evaluated, and no part of the
 * evaluation. That is judged of a round of a loader as a whole: rows that have leaked may all be in
 * the first of its batches. Without a loader it is judged of each call.
 */
static void end_round(const struct wti_case *account, struct evaluation *evaluation)
{
	const struct wti_sampled_model *model = &evaluation->model;
	bool is_kept = evaluation->pending.name && !is_training_set(account, model);
	bool is_aside = is_kept && !is_clean(account, model) && is_like_training(account, model);

	evaluation->has_clean |= is_kept && is_clean(account, model);
	if (is_aside)
		set_aside(evaluation);
	is_kept = is_kept && !is_aside;
	if (is_kept)
		evaluation->kept = evaluation->pending;
	evaluation->pending.name = 0;
	wti_sampled_keep_call(&evaluation->model, is_kept);
}

static void end_rounds(struct wti_case *account, size_t stream)
{
	struct evaluation *evaluation;
	size_t place = 0;

	while ((evaluation = wti_kept_next(account, WTI_OF_MODEL, stream, &place)))
		if (evaluation->pending.name)
			end_round(account, evaluation);
}

/* Everything that was trained on, and more: rows are chosen from all of them by what the model
 * makes of them. */
static bool is_choice(const struct wti_case *account, const struct wti_input *input)
{
	uint64_t all_but = wti_threshold(account, OVERLAP_ALL_BUT);

	return wti_input_is_chosen(input, all_but) &&
	       input->all.seen * all_but >= input->settled_learned * (all_but - 1);
}

static bool is_overlap(const struct wti_case *account, const struct wti_input *least)
{
	uint64_t leaked = least->all.seen - least->all.held_out;
	double deviations = wti_threshold_real(account, OVERLAP_DEVIATIONS);
	const struct wti_copying copying = {wti_threshold(account, COPIED_TIMES),
					    wti_threshold(account, COPIED),
					    wti_threshold(account, COPIED_IN),
					    wti_threshold(account, COPIED_FEWER), deviations};

	return leaked >= wti_threshold(account, OVERLAP_ROWS) && !is_choice(account, least) &&
	       (wti_input_exceeds(least, leaked, least->all.rows, deviations) ||
		wti_input_is_copied(least, &copying));
}

static enum wti_answer judge_evaluation(struct wti_case *account, struct evaluation *evaluation,
					const struct wti_moment *moment)
{
	struct wti_moment at;
	enum wti_answer answer = WTI_RULE_HELD;
	const struct wti_input *least;

	end_round(account, evaluation);
	decide_aside(evaluation);
	least = wti_input_least_seen(&evaluation->model);
	if (!evaluation->kept.name || !least)
		return WTI_RULE_NO_CASE;
	at = wti_at_last_call(*moment, &evaluation->kept);
	if (evaluation->model.turn.is_teacher)
		answer = WTI_RULE_NO_CASE;
	else if (is_overlap(account, least))
		answer = wti_violated(
			account, &at, evaluation->kept.name,
			"of %llu sampled rows of the evaluation, %llu had been trained on",
			(unsigned long long)least->all.rows,
			(unsigned long long)(least->all.seen - least->all.held_out));
	evaluation->kept.name = 0;
	for (uint32_t i = 0; i < evaluation->model.input_count; i++)
		evaluation->model.inputs[i].all = (struct wti_sampled_tally){0};
	return answer;
}

/* Another loader, or the same one anew. */
static void see_source(struct wti_case *account, struct source *source,
		       const struct wti_moment *moment)
{
	if (!moment->object)
		return;
	if (source->loader != moment->object->name || wti_loader_is_begun(moment))
		end_rounds(account, moment->process->stream);
	source->loader = moment->object->name;
	source->batches++;
}

/* A call that no new batch came before is given something else than the loader's rows. */
static void begin_call(struct wti_case *account, const struct source *source,
		       const struct wti_moment *moment)
{
	const struct evaluation *evaluation = moment->call->flags & WT_CALL_OUTERMOST
						      ? wti_kept(account, WTI_OF_MODEL, moment)
						      : NULL;

	if (evaluation && evaluation->pending.name && evaluation->batches == source->batches)
		end_rounds(account, moment->process->stream);
}

static enum wti_answer end_call(struct wti_case *account, const struct source *source,
				struct evaluation *evaluation, const struct wti_moment *moment)
{
	bool is_given = evaluation->batches != source->batches;
	enum wti_answer answer = WTI_RULE_NO_CASE;

	evaluation->batches = source->batches;
	if (wti_is_training_call(moment->call))
		answer = judge_evaluation(account, evaluation, moment);
	wti_sampled_turn(account, &evaluation->model, moment);
	if (!wti_is_evaluation_call(moment->call) || !evaluation->model.is_trained) {
		wti_sampled_keep_call(&evaluation->model, false);
		return answer;
	}
	evaluation->pending = wti_last_call_of(moment);
	if (!is_given)
		end_round(account, evaluation);
	return answer;
}

static enum wti_answer see_overlap(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	struct wti_sampled_model *model;

	if (moment->type == WTI_MOMENT_BATCH) {
		see_source(account, kept, moment);
		return WTI_RULE_NO_CASE;
	}
	if (moment->type == WTI_MOMENT_MODULE) {
		begin_call(account, kept, moment);
		return WTI_RULE_NO_CASE;
	}
	model = wti_sampled_take(account, moment);
	if (!model || moment->type == WTI_MOMENT_ROW)
		return WTI_RULE_NO_CASE;
	return end_call(account, kept, (struct evaluation *)model, moment);
}

/* The last evaluation of each model of a process. */
static enum wti_answer finish_overlap(struct wti_case *account, void *kept,
				      const struct wti_moment *end)
{
	struct evaluation *evaluation;
	size_t place = 0;

	while ((evaluation = wti_kept_next(account, WTI_OF_MODEL, end->process->stream, &place)))
		if (judge_evaluation(account, evaluation, end) == WTI_RULE_HELD)
			wti_held(account);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_rows_001 = {
	.code = "WT-ROWS-001",
	.severity = WT_WARNING,
	.title = "rows of the evaluation data are in the training data too",
	.means = "the result of the evaluation is too good: the model has seen part of the "
		 "answers",
	.hint = "split first; duplicate, augment and oversample the training part afterwards",
	.definition =
		"Of the sampled rows that a model is given in evaluation mode between two "
		"trainings, fewer than three were trained on before, or no more than natural "
		"repetition explains: the share of rows that repeat within an epoch of training, "
		"plus three standard deviations. Rows that were copied before the split repeat "
		"within the training data too, but do not count as natural repetition: they show "
		"where many contents come several times, many once, and hardly any two or three "
		"times, or where there are pairs without triples. A row is all its inputs "
		"together: the input with the fewest rows trained on decides, so a mask that is "
		"the same in most rows proves nothing. Numbers with fractions are not expected to "
		"repeat naturally. A pass over a loader, or a call without a loader, of which "
		"nearly all rows (19 in 20) were trained on evaluates the training set, and is "
		"left out. So is, in a run with another pass over rows of which none was trained "
		"on, a pass of which more than half was trained on, or that has more than half as "
		"many rows as an epoch: the training set without its augmentation. What a model is "
		"given after its own training while another one is trained (a teacher) is no "
		"evaluation. Rows that were held out first and trained on later do not count "
		"(WT-ROWS-002), nor do evaluations of all rows that were trained on and others, "
		"where nearly all were evaluated before they were trained on: there evaluations "
		"choose what is trained on. A case is an evaluation.",
	.innocent = "Evaluating all data at once, of which some is trained on (graphs). Rows of "
		    "few numbers that are scaled and equal by chance.",
	.needs = "no model was evaluated on rows of which the trace has a sample, after training",
	.moments = WTI_MOMENT_ROW | WTI_MOMENT_MODULE | WTI_MOMENT_MODULE_END | WTI_MOMENT_BATCH,
	.keeps = {WTI_SAMPLED_KEEPS(sizeof(struct source), sizeof(struct evaluation))},
	.see = see_overlap,
	.finish = finish_overlap,
	.thresholds =
		{[OVERLAP_ROWS] = {"rows", 3, WTI_WHY_ROWS},
		 [OVERLAP_ALL_BUT] = {"all_but", 20, WTI_WHY_ALL_BUT},
		 [OVERLAP_DEVIATIONS] = {"deviations", 3, WTI_WHY_DEVIATIONS},
		 [COPIED_TIMES] = {"copied_times", 4,
				   "in an epoch, at least: contents that come this often stand "
				   "out; below it, pairs are compared with triples"},
		 [COPIED] = {"copied", 8,
			     "contents that come that often: a few may do so naturally"},
		 [COPIED_IN] = {"copied_in", 20,
				"at least one content in this many comes that often: fewer "
				"hardly change a result"},
		 [COPIED_FEWER] = {"copied_fewer", 3,
				   "times fewer contents come two or three times: natural "
				   "repetition gives more of these"},
		 [OVERLAP_SPLIT] = {"split", 2,
				    "a pass with more than one in this many of the rows of an "
				    "epoch, or of which more than one in this many was trained on, "
				    "is of the training set if others are not: what is held out is "
				    "the smaller part, and the smaller part of that leaks"}},
};

/* ---- WT-ROWS-002: held out first, trained on later ------------------------------------------ */

enum { GIVEN_ROWS, GIVEN_DEVIATIONS, GIVEN_ALL_BUT };

/* Of a model. */
struct given {
	struct wti_sampled_model model;
	int64_t since;                  /* the step in which enough were given away */
	bool is_given;                  /* that many were */
	uint64_t known[WTI_INPUTS_MAX]; /* rows first evaluated since, and trained on before */
};

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

/* A call in training has ended. */
static enum wti_answer take_training(struct wti_case *account, struct given *given,
				     const struct wti_moment *moment)
{
	const struct wti_input *least = least_given_away(&given->model);

	if (!least)
		return WTI_RULE_NO_CASE;
	if (least->given_away < wti_threshold(account, GIVEN_ROWS) ||
	    !wti_input_exceeds(least, least->given_away, least->held_out,
			       wti_threshold_real(account, GIVEN_DEVIATIONS)))
		return WTI_RULE_HELD;
	if (!given->is_given)
		given->since = moment->scope.step;
	given->is_given = true;
	return WTI_RULE_NO_CASE;
}

/*
 * An evaluation call has ended. Rows that are predicted, then learned, and never evaluated again
 * belong to a stream; rows that come again, and were held out first each time, were chosen by the
 * evaluation. Where the split changes, others are evaluated that had been trained on first, and
 * never evaluated: a pass over the training set is of the same rows each time, of which one that
 * was augmented the first time may be trained on as it is later.
 */
static enum wti_answer take_evaluation(struct wti_case *account, struct given *given,
				       const struct wti_moment *moment)
{
	const struct wti_input *least = least_given_away(&given->model);
	uint64_t known;

	for (uint32_t i = 0; i < given->model.input_count && given->is_given; i++)
		given->known[i] += given->model.inputs[i].call.new;
	wti_sampled_keep_call(&given->model, false);
	if (!given->is_given || !least ||
	    wti_input_is_chosen(least, wti_threshold(account, GIVEN_ALL_BUT)))
		return WTI_RULE_NO_CASE;
	known = given->known[least - given->model.inputs];
	if (known < wti_threshold(account, GIVEN_ROWS))
		return WTI_RULE_NO_CASE;
	wti_since(account, given->since);
	return wti_violated(
		account, moment, moment->object->name,
		"%llu rows of the sample were held out in one evaluation and trained on "
		"later; %llu rows of later evaluations had been trained on",
		(unsigned long long)least->given_away, (unsigned long long)known);
}

static enum wti_answer see_given_away(struct wti_case *account, void *kept,
				      const struct wti_moment *moment)
{
	struct given *given = (struct given *)wti_sampled_take(account, moment);

	if (!given || moment->type == WTI_MOMENT_ROW)
		return WTI_RULE_NO_CASE;
	if (wti_is_training_call(moment->call))
		return take_training(account, given, moment);
	if (wti_is_evaluation_call(moment->call))
		return take_evaluation(account, given, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_rows_002 = {
	.code = "WT-ROWS-002",
	.severity = WT_WARNING,
	.title = "rows that were held out are trained on later",
	.means = "later evaluations judge a model that has learned other parts of the same test "
		 "data: folds share a model, or the split is drawn again",
	.hint = "make a new model for each fold; draw the split once",
	.definition =
		"Rows that a model was given in evaluation mode after training had begun, and that "
		"it had not been trained on, are not trained on later, while later evaluations are "
		"given rows that were trained on and not evaluated before. Three sampled rows of "
		"each "
		"are "
		"a violation, if that is more than natural repetition within an epoch of training "
		"explains; the input with the fewest such rows decides. Where nearly all rows (19 "
		"in 20) are evaluated before they are trained on, evaluations choose what is "
		"trained on. A case is a call in training after an evaluation.",
	.innocent = "A final training on all data, and an evaluation of it.",
	.needs = "no model was trained after an evaluation on rows of which the trace has a "
		 "sample",
	.moments = WTI_MOMENT_ROW | WTI_MOMENT_MODULE_END,
	.keeps = {WTI_SAMPLED_KEEPS(0, sizeof(struct given))},
	.see = see_given_away,
	.thresholds = {[GIVEN_ROWS] = {"rows", 3, WTI_WHY_ROWS},
		       [GIVEN_DEVIATIONS] = {"deviations", 3, WTI_WHY_DEVIATIONS},
		       [GIVEN_ALL_BUT] = {"all_but", 20,
					  "one row in this many may be trained on unseen, where "
					  "evaluations choose what is trained on"}},
};
