/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `doctor`. */
#include "inspect/check/check.h"
#include "cli/inspect.h"
#include "cli/packs.h"
#include "runs/suppress.h"
#include "cli/verb.h"
#include "show/verdict.h"

struct doctor_options {
	bool json;
	bool all;
	bool no_builtin;
	const char *fail_on;
};

static const struct doctor_options defaults = {.fail_on = "error"};

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct doctor_options *options = opaque;
	char today[16];
	struct wti_pack *pack = options->no_builtin ? NULL : wti_pack_builtin();
	struct wti_check_options how = {
		.pack = pack, .is_builtin = true, .with_rules = true, .today = wti_today(today)};
	struct wti_inspection in = {
		.inspector = "doctor",
		.options = &how,
		.judging = &how,
		.json = options->json,
		.fail_on = options->fail_on,
		.text = options->all ? wti_verdict_text_all : wti_verdict_text,
	};
	int code;

	code = wti_inspect_run(&in, count ? arguments[0] : NULL);
	wti_pack_free(pack);
	return code;
}

static const struct wti_option options[] = {
	{"all", 'a', WTI_OPT_FLAG, NULL, NULL,
	 "show every rule: how often it held, or why it was not measured",
	 offsetof(struct doctor_options, all)},
	{"no-builtin", 0, WTI_OPT_FLAG, NULL, NULL, "check only the rules, not the built-in pack",
	 offsetof(struct doctor_options, no_builtin)},
	{"fail-on", 0, WTI_OPT_CHOICE, "SEVERITY", WTI_FAIL_ON,
	 "exit with 1 if there is a finding of this severity or above; error is the default",
	 offsetof(struct doctor_options, fail_on)},
	WTI_OPTION_JSON(struct doctor_options),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_doctor = {
	.name = "doctor",
	.arguments = "[RUN]",
	.summary = "find silent errors in a training run, without any configuration",
	.description =
		"Checks a recorded training run against rules that every correct run satisfies: "
		"gradients are cleared, parameters move, ranks agree, a checkpoint contains the "
		"live values. Each rule has a code; `wheeltap explain CODE` prints what it means, "
		"when it is wrong, and what to do.\n\n"
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
		"and optionally path and until to wheeltap.toml in the working directory.\n\n"
		"Exit status: 0 no findings at or above --fail-on, which is error unless given, 1 "
		"findings of that severity, 3 no such findings and: nothing could be measured, the "
		"trace is damaged, or the run ended early.",
	.examples = "wheeltap doctor\tthe latest run\n"
		    "wheeltap doctor --all runs/a\tand every rule, with what it needs",
	.options = options,
	.options_bytes = sizeof(struct doctor_options),
	.arguments_max = 1,
	.group = "judge",
	.run = run,
	.defaults = &defaults,
};
