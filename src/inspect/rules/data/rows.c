/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about rows that are in two places: in evaluation and in training. */
#include "sampled.h"

/* Nearly all of them: all but one in that many. */
static bool is_most(const struct wti_sampled_tally *tally, uint64_t all_but)
{
	return (tally->rows - tally->seen) * all_but <= tally->rows;
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

/* The last call of several. */
struct last_call {
	uint32_t name;        /* of the model; 0: there was none */
	struct wti_call call; /* without its values */
};

static struct last_call last_call_of(const struct wti_moment *moment)
{
	return (struct last_call){moment->object->name, wti_call_without_values(moment->call)};
}

static struct wti_moment at_call(struct wti_moment moment, const struct last_call *last)
{
	moment.scope = last->call.scope;
	moment.call = &last->call;
	return moment;
}

#define WHY_ROWS "of the sample: one or two may be equal by chance"
#define WHY_ALL_BUT                                                                                \
	"one row in this many may be new, where nearly all were trained on: a part of the "        \
	"training set may be drawn at random in each epoch"
#define WHY_DEVIATIONS                                                                             \
	"standard deviations above what repetitions explain: chance reaches that once in a "       \
	"thousand evaluations"

/* ---- WT-ROWS-001: some evaluation rows were trained on -------------------------------------- */

enum {
	OVERLAP_ROWS,
	OVERLAP_ALL_BUT,
	OVERLAP_DEVIATIONS,
	COPIED_TIMES,
	COPIED,
	COPIED_IN,
	COPIED_FEWER,
};

/* Of a model. An evaluation: its calls between two trainings. */
struct evaluation {
	struct wti_sampled_model model;
	struct last_call kept;
	struct last_call pending; /* in the present round of a loader */
	uint64_t batches;         /* that had been given when it was last called */
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
		if (!is_most(&model->inputs[i].call, wti_threshold(account, OVERLAP_ALL_BUT)))
			return false;
	return true;
}

/*
 * Where nearly all rows are known it is the training set that is evaluated, and no part of the
 * evaluation. That is judged of a round of a loader as a whole: rows that have leaked may all be in
 * the first of its batches. Without a loader it is judged of each call.
 */
static void end_round(const struct wti_case *account, struct evaluation *evaluation)
{
	bool is_kept = evaluation->pending.name && !is_training_set(account, &evaluation->model);

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
	least = least_seen(&evaluation->model);
	if (!evaluation->kept.name || !least)
		return WTI_RULE_NO_CASE;
	at = at_call(*moment, &evaluation->kept);
	if (is_overlap(account, least))
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
	if (!wti_is_evaluation_call(moment->call) || !evaluation->model.is_trained) {
		wti_sampled_keep_call(&evaluation->model, false);
		return answer;
	}
	evaluation->pending = last_call_of(moment);
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
		"left out. Rows that were held out first and trained on later do not count "
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
		{[OVERLAP_ROWS] = {"rows", 3, WHY_ROWS},
		 [OVERLAP_ALL_BUT] = {"all_but", 20, WHY_ALL_BUT},
		 [OVERLAP_DEVIATIONS] = {"deviations", 3, WHY_DEVIATIONS},
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
				   "repetition gives more of these"}},
};

/* ---- WT-ROWS-002: held out first, trained on later ------------------------------------------ */

enum { GIVEN_ROWS, GIVEN_DEVIATIONS, GIVEN_ALL_BUT };

/* Of a model. */
struct given {
	struct wti_sampled_model model;
	int64_t since;                  /* the step in which enough were given away */
	bool is_given;                  /* that many were */
	uint64_t known[WTI_INPUTS_MAX]; /* rows evaluated since that had been trained on first */
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
 * evaluation. Where the split changes, others are evaluated that had been trained on first.
 */
static enum wti_answer take_evaluation(struct wti_case *account, struct given *given,
				       const struct wti_moment *moment)
{
	const struct wti_input *least = least_given_away(&given->model);
	uint64_t known;

	for (uint32_t i = 0; i < given->model.input_count && given->is_given; i++) {
		const struct wti_sampled_tally *call = &given->model.inputs[i].call;

		given->known[i] += call->seen - call->held_out;
	}
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
		"given rows that were trained on and never held out. Three sampled rows of each "
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
	.thresholds = {[GIVEN_ROWS] = {"rows", 3, WHY_ROWS},
		       [GIVEN_DEVIATIONS] = {"deviations", 3, WHY_DEVIATIONS},
		       [GIVEN_ALL_BUT] = {"all_but", 20,
					  "one row in this many may be trained on unseen, where "
					  "evaluations choose what is trained on"}},
};

/* ---- WT-ROWS-003: nothing was held out ------------------------------------------------------ */

enum { JUDGED_ROWS, JUDGED_ALL_BUT, JUDGED_DEVIATIONS, SPLIT };

/* Of a model: whether its evaluations were of training inputs as a whole. */
struct judged {
	struct wti_sampled_model model;
	uint64_t whole;        /* the last training input */
	uint64_t wholes;       /* calls that were given just that */
	struct last_call last; /* of its evaluations */
	uint32_t loader;       /* of the last training call */
	bool is_shared;        /* a batch was evaluated that no other loader gave */
	uint64_t before;       /* rows of all evaluations before the present one */
	uint64_t before_seen;  /* those of them that had been trained on */
	uint64_t largest;      /* rows of one evaluation */
	uint32_t name;
	/* How many steps its process had made in its last training call, and in the last one before
	 * that with another number; from 1. */
	uint64_t last_step, earlier_step;
	bool is_teacher; /* it was evaluated while others were trained, and itself no more */
};

static uint64_t whole_of(const struct wti_call *call)
{
	const struct wti_value_row *input = wti_call_tensor(call, false, 0);

	return input && !(input->digest.flags & WT_TENSOR_NO_HASH) ? input->digest.hash : 0;
}

static void note_training(struct judged *judged, const struct wti_moment *moment)
{
	uint64_t step = moment->process->step_count + 1;

	if (judged->last_step != step)
		judged->earlier_step = judged->last_step;
	judged->last_step = step;
	judged->name = moment->object->name;
	judged->is_teacher = false;
}

/* Another model has been trained in two steps or more since this one was for the last time. */
static bool serves_another(struct wti_case *account, const struct judged *judged,
			   const struct wti_moment *moment)
{
	size_t stream = moment->process->stream, place = 0;
	const struct judged *other;

	while ((other = wti_kept_next(account, WTI_OF_MODEL, stream, &place)))
		if (other->earlier_step > judged->last_step &&
		    wti_model_is_trained(moment->training, stream, other->name))
			return true;
	return false;
}

static void see_call(struct judged *judged, const struct source *source,
		     const struct wti_moment *moment)
{
	bool is_kept = wti_is_evaluation_call(moment->call) && judged->model.is_trained;
	const struct wti_input *least;

	if (is_kept) {
		judged->last = last_call_of(moment);
		judged->wholes += judged->whole && judged->whole == whole_of(moment->call);
		judged->is_shared |= !source->loader || source->loader == judged->loader;
	}
	wti_sampled_keep_call(&judged->model, is_kept);
	least = least_seen(&judged->model);
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

static enum wti_answer see_judged(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	struct wti_sampled_model *model;
	struct source *source = kept;
	struct judged *judged;

	if (moment->type == WTI_MOMENT_BATCH) {
		source->loader = moment->object ? moment->object->name : 0;
		return WTI_RULE_NO_CASE;
	}
	model = wti_sampled_take(account, moment);
	if (!model || moment->type == WTI_MOMENT_ROW)
		return WTI_RULE_NO_CASE;
	judged = (struct judged *)model;
	judged->is_teacher |=
		wti_is_evaluation_call(moment->call) && serves_another(account, judged, moment);
	see_call(judged, source, moment);
	return WTI_RULE_NO_CASE;
}

/*
 * A loader of its own that gives at most half of what was trained on was meant to give something
 * else. All of it again is how one looks at how well a model fits.
 */
static bool is_split(struct wti_case *account, const struct judged *judged,
		     const struct wti_training *training)
{
	uint64_t models = 0, contents = 0;

	for (size_t stream = 0; stream < training->processes.count; stream++) {
		const struct wti_sampled_model *model;
		size_t place = 0;

		while ((model = wti_kept_next(account, WTI_OF_MODEL, stream, &place))) {
			models++;
			contents += model->content_count;
		}
	}
	return !judged->is_shared && models == 1 &&
	       judged->largest * wti_threshold(account, SPLIT) <= contents;
}

static enum wti_answer judge_model(struct wti_case *account, const struct judged *judged,
				   const struct wti_moment *end)
{
	const struct wti_input *least = least_seen(&judged->model);
	struct wti_sampled_tally all = least ? least->all : (struct wti_sampled_tally){0};
	struct wti_moment at = at_call(*end, &judged->last);

	if (judged->is_teacher) {
		all.rows = judged->before;
		all.seen = judged->before_seen;
	}
	if (!judged->last.name || !least || all.rows < wti_threshold(account, JUDGED_ROWS) ||
	    judged->wholes)
		return WTI_RULE_NO_CASE;
	if (!is_most(&all, wti_threshold(account, JUDGED_ALL_BUT)) ||
	    !wti_input_exceeds(least, all.seen, all.rows,
			       wti_threshold_real(account, JUDGED_DEVIATIONS)))
		return WTI_RULE_HELD;
	if (is_split(account, judged, end->training))
		wti_raise(account, WT_WARNING);
	return wti_violated(account, &at, judged->last.name,
			    "of %llu sampled rows of all evaluations, %llu had been trained on",
			    (unsigned long long)all.rows, (unsigned long long)all.seen);
}

static enum wti_answer finish_judged(struct wti_case *account, void *kept,
				     const struct wti_moment *end)
{
	const struct judged *judged;
	size_t place = 0;

	while ((judged = wti_kept_next(account, WTI_OF_MODEL, end->process->stream, &place)))
		if (judge_model(account, judged, end) == WTI_RULE_HELD)
			wti_held(account);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_rows_003 = {
	.code = "WT-ROWS-003",
	.severity = WT_NOTE,
	.title = "the model is only ever evaluated on rows that it was trained on",
	.means = "the results show how well the model remembers, not how well it generalises: "
		 "nothing was held out, or the wrong split is loaded for the evaluation",
	.hint = "evaluate on rows that are not trained on",
	.definition =
		"Of all rows that a model is given in evaluation mode after it was trained, more "
		"than one in 20 was not trained on before, unless training rows repeat that often "
		"naturally (WT-ROWS-001). Fewer than 16 rows of the sample are not judged, nor is "
		"a model that is given its last training input as a whole again (graphs), nor "
		"what a model is given after its own training while another one is trained (a "
		"teacher). It is a warning where the loader of the evaluation is another one than "
		"that of the training, and gives at most half as many rows as were trained on. A "
		"case is a model.",
	.innocent = "A run that is meant to show how well the model fits its training data.",
	.needs = "no model was evaluated on rows of which the trace has a sample, after training",
	.moments = WTI_MOMENT_ROW | WTI_MOMENT_MODULE_END | WTI_MOMENT_BATCH,
	.keeps = {WTI_SAMPLED_KEEPS(sizeof(struct source), sizeof(struct judged))},
	.see = see_judged,
	.finish = finish_judged,
	.thresholds = {[JUDGED_ROWS] = {"rows", 16,
					"of the sample: fewer may be a look at some examples"},
		       [JUDGED_ALL_BUT] = {"all_but", 20, WHY_ALL_BUT},
		       [JUDGED_DEVIATIONS] = {"deviations", 3, WHY_DEVIATIONS},
		       [SPLIT] = {"split", 2,
				  "times fewer rows than were trained on, where it is a warning: "
				  "a part that is held out is smaller than what is left"}},
};
