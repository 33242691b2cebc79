/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about checkpoints: that they hold what was live. */
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/members.h"
#include "saved.h"

static const char cut_off[] =
	"what was saved or loaded has more entries, or other keys, than the trace has";

static bool is_a_model(const struct wti_moment *moment, const struct wti_object *object)
{
	return object->stream == moment->process->stream && object->type == WT_OBJECT_TYPE_MODULE;
}

/* The models of the process that saves, each beside what is saved: a case each. */
static enum wti_answer see_models(struct wti_case *account, const struct wti_moment *moment,
				  enum wti_answer (*judge)(struct wti_case *account,
							   const struct wti_saved *saved,
							   const struct wti_object *model))
{
	struct wti_saved saved;

	if (!wti_saved_init(&saved, moment))
		return WTI_RULE_NO_CASE;
	for (size_t i = 0; i < moment->training->objects.count; i++) {
		const struct wti_object *object = wti_object_at(moment->training, i);

		if (is_a_model(moment, object) && judge(account, &saved, object) == WTI_RULE_HELD)
			wti_held(account);
	}
	wti_saved_release(&saved);
	return WTI_RULE_NO_CASE;
}

/* Nothing can be said: what is missing in the trace may be in the file. */
static enum wti_answer not_in_trace(struct wti_case *account)
{
	wti_not_measured(account, cut_off);
	return WTI_RULE_NO_CASE;
}

/* ---- WT-CKPT-001: of two moments ------------------------------------------------------------ */

enum { MIXED_OF_PROCESS, MIXED_OF_MODEL }; /* keeps */
enum { INITIAL_PARAMETERS };

/* Of a model: checkpoints with what it held before all steps, and others. */
struct kept_files {
	uint32_t initial, others;
	uint32_t name; /* of the model */
	uint32_t parameters;
	uint64_t steps; /* of the process, when the last of them was written */
	struct wti_scope scope;
	struct wti_call call; /* likewise; without its values */
};

static void note_file(struct wti_case *account, const struct wti_saved *saved,
		      const struct wti_object *model, const struct wti_saved_match *match)
{
	struct kept_files *files = wti_kept_of_object(account, MIXED_OF_MODEL, model);

	if (!files || match->equal + match->different < wti_threshold(account, INITIAL_PARAMETERS))
		return;
	if (match->equal || match->initial < match->different) {
		files->others++;
		return;
	}
	files->initial++;
	files->name = model->name;
	files->parameters = match->initial;
	files->steps = saved->moment->process->step_count;
	files->scope = saved->moment->scope;
	files->call = wti_moment_call(saved->moment);
}

/* All that was ever saved of a model is what it was before it was trained. */
static enum wti_answer finish_files(struct wti_case *account, void *kept,
				    const struct wti_moment *end)
{
	const struct kept_files *files;
	struct wti_moment at = *end;
	size_t place = 0;

	while ((files = wti_kept_next(account, MIXED_OF_MODEL, end->process->stream, &place))) {
		if (!files->initial || files->others)
			continue;
		at.scope = files->scope;
		at.call = &files->call;
		wti_violated(account, &at, files->name,
			     "all %u parameters that are saved are what the model held before its "
			     "first step; %llu steps had been made",
			     files->parameters, (unsigned long long)files->steps);
	}
	return WTI_RULE_NO_CASE;
}

static enum wti_answer judge_mixed(struct wti_case *account, const struct wti_saved *saved,
				   const struct wti_object *model)
{
	struct wti_saved_match match;

	if (!wti_saved_match_own(saved, model, &match))
		return WTI_RULE_NO_CASE;
	note_file(account, saved, model, &match);
	if (!match.equal)
		return WTI_RULE_NO_CASE;
	if (!match.different)
		return WTI_RULE_HELD;
	return wti_violated(account, saved->moment, match.first_different->name,
			    "%u of %u parameters in the checkpoint are what the model held, %u are "
			    "not",
			    match.equal, match.equal + match.different, match.different);
}

static enum wti_answer see_mixed(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	return see_models(account, moment, judge_mixed);
}

const struct wti_rule wti_rule_ckpt_001 = {
	.code = "WT-CKPT-001",
	.severity = WT_ERROR,
	.title = "a checkpoint differs from what the model held",
	.means = "its tensors are from another moment, or were changed on the way to the file: the "
		 "model loaded from it mixes states that never coexisted, or is untrained",
	.hint = "save model.state_dict() as it is, in one piece, when no step is under way",
	.definition =
		"Of a model's parameters in what torch.save() writes, matched by name, type and "
		"shape, either all have the bytes that the model holds, or none has; and where "
		"none has, in all checkpoints of a run, they are not those from before its first "
		"step. A copy of the model in a checkpoint, such as an average, is compared with "
		"that copy. A case is a model in a checkpoint.",
	.innocent = "A checkpoint of an earlier moment (the best so far) of a model in which some "
		    "parameters never change.",
	.needs = "nothing was saved that has a trained model's parameters",
	.moments = WTI_MOMENT_SAVE,
	.keeps = {[MIXED_OF_PROCESS] = {WTI_PER_PROCESS, 0},
		  [MIXED_OF_MODEL] = {WTI_PER_OBJECT, sizeof(struct kept_files)}},
	.see = see_mixed,
	.finish = finish_files,
	.thresholds = {[INITIAL_PARAMETERS] = {"parameters", 2,
					       "of the initial values: one tensor may have the "
					       "values of another"}},
};

/* ---- WT-CKPT-002: incomplete ---------------------------------------------------------------- */

enum { PARAMETERS }; /* of WT-CKPT-005 and WT-CKPT-006, too */

#define PARAMETERS_WHY "one tensor of another model may have the same name, type and shape"

static enum wti_answer judge_incomplete(struct wti_case *account, const struct wti_saved *saved,
					const struct wti_object *model)
{
	struct wti_saved_match match = wti_saved_match(saved, model->name);
	uint32_t there = match.equal + match.different;

	if (!there || there < wti_threshold(account, PARAMETERS))
		return WTI_RULE_NO_CASE;
	if (!match.first_missing)
		return WTI_RULE_HELD;
	if (saved->is_cut)
		return not_in_trace(account);
	return wti_violated(account, saved->moment, match.first_missing->name,
			    "%u parameters of the model are in the checkpoint, %u that are trained "
			    "are not",
			    there, match.missing);
}

static enum wti_answer see_incomplete(struct wti_case *account, void *kept,
				      const struct wti_moment *moment)
{
	return see_models(account, moment, judge_incomplete);
}

const struct wti_rule wti_rule_ckpt_002 = {
	.code = "WT-CKPT-002",
	.severity = WT_WARNING,
	.title = "trained parameters are missing from a checkpoint",
	.means = "the model that is loaded from it has untrained values there",
	.hint = "save model.state_dict() whole; look for filters by requires_grad or by name",
	.definition =
		"If torch.save() writes at least `parameters` parameters of a model, it writes "
		"all of its parameters that an optimizer trains, each under one of its names, or "
		"with the same bytes under another one (a parameter that was renamed). A case is a "
		"model in a checkpoint.",
	.innocent = "A part that is saved on purpose, such as the encoder alone. Frozen "
		    "parameters may be missing, as when adapters are saved without their base "
		    "model.",
	.needs = "nothing was saved that has a trained model's parameters",
	.moments = WTI_MOMENT_SAVE,
	.see = see_incomplete,
	.thresholds = {{"parameters", 2, PARAMETERS_WHY}},
};

/* ---- Loading -------------------------------------------------------------------------------- */

/* Of a call of load_state_dict(). */
static bool is_load_of_model(const struct wti_moment *moment)
{
	return moment->object && moment->object->type == WT_OBJECT_TYPE_MODULE &&
	       !moment->call->exception;
}

/* ---- WT-CKPT-003: what is restored is what is there ----------------------------------------- */

/* Of a model: when its state was last taken, in steps of the process. */
struct taken {
	bool is_set;
	uint64_t step_count;
	int64_t step; /* of the run */
};

/* Whether all that is loaded is what the model holds, and at least one of it moves. */
static bool changes_nothing(const struct wti_moment *moment)
{
	struct wti_saved_match match;
	struct wti_saved loaded;

	if (!wti_saved_init(&loaded, moment))
		return false;
	match = wti_saved_match(&loaded, moment->object->name);
	wti_saved_release(&loaded);
	return match.equal && !match.different;
}

static void note_taken(struct taken *taken, const struct wti_moment *moment)
{
	*taken = (struct taken){true, moment->process->step_count, moment->scope.step};
}

static enum wti_answer see_alias(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	uint64_t step_count = moment->process->step_count;
	struct taken *taken = kept;

	if (moment->call->what == WTI_CALLEE_STATE_DICT) {
		note_taken(taken, moment);
		return WTI_RULE_NO_CASE;
	}
	if (!is_load_of_model(moment) || !taken->is_set || taken->step_count == step_count)
		return WTI_RULE_NO_CASE;
	if (moment->call->is_cut)
		return not_in_trace(account);
	if (!changes_nothing(moment))
		return WTI_RULE_HELD;
	wti_since(account, taken->step);
	return wti_violated(account, moment, moment->object->name,
			    "its state was taken %llu steps ago, and what is loaded now is what it "
			    "holds already",
			    (unsigned long long)(step_count - taken->step_count));
}

const struct wti_rule wti_rule_ckpt_003 = {
	.code = "WT-CKPT-003",
	.severity = WT_ERROR,
	.title = "the restored state is what the model already holds",
	.means = "state_dict() returns references, not copies: the state that was kept as the "
		 "best one has changed with every later step",
	.hint = "keep copy.deepcopy(model.state_dict())",
	.explains = (const char *const[]){"WT-CKPT-005", NULL},
	.definition =
		"If the optimizer has stepped since the model's state_dict() was last called, "
		"what load_state_dict() is given differs from what the model holds. A case is a "
		"load with steps since the state was taken.",
	.innocent = "None is known.",
	.needs = "no state was taken, followed by steps and loaded again",
	.moments = WTI_MOMENT_CALL,
	.callees =
		WTI_CALLEE_SET(WTI_CALLEE_STATE_DICT) | WTI_CALLEE_SET(WTI_CALLEE_LOAD_STATE_DICT),
	.keeps = {{WTI_PER_OBJECT, sizeof(struct taken)}},
	.see = see_alias,
};

/* ---- WT-CKPT-004: nothing matches ----------------------------------------------------------- */

static bool is_key_of(const struct wti_moment *moment, uint32_t key)
{
	return wti_parameter_find(moment->training, moment->process->stream, moment->object->name,
				  key);
}

static enum wti_answer see_unmatched(struct wti_case *account, void *kept,
				     const struct wti_moment *moment)
{
	const struct wti_value_row *value = NULL;
	uint32_t others = 0;

	if (!is_load_of_model(moment))
		return WTI_RULE_NO_CASE;
	while ((value = wti_call_next_tensor(moment->call, false, value))) {
		if (strchr(wti_moment_text(moment, value->name), '['))
			continue;
		if (is_key_of(moment, value->name))
			return WTI_RULE_HELD;
		others++;
	}
	if (!others)
		return WTI_RULE_NO_CASE;
	if (moment->call->is_cut)
		return not_in_trace(account);
	return wti_violated(account, moment, moment->object->name,
			    "none of %u names in what is loaded is one of the model's", others);
}

const struct wti_rule wti_rule_ckpt_004 = {
	.code = "WT-CKPT-004",
	.severity = WT_ERROR,
	.title = "no name in the loaded state matches the model",
	.means = "with strict=False nothing is reported: the model keeps its random weights",
	.hint = "compare the names; remove or add a prefix such as \"module.\"",
	.definition = "At least one name in what load_state_dict() is given is the name of a "
		      "parameter or buffer of the model. A case is a call of load_state_dict() on "
		      "a model.",
	.innocent = "None is known.",
	.needs = "no model was loaded",
	.moments = WTI_MOMENT_CALL,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_LOAD_STATE_DICT),
	.see = see_unmatched,
};

/* ---- WT-CKPT-005: has moved on since it was taken ------------------------------------------- */

enum { OF_PROCESS, OF_MODEL }; /* keeps */

static enum wti_answer judge_moved_on(struct wti_case *account, const struct wti_saved *saved,
				      const struct wti_object *model)
{
	const struct wti_moment *moment = saved->moment;
	struct wti_saved_match match = wti_saved_match(saved, model->name);
	uint32_t there = match.equal + match.different;
	const struct taken *taken = wti_kept_of_object(account, OF_MODEL, model);
	uint64_t ago;

	if (!taken || !taken->is_set || !there || there < wti_threshold(account, PARAMETERS))
		return WTI_RULE_NO_CASE;
	ago = moment->process->step_count - taken->step_count;
	if (!ago || match.different)
		return WTI_RULE_HELD;
	wti_since(account, taken->step);
	return wti_violated(account, moment, model->name,
			    "its state was taken %llu steps before, and what is written is what it "
			    "holds now",
			    (unsigned long long)ago);
}

static enum wti_answer see_moved_on(struct wti_case *account, void *kept,
				    const struct wti_moment *moment)
{
	struct taken *taken;

	if (moment->type == WTI_MOMENT_SAVE)
		return see_models(account, moment, judge_moved_on);
	taken = wti_kept(account, OF_MODEL, moment);
	if (taken)
		note_taken(taken, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_ckpt_005 = {
	.code = "WT-CKPT-005",
	.severity = WT_WARNING,
	.title = "a state is taken before a step and written to a checkpoint after it",
	.means = "state_dict() returns references: a checkpoint that is named after step N holds "
		 "the weights of a later step",
	.hint = "copy the state when it is taken: {k: v.clone() for k, v in "
		"model.state_dict().items()}",
	.definition = "If torch.save() writes the bytes that a model holds now, no step was made "
		      "since its state_dict() was last called. A case is a model in a checkpoint.",
	.innocent = "A dictionary of references that is kept and written again and again on "
		    "purpose.",
	.needs = "nothing was saved that has the parameters of a model whose state was taken",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_SAVE,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_STATE_DICT),
	.keeps = {[OF_PROCESS] = {WTI_PER_PROCESS, 0},
		  [OF_MODEL] = {WTI_PER_OBJECT, sizeof(struct taken)}},
	.see = see_moved_on,
	.thresholds = {{"parameters", 2, PARAMETERS_WHY}},
};

/* ---- WT-CKPT-006: what is frozen is nowhere ------------------------------------------------- */

static enum wti_answer judge_frozen(struct wti_case *account, const struct wti_saved *saved,
				    const struct wti_object *model)
{
	const struct wti_moment *moment = saved->moment;
	const struct wti_parameter *missing = NULL;
	uint32_t there = 0, lost = 0;

	for (size_t i = 0; i < moment->training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(moment->training, i);

		if (parameter->stream != moment->process->stream ||
		    parameter->owner != model->name || !parameter->is_member ||
		    parameter->is_buffer || parameter->placement)
			continue;
		if (wti_saved_has(saved, parameter)) {
			there++;
		} else if (!parameter->requires_grad && !parameter->moved) { /* an average moves */
			lost++;
			missing = parameter;
		}
	}
	if (!there || there < wti_threshold(account, PARAMETERS))
		return WTI_RULE_NO_CASE;
	if (!missing)
		return WTI_RULE_HELD;
	if (saved->is_cut)
		return not_in_trace(account);
	return wti_violated(account, moment, missing->name,
			    "%u parameters of the model are in the checkpoint; %u that are frozen "
			    "are not, and were not loaded from anywhere either",
			    there, lost);
}

/* Of a process: whether anything was loaded. */
static enum wti_answer see_frozen(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	bool *is_loaded = kept;

	if (moment->type == WTI_MOMENT_SAVE)
		return *is_loaded ? WTI_RULE_NO_CASE : see_models(account, moment, judge_frozen);
	*is_loaded |= (moment->type == WTI_MOMENT_LOAD && !wti_is_of_arrays(moment)) ||
		      is_load_of_model(moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_ckpt_006 = {
	.code = "WT-CKPT-006",
	.severity = WT_WARNING,
	.title = "frozen parameters that exist nowhere else are missing from a checkpoint",
	.means = "whoever loads it gets other values there: the frozen part was created in this "
		 "run and is saved nowhere",
	.hint = "save model.state_dict() whole, or load the frozen part from a file too",
	.definition =
		"If at least `parameters` parameters of a model are in what torch.save() writes, "
		"and nothing was loaded in this process, its frozen parameters are too. A case is "
		"a model in a checkpoint.",
	.innocent = "A frozen part that is made from a fixed seed, or read in a way that torch "
		    "does not see.",
	.needs = "nothing was saved that has a model's parameters, or something was loaded before",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_LOAD | WTI_MOMENT_SAVE,
	.callees = WTI_CALLEE_SET(WTI_CALLEE_LOAD_STATE_DICT),
	.keeps = {{WTI_PER_PROCESS, sizeof(bool)}},
	.see = see_frozen,
	.thresholds = {{"parameters", 2, PARAMETERS_WHY}},
};
