/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `doctor`. */
#include "cli/inspect.h"
#include "cli/packs.h"
#include "judging.h"

static const struct wti_judging defaults = WTI_JUDGING_DEFAULTS;

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct wti_judging *judging = opaque;
	struct wti_check_options how = {.is_builtin = true, .with_rules = true};

	return wti_judge_run("doctor", judging, &how,
			     judging->no_builtin ? NULL : wti_pack_builtin(), arguments, count);
}

static const struct wti_option options[] = {
	{"all", 'a', WTI_OPT_FLAG, NULL, NULL,
	 "show every rule: how often it held, or why it was not measured",
	 offsetof(struct wti_judging, all)},
	{"no-builtin", 0, WTI_OPT_FLAG, NULL, NULL, "check only the rules, not the built-in pack",
	 offsetof(struct wti_judging, no_builtin)},
	WTI_OPTION_FAIL_ON(struct wti_judging, fail_on),
	WTI_OPTION_JSON(struct wti_judging, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_doctor = {
	.name = "doctor",
	.arguments = "[RUN...]",
	.summary = "find silent errors in a training run, without any configuration",
	.description =
		"Checks a recorded training run against rules that every correct run satisfies: "
		"gradients are cleared, parameters move, ranks agree, a checkpoint contains the "
		"live values. Each rule has a code; `wheeltap explain CODE` prints what it means, "
		"when it is wrong, and what to do.\n\n"
		"Several runs are judged one after the other; the exit status is that of the "
		"worst.\n\n"
		"The first line shows how the run ended: if it failed or was killed, only what it "
		"did until then is judged. The last line shows what was found, and how many rules "
		"applied.\n\n"
		"A finding is one cause, with the line of your program, the first step, the "
		"evidence and what to try; its consequences are listed under it. A rule that found "
		"nothing to judge is not measured, which is not the same as clean.\n\n"
		"In addition to the rules, the built-in pack is checked: what held in all correct "
		"programs that it was learned from (`wheeltap pack show builtin`). It gives "
		"warnings at most, and only where no rule has found anything.\n\n"
		"To suppress a finding that you have reviewed, add [[suppress]] with code, reason "
		"and optionally path and until to wheeltap.toml in the working "
		"directory.\n\n" WTI_JUDGING_STATUS,
	.examples = "wheeltap doctor\tthe latest run\n"
		    "wheeltap doctor --all runs/a\tand every rule, with what it needs\n"
		    "wheeltap doctor runs/*\tall of them, one after the other",
	.options = options,
	.options_bytes = sizeof(struct wti_judging),
	.arguments_max = WTI_INSPECT_RUNS_MAX,
	.group = "judge",
	.run = run,
	.defaults = &defaults,
};
