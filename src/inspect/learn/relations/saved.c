/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saved = live: what a checkpoint holds is what the model held. The occasion is each parameter of a
 * model when something is saved, and what was loaded when the next step begins.
 */
#include <string.h>

#include "inspect/learn/relation.h"
#include "relations.h"

/* clang-format off */
enum term {
	/* subjects */
	CHECKPOINT, RESUME, LOAD,
	/* the second of a subject */
	COLLECTED, OPTIMIZER_STATE,
	/* facts */
	HOLDS_EACH_PARAMETER, HOLDS_WHAT_IS_LIVE, HOLDS_WHAT_STATE_DICT_GAVE, RESTORES_MODEL,
	RESTORES_OPTIMIZER, MATCHES_MODEL_BY_NAME, BRINGS_OTHER_CONTENTS,
};

static const struct wti_term terms[] = {
	[CHECKPOINT] = {"checkpoint", "checkpoint"},
	[RESUME] = {"resume", "resume"},
	[LOAD] = {"load", "load"},
	[COLLECTED] = {"collected", "collected"},
	[OPTIMIZER_STATE] = {"optimizer_state", "an optimizer's state"},
	[HOLDS_EACH_PARAMETER] = {"holds_each_parameter", "holds each parameter"},
	[HOLDS_WHAT_IS_LIVE] = {"holds_what_is_live", "holds what is live"},
	[HOLDS_WHAT_STATE_DICT_GAVE] = {"holds_what_state_dict_gave", "holds what state_dict() gave"},
	[RESTORES_MODEL] = {"restores_model", "restores the model"},
	[RESTORES_OPTIMIZER] = {"restores_optimizer", "restores the optimizer"},
	[MATCHES_MODEL_BY_NAME] = {"matches_model_by_name", "matches the model by name"},
	[BRINGS_OTHER_CONTENTS] = {"brings_other_contents", "brings other contents"},
	{0},
};
/* clang-format on */

enum { COLLECTED_MAX = 1 << 18 }; /* contents of parameters; beyond, it begins anew */

struct flow { /* of a process */
	bool loaded;
	bool loaded_optimizer; /* its state was among it */
	bool restored_model, restored_optimizer;
	bool saved_optimizer;
};

enum memory {
	FLOWS,
	CONTENTS, /* of parameters, that a state_dict() collected */
};

/* "model.fc1.weight" ends with "fc1.weight" at a dot, or is it. */
static bool ends_with(const char *path, const char *name)
{
	size_t path_bytes = strlen(path), name_bytes = strlen(name);

	if (name_bytes > path_bytes || strcmp(path + path_bytes - name_bytes, name))
		return false;
	return path_bytes == name_bytes || path[path_bytes - name_bytes - 1] == '.';
}

/* "fc1.weight", or "state_dict[fc1.weight]": the name itself, nothing in front of it. */
static bool is_named(const struct wti_scene *scene, const struct wti_value_row *value,
		     const struct wti_parameter *parameter)
{
	const char *path = wti_symbol_text(scene->symbols, value->name);
	const char *name = wti_symbol_text(scene->symbols, parameter->name);
	const char *bracket = strchr(path, '[');
	size_t bytes = strlen(name);

	if (value->name == parameter->name)
		return true;
	return bracket && !strncmp(bracket + 1, name, bytes) && !strcmp(bracket + 1 + bytes, "]");
}

static const struct wti_value_row *find(const struct wti_scene *scene, const struct wti_call *call,
					const struct wti_parameter *parameter)
{
	const struct wti_value_row *found = NULL;
	const char *name = wti_symbol_text(scene->symbols, parameter->name);

	for (uint32_t i = 0; i < call->value_count; i++) {
		const struct wti_value_row *value = &call->values[i];

		if (value->type != WTI_VALUE_TENSOR || value->digest.flags & WT_TENSOR_NO_HASH ||
		    value->digest.shape != parameter->shape ||
		    !ends_with(wti_symbol_text(scene->symbols, value->name), name))
			continue;
		found = value;
		if (value->digest.hash == parameter->hash)
			break;
	}
	return found;
}

/* By name alone: a run that is resumed has the same model under another name. */
static uint64_t contents_key(const struct wti_parameter *parameter, uint64_t hash)
{
	return hash ^ parameter->name * 0x9e3779b97f4a7c15u;
}

static bool is_collected(const struct wti_scene *scene, const struct wti_parameter *parameter,
			 uint64_t hash)
{
	return wti_recall_find_key(scene, CONTENTS, parameter->stream,
				   contents_key(parameter, hash));
}

/* What state_dict() gave, of whichever step, is what a checkpoint is made of. Buffers move between
 * steps, and are reported later. */
static void report_collected(struct wti_scene *scene, const struct wti_moment *moment,
			     const struct wti_parameter *parameter)
{
	const struct wti_value_row *value = find(scene, moment->call, parameter);

	if (!value || parameter->is_buffer || !is_collected(scene, parameter, 0))
		return;
	wti_occasion_of_term(scene, &wti_relation_saved, moment, CHECKPOINT, COLLECTED);
	wti_occasion_parameter(scene, parameter);
	if (is_collected(scene, parameter, value->digest.hash))
		wti_say_term(scene, HOLDS_WHAT_STATE_DICT_GAVE);
	wti_report(scene);
}

static void report_parameter(struct wti_scene *scene, const struct wti_moment *moment,
			     const struct wti_parameter *parameter, bool any)
{
	const struct wti_value_row *value = find(scene, moment->call, parameter);

	if (!value && moment->call->is_cut)
		return; /* it may be among what the trace does not have */
	wti_occasion_of_term(scene, &wti_relation_saved, moment, CHECKPOINT, WTI_NO_TERM);
	wti_occasion_parameter(scene, parameter);
	if (value)
		wti_say_term(scene, HOLDS_EACH_PARAMETER);
	if (!value || value->digest.hash == parameter->hash)
		wti_say_term(scene, HOLDS_WHAT_IS_LIVE);
	if (any)
		wti_report(scene);
}

static bool is_candidate(const struct wti_moment *moment, const struct wti_parameter *parameter)
{
	return parameter->stream == moment->process->stream && parameter->is_member &&
	       parameter->has_hash && !parameter->placement;
}

struct held {
	uint32_t found; /* parameters of a model, by name and shape */
	uint32_t equal; /* and by what they hold now */
};

static struct held held_of(struct wti_scene *scene, const struct wti_moment *moment, uint32_t owner)
{
	struct held held = {0};

	for (size_t i = 0; i < scene->training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(scene->training, i);
		const struct wti_value_row *value;

		if (parameter->owner != owner || !is_candidate(moment, parameter))
			continue;
		value = find(scene, moment->call, parameter);
		held.found += value != NULL;
		held.equal += value && value->digest.hash == parameter->hash;
	}
	return held;
}

/* Models of the same names are many: what holds nothing of this one, and all of another that is
 * live, is a checkpoint of the other. */
static bool is_of_another(struct wti_scene *scene, const struct wti_moment *moment, uint32_t owner)
{
	for (size_t i = 0; i < scene->training->objects.count; i++) {
		const struct wti_object *other = wti_object_at(scene->training, i);
		struct held held;

		if (other->name == owner || other->stream != moment->process->stream ||
		    other->type != WT_OBJECT_TYPE_MODULE)
			continue;
		held = held_of(scene, moment, other->name);
		if (held.found && held.equal == held.found)
			return true;
	}
	return false;
}

/* A checkpoint of a model holds at least one of its parameters by name. */
static bool is_of_model(struct wti_scene *scene, const struct wti_moment *moment, uint32_t owner)
{
	struct held held = held_of(scene, moment, owner);

	return held.found && (held.equal || !is_of_another(scene, moment, owner));
}

static void see_save(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_training *training = scene->training;
	uint32_t owner = 0;
	bool holds = false;

	for (size_t i = 0; i < training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(training, i);

		if (!is_candidate(moment, parameter))
			continue;
		if (parameter->owner != owner)
			holds = is_of_model(scene, moment, parameter->owner);
		owner = parameter->owner;
		if (!holds)
			continue;
		report_parameter(scene, moment, parameter, true);
		report_collected(scene, moment, parameter);
	}
}

static bool has_optimizer_state(const struct wti_scene *scene, const struct wti_call *call)
{
	for (uint32_t i = 0; i < call->value_count; i++)
		if (strstr(wti_symbol_text(scene->symbols, call->values[i].name), "exp_avg") ||
		    strstr(wti_symbol_text(scene->symbols, call->values[i].name), "momentum") ||
		    strstr(wti_symbol_text(scene->symbols, call->values[i].name), "state."))
			return true;
	return false;
}

/* What was loaded has been given back when training goes on: models, and what else was in it. */
static void see_step(struct wti_scene *scene, struct flow *flow, const struct wti_moment *moment)
{
	if (flow->loaded) {
		wti_occasion_of_term(scene, &wti_relation_saved, moment, RESUME, WTI_NO_TERM);
		if (flow->restored_model)
			wti_say_term(scene, RESTORES_MODEL);
		wti_report(scene);
	}
	if (flow->loaded_optimizer && flow->restored_model) {
		wti_occasion_of_term(scene, &wti_relation_saved, moment, RESUME, OPTIMIZER_STATE);
		if (flow->restored_optimizer)
			wti_say_term(scene, RESTORES_OPTIMIZER);
		wti_report(scene);
	}
	*flow = (struct flow){0};
}

/* What a model is given back belongs to it by name, and is not what it has already. */
static void report_load(struct wti_scene *scene, const struct wti_moment *moment)
{
	bool matches = false, differs = false;

	for (size_t i = 0; i < scene->training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(scene->training, i);
		const struct wti_value_row *value;

		if (parameter->owner != moment->object->name || !parameter->is_member ||
		    parameter->stream != moment->process->stream)
			continue; /* what it held may not be known yet */
		value = find(scene, moment->call, parameter);
		matches |= value && is_named(scene, value, parameter);
		differs |= value && value->digest.hash != parameter->hash;
	}
	wti_occasion_of_term(scene, &wti_relation_saved, moment, LOAD, WTI_NO_TERM);
	if (matches)
		wti_say_term(scene, MATCHES_MODEL_BY_NAME);
	if (differs || !matches)
		wti_say_term(scene, BRINGS_OTHER_CONTENTS);
	wti_report(scene);
}

/* Remembers what the parameters of a model hold when its state is collected. */
static void note_collection(struct wti_scene *scene, const struct wti_moment *moment)
{
	for (size_t i = 0; i < scene->training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(scene->training, i);

		if (parameter->owner != moment->object->name || !is_candidate(moment, parameter))
			continue;
		if (scene->keeps[CONTENTS].kept.count >= COLLECTED_MAX)
			wti_keep_forget(&scene->keeps[CONTENTS]);
		wti_recall_of_key(scene, CONTENTS, parameter->stream, contents_key(parameter, 0));
		wti_recall_of_key(scene, CONTENTS, parameter->stream,
				  contents_key(parameter, parameter->hash));
	}
}

static void see_call(struct wti_scene *scene, struct flow *flow, const struct wti_moment *moment)
{
	const char *callee = wti_symbol_text(scene->symbols, moment->call->callee);

	if (moment->call->what == WTI_CALLEE_STATE_DICT && moment->object)
		note_collection(scene, moment);

	if (!ends_with(callee, "load_state_dict") || !moment->object)
		return;
	if (moment->object->type == WT_OBJECT_TYPE_MODULE && !moment->call->exception)
		report_load(scene, moment);
	flow->restored_optimizer |= moment->object->type == WT_OBJECT_TYPE_OPTIMIZER;
	flow->restored_model |= moment->object->type == WT_OBJECT_TYPE_MODULE;
}

static void see(struct wti_scene *scene, void *opaque, const struct wti_moment *moment)
{
	struct flow *flow = wti_recall(scene, FLOWS, moment);

	if (!flow)
		return;
	switch (moment->type) {
	case WTI_MOMENT_SAVE:
		if (!wti_is_of_arrays(moment))
			see_save(scene, moment);
		break;
	case WTI_MOMENT_LOAD:
		flow->loaded |= !wti_is_of_arrays(moment);
		flow->loaded_optimizer |= has_optimizer_state(scene, moment->call);
		break;
	case WTI_MOMENT_STEP:
		see_step(scene, flow, moment);
		break;
	default:
		see_call(scene, flow, moment);
	}
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	bool is_of_state = words->subject_term[1] == OPTIMIZER_STATE;

	wti_buf_printf(out, "a %s%s%s %s", words->subject[0], is_of_state ? " from " : "",
		       is_of_state ? words->subject[1] : "", words->a);
}

const struct wti_relation wti_relation_saved = {
	.name = "saved",
	.code = "WT-LEARN-SAVED",
	.title = "a checkpoint differs from the live state",
	.definition = "hypothesis: a checkpoint that holds a model holds each of its parameters, "
		      "with the contents that "
		      "they have when it is saved, and that they had when state_dict() was called, "
		      "if it was; what is loaded is given back before the next "
		      "step. For and against: "
		      "each parameter of each save, by the hash of all bytes; each load.",
	.means = "the checkpoint is incomplete or of another moment, or is not restored",
	.hint = "look at how the state is collected before it is saved, and at what is done with "
		"it afterwards",
	.innocent = "checkpoints of a part of the model, on purpose",
	.needs = "nothing was saved or loaded in these circumstances",
	.measures =
		WTI_NEEDS_PARAMETERS | WTI_NEEDS_BUFFERS | WTI_NEEDS_ARGUMENTS | WTI_NEEDS_TENSORS,
	.moments = WTI_MOMENT_SAVE | WTI_MOMENT_LOAD | WTI_MOMENT_STEP | WTI_MOMENT_CALL,
	.features = WTI_FEATURES_OF_STATES,
	.keeps = {[FLOWS] = {WTI_PER_PROCESS, sizeof(struct flow)}, [CONTENTS] = {WTI_PER_KEY, 1}},
	.terms = terms,
	.topic = WTI_TOPIC_CHECKPOINTS,
	.see = see,
	.describe = describe,
	.kind_of = wti_kind_by_fact,
};
