/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about checkpoints: that they hold what was live. */
#include <string.h>

#include "rule.h"

/* ---- Tensors in a checkpoint, and the live ones that they should be ------------------------- */

struct match {
	uint32_t equal, different, missing;
	const struct wti_parameter *first_different;
	const struct wti_parameter *first_missing;
};

/* "model.fc1.weight" ends with "fc1.weight" at a dot, or is it. */
static bool ends_with(const char *path, const char *name)
{
	size_t path_bytes = strlen(path), name_bytes = strlen(name);

	if (name_bytes > path_bytes || strcmp(path + path_bytes - name_bytes, name))
		return false;
	return path_bytes == name_bytes || path[path_bytes - name_bytes - 1] == '.';
}

static bool could_be(const struct wti_moment *moment, const struct wti_value_row *value,
		     const struct wti_parameter *parameter)
{
	return value->type == WTI_VALUE_TENSOR && !(value->digest.flags & WTI_TENSOR_NO_HASH) &&
	       value->digest.dtype == parameter->dtype && value->digest.shape == parameter->shape &&
	       ends_with(wti_moment_text(moment, value->name),
			 wti_moment_text(moment, parameter->name));
}

/* The parameter among what is saved; several paths may end with its name (a model and its EMA). */
static void match_parameter(struct match *match, const struct wti_moment *moment,
			    const struct wti_parameter *parameter)
{
	bool is_there = false, is_equal = false;

	for (uint32_t i = 0; i < moment->call->value_count; i++) {
		const struct wti_value_row *value = &moment->call->values[i];

		if (!could_be(moment, value, parameter))
			continue;
		is_there = true;
		is_equal |= value->digest.hash == parameter->hash;
	}
	if (!is_there) {
		match->missing++;
		if (parameter->requires_grad && !match->first_missing)
			match->first_missing = parameter;
	} else if (is_equal) {
		match->equal++;
	} else {
		match->different++;
		if (!match->first_different)
			match->first_different = parameter;
	}
}

/* All parameters of one owner whose value is known. */
static struct match match_owner(const struct wti_moment *moment, uint32_t owner)
{
	const struct wti_training *training = moment->training;
	struct match match = {0};

	for (size_t i = 0; i < training->parameter_count; i++) {
		const struct wti_parameter *parameter = &training->parameters[i];

		if (parameter->stream == moment->process->stream && parameter->owner == owner &&
		    parameter->is_member && !parameter->is_buffer && parameter->has_hash &&
		    !parameter->placement && parameter->step_count)
			match_parameter(&match, moment, parameter);
	}
	return match;
}

static bool is_a_model(const struct wti_moment *moment, size_t object)
{
	const struct wti_object *candidate = &moment->training->objects[object];

	return candidate->stream == moment->process->stream &&
	       candidate->type == WT_OBJECT_TYPE_MODULE;
}

/* ---- WT-CKPT-001: of two moments ------------------------------------------------------------ */

static void see_mixed(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	for (size_t i = 0; i < moment->training->object_count; i++) {
		struct match match;

		if (!is_a_model(moment, i))
			continue;
		match = match_owner(moment, moment->training->objects[i].name);
		if (match.equal && match.different)
			wti_violated(
				account, moment, match.first_different->name,
				"%u of %u parameters in the checkpoint are what the model held, "
				"%u are not",
				match.equal, match.equal + match.different, match.different);
		else if (match.equal)
			wti_held(account);
	}
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
		"name, type and shape, either all have the bytes that the model held or none. A "
		"case is a model in a checkpoint.",
	.innocent = "A checkpoint of an earlier moment (the best so far) has none of the present "
		    "bytes, unless some parameters never change.",
	.needs = "nothing was saved that has a trained model's parameters",
	.moments = WTI_MOMENT_SAVE,
	.see = see_mixed,
};

/* ---- WT-CKPT-002: incomplete ---------------------------------------------------------------- */

static void see_incomplete(struct wti_case *account, void *state, const struct wti_moment *moment)
{
	for (size_t i = 0; i < moment->training->object_count; i++) {
		struct match match;

		if (!is_a_model(moment, i))
			continue;
		match = match_owner(moment, moment->training->objects[i].name);
		if (match.equal + match.different < 2)
			continue;
		if (match.first_missing)
			wti_violated(
				account, moment, match.first_missing->name,
				"%u parameters of the model are in the checkpoint, %u that are "
				"trained are not",
				match.equal + match.different, match.missing);
		else
			wti_held(account);
	}
}

const struct wti_rule wti_rule_ckpt_002 = {
	.code = "WT-CKPT-002",
	.severity = WT_ERROR,
	.title = "a checkpoint lacks parameters that are trained",
	.means = "the model that is loaded from it has untrained values there",
	.hint = "save model.state_dict() whole; look for filters by requires_grad or by name",
	.definition =
		"If at least two parameters of a model are in what torch.save() writes, all of "
		"its parameters that an optimizer trains are, under one of their names. A case "
		"is a model in a checkpoint.",
	.innocent =
		"Adapters that are saved without the frozen model: what is frozen may be missing.",
	.needs = "nothing was saved that has a trained model's parameters",
	.moments = WTI_MOMENT_SAVE,
	.see = see_incomplete,
};
