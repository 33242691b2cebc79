/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the use of optimizers: one for all steps, once for each gradient, on what is run. */
#include <string.h>

#include "inspect/judge/rule.h"

/* ---- WT-OPT-006: made anew for every step --------------------------------------------------- */

enum { REBUILDS };
enum { OF_OPTIMIZER, OF_PARAMETER }; /* keeps */

struct momentum { /* of an optimizer */
	bool is_on;
};

struct rebuilt {
	uint32_t optimizer; /* that stepped it last: name */
	uint64_t steps;     /* of that optimizer */
	uint32_t streak;    /* optimizers in a row that stepped it once */
};

/* LBFGS keeps what it needs within a step; plain SGD keeps nothing. */
static bool has_state(const struct momentum *momentum, const struct wti_moment *moment)
{
	const char *class_name = wti_moment_text(moment, moment->object->class_name);

	if (!strcmp(class_name, "LBFGS"))
		return false;
	return strcmp(class_name, "SGD") || momentum->is_on;
}

/* It has stepped. One parameter stands for all: the first of the optimizer. */
static enum wti_answer judge_rebuilt(struct wti_case *account, const struct momentum *momentum,
				     const struct wti_moment *moment)
{
	struct rebuilt *rebuilt = wti_kept_of_parameter(
		account, OF_PARAMETER, wti_object_member(moment->training, moment->object, 0));

	if (!rebuilt)
		return WTI_RULE_NO_CASE;
	if (rebuilt->optimizer == moment->object->name) {
		rebuilt->steps++;
		rebuilt->streak = 0;
		return WTI_RULE_HELD;
	}
	/* A wrapper and what it wraps step in turns: those are not new. */
	rebuilt->streak =
		rebuilt->steps == 1 && moment->object->step_count == 1 ? rebuilt->streak + 1 : 0;
	rebuilt->optimizer = moment->object->name;
	rebuilt->steps = 1;
	if (rebuilt->streak < wti_threshold(account, REBUILDS) || !has_state(momentum, moment))
		return WTI_RULE_NO_CASE;
	return wti_violated(account, moment, moment->object->class_name,
			    "%u optimizers in a row were made for the same parameters and stepped "
			    "once",
			    rebuilt->streak + 1);
}

static enum wti_answer see_rebuilt(struct wti_case *account, void *kept,
				   const struct wti_moment *moment)
{
	struct momentum *momentum = kept;

	if (moment->type == WTI_MOMENT_STEPPED)
		return judge_rebuilt(account, momentum, moment);
	if (moment->object->type == WT_OBJECT_TYPE_OPTIMIZER &&
	    !strcmp(wti_moment_text(moment, moment->attribute), "momentum"))
		momentum->is_on = moment->number > 0;
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_opt_006 = {
	.code = "WT-OPT-006",
	.severity = WT_ERROR,
	.title = "a new optimizer is made for every step",
	.means = "momentum and second moments are lost after every step: Adam is reduced to "
		 "the sign of the gradient",
	.hint = "make the optimizer once, before the loop",
	.definition =
		"A parameter is not stepped by three optimizers in a row that step once each. A "
		"case is a second or later step of an optimizer.",
	.innocent = "SGD without momentum and LBFGS have no state to lose, and are not checked.",
	.needs = "no optimizer stepped twice",
	.moments = WTI_MOMENT_STATE | WTI_MOMENT_STEPPED,
	.keeps = {[OF_OPTIMIZER] = {WTI_PER_OBJECT, sizeof(struct momentum)},
		  [OF_PARAMETER] = {WTI_PER_PARAMETER, sizeof(struct rebuilt)}},
	.see = see_rebuilt,
	.thresholds = {[REBUILDS] = {"rebuilds", 2,
				     "in a row: a program may rebuild its optimizer once, after a "
				     "single step that tries out the model"}},
};

/* ---- WT-OPT-007: twice with the same gradients ---------------------------------------------- */

/* At least one gradient other than zero, and none that was recorded again since the last step. */
static bool are_old(const struct wti_moment *moment)
{
	bool has_any = false;

	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);

		if (parameter->grad_is_new || parameter->grad == WTI_GRAD_UNKNOWN)
			return false;
		has_any |= parameter->grad == WTI_GRAD_NONZERO;
	}
	return has_any;
}

static enum wti_answer see_again(struct wti_case *account, void *kept,
				 const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;

	if (optimizer->step_count < 2)
		return WTI_RULE_NO_CASE;
	if (optimizer->backward_count || !are_old(moment))
		return WTI_RULE_HELD;
	return wti_violated(account, moment, optimizer->name,
			    "there was no backward() since its last step, and the gradients are "
			    "the same");
}

const struct wti_rule wti_rule_opt_007 = {
	.code = "WT-OPT-007",
	.severity = WT_ERROR,
	.title = "the optimizer steps twice with the same gradients",
	.means = "each batch counts twice, and even more in momentum and second moments: the "
		 "effective learning rate is not the one that was set",
	.hint = "look for a second step(): in a wrapper, a callback, a helper",
	.definition =
		"Between two steps of an optimizer there is a backward(), or at least one of its "
		"gradients has changed. A case is a step after the first.",
	.innocent = "A closure that runs backward() inside of step() changes the gradients there.",
	.needs = "no optimizer stepped twice",
	.moments = WTI_MOMENT_STEPPED,
	.see = see_again,
};

/* ---- WT-OPT-008: frozen, and moved ---------------------------------------------------------- */

static enum wti_answer see_frozen(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;

	/* Without a gradient it is skipped: others may move it. */
	if (parameter->requires_grad || parameter->grad != WTI_GRAD_ZERO || !parameter->is_member)
		return WTI_RULE_NO_CASE;
	if (!parameter->moved)
		return WTI_RULE_HELD;
	return wti_violated(account, moment, parameter->name,
			    "it does not require a gradient, and the step has changed it");
}

const struct wti_rule wti_rule_opt_008 = {
	.code = "WT-OPT-008",
	.severity = WT_ERROR,
	.title = "frozen parameters are still moved by the optimizer",
	.means = "a gradient of zeros is left, so the optimizer still updates the parameter: "
		 "momentum and weight decay move it",
	.hint = "set p.grad = None when freezing, call zero_grad(set_to_none=True), or take the "
		"parameters out of the optimizer",
	.definition = "A parameter of a module that does not require a gradient, and has one of "
		      "zeros, is not changed by its optimizer's step. A case is such a parameter "
		      "in a step.",
	.innocent = "None is known.",
	.needs = "no optimizer with a frozen parameter stepped",
	.moments = WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_PARAMETER, 0}},
	.see = see_frozen,
};

/* ---- WT-OPT-009: a group without parameters ------------------------------------------------- */

enum { SETTINGS_MAX = 24 };

/* A setting of all groups, such as lr. */
struct setting {
	uint32_t name;
	uint32_t known; /* a bit for each group */
	double values[WTI_GROUPS_MAX];
};

struct groups {
	uint32_t known; /* a bit for each group that has settings */
	uint32_t setting_count;
	struct setting settings[SETTINGS_MAX];
	bool is_judged;
};

/* "group2.lr": 2, and "lr"; "lr": 0; -1: a group beyond the last. */
static int group_of(const char *attribute, const char **ret_setting)
{
	int group = 0;

	*ret_setting = attribute;
	if (strncmp(attribute, "group", 5))
		return 0;
	for (attribute += 5; *attribute >= '0' && *attribute <= '9' && group < WTI_GROUPS_MAX;)
		group = group * 10 + (*attribute++ - '0');
	*ret_setting = attribute + 1;
	return *attribute == '.' && group < WTI_GROUPS_MAX ? group : -1;
}

static void note_setting(struct groups *groups, const struct wti_moment *moment)
{
	const char *setting;
	int group = group_of(wti_moment_text(moment, moment->attribute), &setting);
	uint32_t name = wti_symbol_word(moment->training->symbols, setting);
	uint32_t i = 0;

	if (group < 0)
		return;
	if (!strcmp(setting, "lr"))
		groups->known |= 1u << group;
	while (i < groups->setting_count && groups->settings[i].name != name)
		i++;
	if (i == SETTINGS_MAX)
		return;
	if (i == groups->setting_count)
		groups->settings[groups->setting_count++] = (struct setting){.name = name};
	groups->settings[i].known |= 1u << group;
	groups->settings[i].values[group] = moment->number;
}

/* The parameters of an optimizer: which groups have some, and of which kinds they are. */
struct filling {
	uint32_t filled; /* a bit for each group */
	bool has_vectors, has_matrices;
};

static struct filling filling_of(const struct wti_moment *moment)
{
	struct filling filling = {0};

	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);
		bool is_matrix = wti_parameter_is_matrix(moment->training, parameter);

		filling.has_matrices |= is_matrix;
		filling.has_vectors |= !is_matrix;
		if (parameter->group < WTI_GROUPS_MAX)
			filling.filled |= 1u << parameter->group;
	}
	return filling;
}

/*
 * A group may be empty without harm if it says the same as one that is not, or spares from weight
 * decay what this model does not train: adapters have matrices only, so that nothing is left to be
 * spared.
 */
static bool is_needless(const struct groups *groups, const struct wti_moment *moment,
			const struct filling *filling, int empty, int other)
{
	uint32_t decay = wti_symbol_word(moment->training->symbols, "weight_decay");
	bool is_one_kind = !filling->has_vectors || !filling->has_matrices;

	for (uint32_t i = 0; i < groups->setting_count; i++) {
		const struct setting *setting = &groups->settings[i];
		bool is_same = (setting->known >> empty & 1) == (setting->known >> other & 1) &&
			       setting->values[empty] == setting->values[other];

		if (!is_same && (setting->name != decay || !is_one_kind))
			return false;
	}
	return true;
}

static void judge_groups(struct wti_case *account, struct groups *groups,
			 const struct wti_moment *moment)
{
	struct filling filling = filling_of(moment);

	for (int i = 0; i < WTI_GROUPS_MAX; i++) {
		bool is_meant = filling.filled >> i & 1;

		if (!(groups->known >> i & 1))
			continue;
		for (int j = 0; j < WTI_GROUPS_MAX && !is_meant; j++)
			is_meant = filling.filled >> j & 1 &&
				   is_needless(groups, moment, &filling, i, j);
		if (is_meant)
			wti_held(account);
		else
			wti_violated(account, moment, moment->object->name,
				     "group %d of its parameter groups is empty", i);
	}
}

static enum wti_answer see_groups(struct wti_case *account, void *kept,
				  const struct wti_moment *moment)
{
	struct groups *groups = kept;

	if (moment->object->type != WT_OBJECT_TYPE_OPTIMIZER || groups->is_judged)
		return WTI_RULE_NO_CASE;
	if (moment->type == WTI_MOMENT_STATE) {
		note_setting(groups, moment);
		return WTI_RULE_NO_CASE;
	}
	groups->is_judged = true;
	judge_groups(account, groups, moment);
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_opt_009 = {
	.code = "WT-OPT-009",
	.severity = WT_WARNING,
	.title = "a parameter group of the optimizer is empty",
	.means = "the names that should choose its parameters match nothing: what was to be "
		 "exempt from weight decay, or to learn at another rate, is in another group",
	.hint = "print the names of both groups; compare with model.named_parameters()",
	.definition =
		"After an optimizer's first step, every parameter group that has settings "
		"contains a parameter, unless another group has the same settings, or differs "
		"only in weight_decay while the optimizer has only matrices, or only vectors. A "
		"case is a group.",
	.innocent = "A model that happens to have no parameter of this kind, such as no head yet.",
	.needs = "no optimizer with known groups stepped",
	.moments = WTI_MOMENT_STATE | WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_OBJECT, sizeof(struct groups)}},
	.see = see_groups,
};

/* ---- WT-OPT-010: run inside of a model, and not part of it ---------------------------------- */

enum { STEPS_AS_STRANGER };
enum { OF_NOTHING, OF_STRANGER }; /* keeps */

/* Of a module that is a root of its own, called inside of another. */
struct stranger {
	uint32_t name, host;
	struct wti_patience steps;
	bool is_called; /* since the last step */
};

/* A parameter of it that requires a gradient; NULL: none, or one is in an optimizer. */
static const struct wti_parameter *free_parameter(const struct wti_training *training,
						  size_t stream, uint32_t owner)
{
	const struct wti_parameter *found = NULL;

	for (size_t i = 0; i < training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(training, i);

		if (parameter->stream != stream || parameter->owner != owner ||
		    parameter->is_buffer)
			continue;
		if (parameter->optimizer || parameter->step_count)
			return NULL;
		if (parameter->requires_grad)
			found = parameter;
	}
	return found;
}

static void note_stranger(struct wti_case *account, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call, *parent = moment->parent;
	struct stranger *stranger;

	if (!moment->object || moment->object->type != WT_OBJECT_TYPE_MODULE || !parent ||
	    parent->tag != WTI_MOMENT_MODULE || !parent->object || !(call->flags & WT_CALL_GRAD))
		return;
	stranger = wti_kept(account, OF_STRANGER, moment);
	if (!stranger)
		return;
	stranger->name = moment->object->name;
	stranger->host = wti_root_of(moment->training, parent->object);
	stranger->is_called = stranger->host != stranger->name;
}

static void judge_stranger(struct wti_case *account, struct stranger *stranger,
			   const struct wti_moment *moment)
{
	size_t stream = moment->process->stream;
	const struct wti_parameter *parameter;

	if (!stranger->is_called)
		return;
	stranger->is_called = false;
	parameter = free_parameter(moment->training, stream, stranger->name);
	if (!parameter || !wti_model_is_trained(moment->training, stream, stranger->host) ||
	    wti_model_is_part_of(moment->training, stream, stranger->name, stranger->host))
		wti_held(account);
	else if (wti_waited(account, &stranger->steps, moment, STEPS_AS_STRANGER))
		wti_violated(account, moment, stranger->name,
			     "it is run inside of %s with gradients on, is not one of its modules, "
			     "and no optimizer has its %s",
			     wti_moment_text(moment, stranger->host),
			     wti_moment_text(moment, parameter->name));
}

static enum wti_answer see_strangers(struct wti_case *account, void *kept,
				     const struct wti_moment *moment)
{
	struct stranger *stranger;
	bool has_any = false;
	size_t place = 0;

	if (moment->type == WTI_MOMENT_MODULE) {
		note_stranger(account, moment);
		return WTI_RULE_NO_CASE;
	}
	while ((stranger = wti_kept_next(account, OF_STRANGER, moment->process->stream, &place))) {
		has_any = true;
		judge_stranger(account, stranger, moment);
	}
	return has_any ? WTI_RULE_NO_CASE : WTI_RULE_HELD;
}

const struct wti_rule wti_rule_opt_010 = {
	.code = "WT-OPT-010",
	.severity = WT_ERROR,
	.title = "layers are not registered with the model and never trained",
	.means = "they are in a plain list or dict: parameters() does not find them, so no "
		 "optimizer, no .to(device) and no checkpoint includes them",
	.hint = "use nn.ModuleList or nn.ModuleDict",
	.definition =
		"A module that is called with gradients on inside of a model that is trained, and "
		"has parameters that require gradients, is registered with the model or is in an "
		"optimizer. Two steps are a violation. A case is such a module in a step, or a "
		"step while no module of that kind was called.",
	.innocent = "A network that only computes a loss, is hidden from the model on purpose and "
		    "was not frozen.",
	.needs = "no optimizer stepped",
	.moments = WTI_MOMENT_MODULE | WTI_MOMENT_STEPPED,
	.keeps = {[OF_STRANGER] = {WTI_PER_OBJECT, sizeof(struct stranger)}},
	.see = see_strangers,
	.thresholds = {[STEPS_AS_STRANGER] = {"steps", 2,
					      "it may be given to an optimizer after the first"}},
};

/* ---- WT-OPT-011: a group at rest ------------------------------------------------------------ */

enum { STEPS_AT_REST };

struct rest {
	uint32_t was_above; /* zero, a bit for each group */
};

/* Groups whose parameters have gradients, a bit for each. */
static uint32_t groups_with_gradients(const struct wti_moment *moment)
{
	uint32_t groups = 0;

	for (uint32_t i = 0; i < moment->object->member_count; i++) {
		const struct wti_parameter *parameter =
			wti_object_member(moment->training, moment->object, i);

		if (parameter->group < WTI_GROUPS_MAX && parameter->requires_grad &&
		    parameter->grad == WTI_GRAD_NONZERO)
			groups |= 1u << parameter->group;
	}
	return groups;
}

static enum wti_answer see_rest(struct wti_case *account, void *kept,
				const struct wti_moment *moment)
{
	const struct wti_object *optimizer = moment->object;
	struct rest *rest = kept;
	uint32_t above = 0, judged = optimizer->lr_known & groups_with_gradients(moment);

	for (uint32_t i = 0; i < WTI_GROUPS_MAX; i++)
		above |= optimizer->lr_known & 1u << i && optimizer->lr[i] != 0 ? 1u << i : 0;
	rest->was_above |= above;
	if (optimizer->step_count < wti_threshold(account, STEPS_AT_REST) || !above)
		return WTI_RULE_NO_CASE; /* all at rest: WT-OPT-004 */
	for (uint32_t i = 0; i < WTI_GROUPS_MAX; i++) {
		if (!(judged & 1u << i))
			continue;
		if (rest->was_above & 1u << i)
			wti_held(account);
		else
			wti_violated(account, moment, optimizer->name,
				     "the learning rate of group %u was always 0, while others "
				     "learn; its parameters have gradients",
				     i);
	}
	return WTI_RULE_NO_CASE;
}

const struct wti_rule wti_rule_opt_011 = {
	.code = "WT-OPT-011",
	.severity = WT_WARNING,
	.title = "one parameter group has a learning rate of zero",
	.means = "its rate was rounded or divided down to zero: these layers stay as they were "
		 "initialised",
	.hint = "print the learning rates of all groups; look for round() and //",
	.definition =
		"If one group of an optimizer has a learning rate above zero in its second step or "
		"later, every group whose parameters have gradients has had one too. A case is "
		"such a group in a step.",
	.innocent = "Groups that wait to be unfrozen with a rate of 0 instead of requires_grad.",
	.needs = "no optimizer with known learning rates stepped twice",
	.moments = WTI_MOMENT_STEPPED,
	.keeps = {{WTI_PER_OBJECT, sizeof(struct rest)}},
	.see = see_rest,
	.thresholds = {[STEPS_AT_REST] = {"steps", 2,
					  "a warm-up of one group may begin at 0, and leaves it "
					  "after a step"}},
};
