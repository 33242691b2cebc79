/* SPDX-License-Identifier: Apache-2.0 */
/* A rule about models that are only ever evaluated on what they were trained on. */
#include "sampled.h"

/* ---- WT-ROWS-003: nothing was held out ------------------------------------------------------ */

enum { JUDGED_ROWS, JUDGED_ALL_BUT, JUDGED_DEVIATIONS, SPLIT };

/* Of a model: whether its evaluations were of training inputs as a whole. */
struct judged {
	struct wti_sampled_model model;
	uint64_t whole;            /* the last training input */
	uint64_t wholes;           /* calls that were given just that */
	struct wti_last_call last; /* of its evaluations */
	uint32_t loader;           /* of the last training call */
	bool is_shared;            /* a batch was evaluated that no other loader gave */
	uint64_t before;           /* rows of all evaluations before the present one */
	uint64_t before_seen;      /* those of them that had been trained on */
	uint64_t largest;          /* rows of one evaluation */
	/* Until another call begins: the last was an evaluation with gradients. As all was before.
	 */
	bool has_gradients;
	struct former {
		uint64_t wholes, largest;
		struct wti_last_call last;
		bool is_shared;
		struct wti_sampled_tally all[WTI_INPUTS_MAX];
	} former;
};

static uint64_t whole_of(const struct wti_call *call)
{
	const struct wti_value_row *input = wti_call_tensor(call, false, 0);

	return input && !(input->digest.flags & WT_TENSOR_NO_HASH) ? input->digest.hash : 0;
}

static void note_former(struct judged *judged)
{
	struct former *former = &judged->former;

	former->wholes = judged->wholes;
	former->largest = judged->largest;
	former->last = judged->last;
	former->is_shared = judged->is_shared;
	for (uint32_t i = 0; i < judged->model.input_count; i++)
		former->all[i] = judged->model.inputs[i].all;
}

static void restore_former(struct judged *judged)
{
	const struct former *former = &judged->former;

	judged->wholes = former->wholes;
	judged->largest = former->largest;
	judged->last = former->last;
	judged->is_shared = former->is_shared;
	for (uint32_t i = 0; i < judged->model.input_count; i++)
		judged->model.inputs[i].all = former->all[i];
}

/* A gradient is taken of what was computed in evaluation mode: that is no evaluation. */
static void take_back(struct wti_case *account, const struct wti_moment *moment)
{
	struct judged *judged;
	size_t place = 0;

	while ((judged = wti_kept_next(account, WTI_OF_MODEL, moment->process->stream, &place))) {
		if (judged->has_gradients)
			restore_former(judged);
		judged->has_gradients = false;
	}
}

/* Only of the model called last is a call taken back: the gradient is of that. A criterion is
 * called after it, and is no model. */
static void forget_former(struct wti_case *account, const struct wti_moment *moment, bool is_kept)
{
	size_t stream = moment->process->stream, place = 0;
	struct judged *judged;

	while ((judged = wti_kept_next(account, WTI_OF_MODEL, stream, &place)))
		if (judged->has_gradients &&
		    (is_kept ||
		     wti_model_is_trained(moment->training, stream, moment->object->name)))
			judged->has_gradients = false;
}

static void see_call(struct judged *judged, uint32_t loader, const struct wti_moment *moment)
{
	bool is_kept = wti_is_evaluation_call(moment->call) && judged->model.is_trained;
	const struct wti_input *least;

	if (is_kept) {
		note_former(judged);
		judged->last = wti_last_call_of(moment);
		judged->wholes += judged->whole && judged->whole == whole_of(moment->call);
		judged->is_shared |= !loader || loader == judged->loader;
	}
	judged->has_gradients = is_kept && moment->call->flags & WT_CALL_GRAD;
	wti_sampled_keep_call(&judged->model, is_kept);
	least = wti_input_least_seen(&judged->model);
	if (least && least->all.rows - judged->before > judged->largest)
		judged->largest = least->all.rows - judged->before;
	if (!wti_is_training_call(moment->call))
		return;
	judged->whole = whole_of(moment->call);
	judged->loader = loader;
	judged->before = least ? least->all.rows : 0;
	judged->before_seen = least ? least->all.seen : 0;
}

static enum wti_answer see_judged(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	struct wti_sampled_model *model;
	uint32_t *loader = kept; /* that the process reads from */
	struct judged *judged;

	if (moment->type == WTI_MOMENT_BATCH) {
		*loader = moment->object ? moment->object->name : 0;
		return WTI_RULE_NO_CASE;
	}
	if (moment->type == WTI_MOMENT_BACKWARD) {
		take_back(account, moment);
		return WTI_RULE_NO_CASE;
	}
	model = wti_sampled_take(account, moment);
	if (!model || moment->type == WTI_MOMENT_ROW)
		return WTI_RULE_NO_CASE;
	judged = (struct judged *)model;
	forget_former(account, moment,
		      judged->model.is_trained && wti_is_evaluation_call(moment->call));
	see_call(judged, *loader, moment);
	wti_sampled_turn(account, model, moment);
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
	const struct wti_input *least = wti_input_least_seen(&judged->model);
	struct wti_sampled_tally all = least ? least->all : (struct wti_sampled_tally){0};
	struct wti_moment at = wti_at_last_call(*end, &judged->last);

	if (judged->model.turn.is_teacher) {
		all.rows = judged->before;
		all.seen = judged->before_seen;
	}
	if (!judged->last.name || !least || all.rows < wti_threshold(account, JUDGED_ROWS) ||
	    judged->wholes)
		return WTI_RULE_NO_CASE;
	if (!wti_tally_is_most(&all, wti_threshold(account, JUDGED_ALL_BUT)) ||
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
		"a model that is given its last training input as a whole again (graphs), nor a "
		"call that a backward() follows before a model is called again, nor "
		"what a model is given after its own training while another one is trained (a "
		"teacher). It is a warning where the loader of the evaluation is another one than "
		"that of the training, and gives at most half as many rows as were trained on. A "
		"case is a model.",
	.innocent = "A run that is meant to show how well the model fits its training data.",
	.needs = "no model was evaluated on rows of which the trace has a sample, after training",
	.moments = WTI_MOMENT_ROW | WTI_MOMENT_MODULE_END | WTI_MOMENT_BATCH | WTI_MOMENT_BACKWARD,
	.keeps = {WTI_SAMPLED_KEEPS(sizeof(uint32_t), sizeof(struct judged))},
	.see = see_judged,
	.finish = finish_judged,
	.thresholds = {[JUDGED_ROWS] = {"rows", 16,
					"of the sample: fewer may be a look at some examples"},
		       [JUDGED_ALL_BUT] = {"all_but", 20, WTI_WHY_ALL_BUT},
		       [JUDGED_DEVIATIONS] = {"deviations", 3, WTI_WHY_DEVIATIONS},
		       [SPLIT] = {"split", 2,
				  "times fewer rows than were trained on, where it is a warning: "
				  "a part that is held out is smaller than what is left"}},
};
