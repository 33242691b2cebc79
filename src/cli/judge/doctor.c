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
	{"no-builtin", 0, WTI_OPT_FLAG, NULL, NULL,
	 "ask the rules alone, not the built-in pack as well",
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
		"Asks of a recorded training run what holds for every correct one: that gradients "
		"are "
		"cleared, that parameters move, that ranks agree, that a checkpoint is what was "
		"live. Each rule has a code; `wheeltap explain CODE` says what it means, when it "
		"is "
		"wrong, and what to do.\n\n"
		"The first line says how the run ended: a judgement of a run that failed or was "
		"killed is one of what it did until then. The last line says what was found, and "
		"how many rules applied.\n\n"
		"A finding is one cause, with the line of your program, since when, the evidence "
		"and what to try; what follows from it is named under it. A rule that found "
		"nothing to judge is not measured, which is not the same as clean.\n\n"
		"Beside the rules the built-in pack is asked: what held in all correct programs "
		"that it was learned from (`wheeltap pack show builtin`). It warns at most, and "
		"only where no rule has found anything.\n\n"
		"What you have looked at and do not want to see again is suppressed in "
		"wheeltap.toml "
		"of the working directory: [[suppress]] with code, reason and, if wanted, path and "
		"until.\n\n"
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
