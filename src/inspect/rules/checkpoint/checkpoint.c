/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about checkpoints: that they hold what was live. */
#include <string.h>

#include "inspect/judge/rule.h"
#include "inspect/training/slots.h"
#include "saved.h"

/* What is not in the trace may be in the file. */
static const char cut_off[] =
	"what was saved or loaded has more entries, or other keys, than the trace has";

/* The models of the process that saves, each beside what is saved. */
typedef void judge_model(struct wti_case *account, void *state, const struct wti_saved *saved,
			 const struct wti_object *model);

static bool is_a_model(const struct wti_moment *moment, size_t object)
{
	const struct wti_object *candidate = wti_object_at(moment->training, object);

	return candidate->stream == moment->process->stream &&
	       candidate->type == WT_OBJECT_TYPE_MODULE;
}

static void see_models(struct wti_case *account, void *state, const struct wti_moment *moment,
		       judge_model *judge)
{
	struct wti_saved saved;

	if (!wti_saved_init(&saved, moment))
		return;
	for (size_t i = 0; i < moment->training->objects.count; i++)
		if (is_a_model(moment, i))
			judge(account, state, &saved, wti_object_at(moment->training, i));
	wti_saved_release(&saved);
}

/* ---- WT-CKPT-001: of two moments ------------------------------------------------------------ */

static void judge_mixed(struct wti_case *account, void *state, const struct wti_saved *saved,
			const struct wti_object *model)
{
	struct wti_saved_match match;

	(void)state;
	if (!wti_saved_match_own(saved, model, &match))
		return;
	if (match.equal && match.different)
		wti_violated(account, saved->moment, match.first_different->name,
			     "%u of %u parameters in the checkpoint are what the model held, "
			     "%u are not",
			     match.equal, match.equal + match.different, match.different);
	else if (match.equal)
		wti_held(account);
}

static void see_mixed(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	see_models(account, state, moment, judge_mixed);
}

const struct wti_rule wti_rule_ckpt_001 = {
	.code = "WT-CKPT-001",
	.severity = WT_ERROR,
	.title = "a checkpoint is not what the model was",
	.means =
		"some of its tensors are of another moment or were changed on the way to the file: "
		"the loaded model is none that ever was",
	.hint = "save model.state_dict() as it is, in one piece, when no step is under way",
	.definition =
		"Of the parameters of a model that are in what torch.save() writes, found by "
		"name, type and shape, either all have the bytes that the model held or none. "
		"What a checkpoint has of a copy of the model, such as an average, is compared "
		"with the copy. A case is a model in a checkpoint.",
	.innocent = "A checkpoint of an earlier moment (the best so far) has none of the present "
		    "bytes, unless some parameters never change.",
	.needs = "nothing was saved that has a trained model's parameters",
	.moments = WTI_MOMENT_SAVE,
	.watch = see_mixed,
};

/* ---- WT-CKPT-002: incomplete ---------------------------------------------------------------- */

static void judge_incomplete(struct wti_case *account, void *state, const struct wti_saved *saved,
			     const struct wti_object *model)
{
	struct wti_saved_match match = wti_saved_match(saved, model->name);

	(void)state;
	if (match.equal + match.different < 2)
		return;
	if (match.first_missing && saved->is_cut)
		wti_not_measured(account, cut_off);
	else if (match.first_missing)
		wti_violated(account, saved->moment, match.first_missing->name,
			     "%u parameters of the model are in the checkpoint, %u that are "
			     "trained are not",
			     match.equal + match.different, match.missing);
	else
		wti_held(account);
}

static void see_incomplete(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	see_models(account, state, moment, judge_incomplete);
}

const struct wti_rule wti_rule_ckpt_002 = {
	.code = "WT-CKPT-002",
	.severity = WT_WARNING,
	.title = "a checkpoint lacks parameters that are trained",
	.means = "the model that is loaded from it has untrained values there",
	.hint = "save model.state_dict() whole; look for filters by requires_grad or by name",
	.definition =
		"If at least two parameters of a model are in what torch.save() writes, all of "
		"its parameters that an optimizer trains are, under one of their names. A case "
		"is a model in a checkpoint.",
	.innocent = "Adapters that are saved without the frozen model: what is frozen may be "
		    "missing. A "
		    "part that is saved on purpose, such as the encoder alone.",
	.needs = "nothing was saved that has a trained model's parameters",
	.moments = WTI_MOMENT_SAVE,
	.watch = see_incomplete,
};

/* ---- Loading -------------------------------------------------------------------------------- */

static void release_slots(void *state)
{
	wti_slots_release(state);
}

static bool is_load_of_model(const struct wti_moment *moment)
{
	return moment->call->what == WTI_CALLEE_LOAD_STATE_DICT && moment->object &&
	       moment->object->type == WT_OBJECT_TYPE_MODULE && !moment->call->exception;
}

/* ---- WT-CKPT-003: what is restored is what is there ----------------------------------------- */

/* Of a model: when its state was last taken, in steps of the process. */
struct taken {
	bool is_set;
	uint64_t step_count;
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

static void see_alias(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct taken *taken;

	if (moment->call->what != WTI_CALLEE_STATE_DICT && !is_load_of_model(moment))
		return;
	taken = wti_slot_of_object(state, moment->object, sizeof(*taken));
	if (!taken)
		return;
	if (moment->call->what == WTI_CALLEE_STATE_DICT) {
		*taken = (struct taken){true, moment->process->step_count};
		return;
	}
	if (!taken->is_set || taken->step_count == moment->process->step_count)
		return;
	if (moment->call->is_cut)
		wti_not_measured(account, cut_off);
	else if (changes_nothing(moment))
		wti_violated(account, moment, moment->object->name,
			     "its state was taken %llu steps ago, and what is loaded now is what "
			     "it holds already",
			     (unsigned long long)(moment->process->step_count - taken->step_count));
	else
		wti_held(account);
}

const struct wti_rule wti_rule_ckpt_003 = {
	.code = "WT-CKPT-003",
	.severity = WT_ERROR,
	.title = "the state that is restored is the present one",
	.means = "state_dict() gives references, not copies: what was kept as the best state has "
		 "trained on with the model",
	.hint = "keep copy.deepcopy(model.state_dict())",
	.definition =
		"If a model's state was last taken before its optimizer's last steps, what "
		"load_state_dict() is given differs from what the model holds. A case is a load "
		"after steps since the state was taken.",
	.innocent = "None is known.",
	.needs = "no state was taken, trained past and loaded again",
	.moments = WTI_MOMENT_CALL,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_alias,
	.release = release_slots,
};

/* ---- WT-CKPT-004: nothing matches ----------------------------------------------------------- */

static bool is_key_of(const struct wti_moment *moment, uint32_t object, uint32_t key)
{
	for (size_t i = 0; i < moment->training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(moment->training, i);

		if (parameter->name == key && parameter->owner == object &&
		    parameter->stream == moment->process->stream)
			return true;
	}
	return false;
}

static void see_unmatched(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	uint32_t others = 0;

	if (!is_load_of_model(moment))
		return;
	for (uint32_t i = 0; i < moment->call->value_count; i++) {
		const struct wti_value_row *value = &moment->call->values[i];

		if (value->type != WTI_VALUE_TENSOR || value->position < 0 ||
		    strchr(wti_moment_text(moment, value->name), '['))
			continue;
		if (is_key_of(moment, moment->object->name, value->name)) {
			wti_held(account);
			return;
		}
		others++;
	}
	if (others && moment->call->is_cut)
		wti_not_measured(account, cut_off);
	else if (others)
		wti_violated(account, moment, moment->object->name,
			     "none of %u names in what is loaded is one of the model's", others);
}

const struct wti_rule wti_rule_ckpt_004 = {
	.code = "WT-CKPT-004",
	.severity = WT_ERROR,
	.title = "nothing of what is loaded fits the model",
	.means = "no name matches, and strict=False says nothing: the model keeps its random "
		 "weights",
	.hint = "compare the names; take off or put on a prefix such as \"module.\"",
	.definition = "At least one name of what load_state_dict() is given is that of a parameter "
		      "or buffer of the model. A case is a load of a model.",
	.innocent = "None is known.",
	.needs = "no model was loaded",
	.moments = WTI_MOMENT_CALL,
	.watch = see_unmatched,
};

/* ---- WT-CKPT-005: has moved on since it was taken ------------------------------------------- */

static void judge_moved_on(struct wti_case *account, void *state, const struct wti_saved *saved,
			   const struct wti_object *model)
{
	const struct wti_moment *moment = saved->moment;
	struct wti_saved_match match = wti_saved_match(saved, model->name);
	struct taken *taken = wti_slot_of_object(state, model, sizeof(*taken));
	uint64_t ago;

	if (!taken || !taken->is_set || match.equal + match.different < 2)
		return;
	ago = moment->process->step_count - taken->step_count;
	if (ago && match.equal && !match.different)
		wti_violated(account, moment, model->name,
			     "its state was taken %llu steps before, and what is written is what "
			     "it holds now",
			     (unsigned long long)ago);
	else
		wti_held(account);
}

static void see_moved_on(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	struct taken *taken;

	if (moment->type == WTI_MOMENT_SAVE) {
		see_models(account, state, moment, judge_moved_on);
		return;
	}
	if (moment->call->what != WTI_CALLEE_STATE_DICT)
		return;
	taken = wti_slot_of_object(state, moment->object, sizeof(*taken));
	if (taken)
		*taken = (struct taken){true, moment->process->step_count};
}

const struct wti_rule wti_rule_ckpt_005 = {
	.code = "WT-CKPT-005",
	.severity = WT_WARNING,
	.title = "a checkpoint is written later than its state was taken, and has moved on",
	.means = "state_dict() gives references: what is called step N holds the weights of a "
		 "later one",
	.hint = "copy the state when it is taken: {k: v.clone() for k, v in "
		"model.state_dict().items()}",
	.definition = "If torch.save() writes the present bytes of a model, no step was made since "
		      "state_dict() of it was last called. A case is a model in a checkpoint.",
	.innocent = "A dictionary of references that is kept and written again and again on "
		    "purpose.",
	.needs = "nothing was saved that has the parameters of a model whose state was taken",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_SAVE,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_moved_on,
	.release = release_slots,
};

/* ---- WT-CKPT-006: what is frozen is nowhere ------------------------------------------------- */

static void judge_frozen(struct wti_case *account, void *state, const struct wti_saved *saved,
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
	(void)state;
	if (there < 2)
		return;
	if (missing && saved->is_cut)
		wti_not_measured(account, cut_off);
	else if (missing)
		wti_violated(account, moment, missing->name,
			     "%u parameters of the model are in the checkpoint; %u that are frozen "
			     "are not, and were not loaded from anywhere either",
			     there, lost);
	else
		wti_held(account);
}

static void see_frozen(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	bool *is_loaded = wti_slot(state, moment->process->stream, sizeof(*is_loaded));

	if (!is_loaded)
		return;
	if (moment->type == WTI_MOMENT_LOAD || is_load_of_model(moment))
		*is_loaded = true;
	if (moment->type != WTI_MOMENT_SAVE || *is_loaded)
		return;
	see_models(account, state, moment, judge_frozen);
}

const struct wti_rule wti_rule_ckpt_006 = {
	.code = "WT-CKPT-006",
	.severity = WT_WARNING,
	.title = "a checkpoint lacks frozen parameters that exist nowhere else",
	.means = "whoever loads it has other values there: the frozen part was made in this run, "
		 "and is lost with it",
	.hint = "save model.state_dict() whole, or load the frozen part from a file too",
	.definition =
		"If at least two parameters of a model are in what torch.save() writes, and "
		"nothing "
		"was loaded in this process, its frozen parameters are too. A case is a model in "
		"a checkpoint.",
	.innocent = "A frozen part that is made from a fixed seed, or read in a way that torch "
		    "does not see.",
	.needs = "nothing was saved that has a model's parameters, or something was loaded before",
	.moments = WTI_MOMENT_CALL | WTI_MOMENT_LOAD | WTI_MOMENT_SAVE,
	.state_bytes = sizeof(struct wti_slots),
	.watch = see_frozen,
	.release = release_slots,
};
