/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `check`. */
#include <string.h>

#include "cli/front.h"
#include "cli/inspect.h"
#include "cli/packs.h"
#include "cli/report.h"
#include "judging.h"

struct check_options {
	struct wti_judging judging;
	struct wti_list packs;
};

static const struct check_options defaults = {.judging = WTI_JUDGING_DEFAULTS};

static bool is_builtin(const struct wti_list *packs)
{
	return packs->count == 1 && !strcmp(packs->items[0], WTI_PACK_BUILTIN);
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct check_options *options = opaque;
	struct wt_err err = {.offset = -1};
	struct wti_front front = wti_front_here(NULL);
	struct wti_pack *pack = NULL;
	struct wti_check_options how = {.pack_names = options->packs.items,
					.pack_count = options->packs.count};

	if (options->packs.count &&
	    wti_packs_open(&front, options->packs.items, options->packs.count, &pack, &err))
		return wti_report_error("check", options->judging.json, &err);
	how.with_rules = !pack;
	how.is_builtin = !pack || is_builtin(&options->packs);
	if (!pack && !options->judging.no_builtin)
		pack = wti_pack_builtin();
	return wti_judge_run("check", &options->judging, &how, pack, arguments, count);
}

static const struct wti_option options[] = {
	{"invariants", 'i', WTI_OPT_LIST, "PACK", NULL,
	 "check the run against this pack; may be given several times; without it, the built-in "
	 "rules and the built-in pack are used",
	 offsetof(struct check_options, packs)},
	{"all", 'a', WTI_OPT_FLAG, NULL, NULL,
	 "show every invariant: how often it held, or why it was not measured",
	 offsetof(struct check_options, judging.all)},
	{"no-builtin", 0, WTI_OPT_FLAG, NULL, NULL, "without -i: check only the rules, no pack",
	 offsetof(struct check_options, judging.no_builtin)},
	WTI_OPTION_FAIL_ON(struct check_options, judging.fail_on),
	WTI_OPTION_JSON(struct check_options, judging.json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_check = {
	.name = "check",
	.arguments = "[RUN...]",
	.summary = "check a run against what was learned from good runs",
	.description =
		"Checks a recorded run against a pack that `wheeltap infer` has learned from good "
		"runs. Each invariant is held, violated or not measured. Not measured means that "
		"nothing happened to which it applies, which is not the same as held.\n\n"
		"A finding is one cause: the invariant that was violated first, since which step, "
		"where in your program, and how often it held when it was learned. Other "
		"invariants that the same cause violates are listed beneath it. Without a pack the "
		"built-in rules and the built-in pack are checked, as in `wheeltap doctor`; -i "
		"builtin checks only that pack.\n\n" WTI_JUDGING_STATUS,
	.examples = "wheeltap check -i pack.json\tthe latest run\n"
		    "wheeltap check -i pack.json --all runs/a\tand every invariant",
	.options = options,
	.options_bytes = sizeof(struct check_options),
	.arguments_max = WTI_INSPECT_RUNS_MAX,
	.group = "judge",
	.run = run,
	.defaults = &defaults,
};
