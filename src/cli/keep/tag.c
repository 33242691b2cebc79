/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `tag`. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/front.h"
#include "cli/report.h"
#include "runs/run.h"
#include "runs/tags.h"

#define WORDS_MAX 64

struct tag_options {
	struct wti_list remove;
	bool json;
};

static int change(const struct tag_options *o, const struct wti_run *run, char **words,
		  size_t count, struct wt_result *result, struct wt_err *err)
{
	struct wti_buf tags;
	bool changed = false;
	int r = 0;

	if (!run->is_folder || !run->has_json)
		return wti_err(err, WT_E_ARG, "'%.200s' is not the folder of a run", run->path);
	for (size_t i = 0; i < count && !r; i++)
		r = wti_tag_check(words[i], err);
	if (!r && (count || o->remove.count))
		r = wti_tags_change(run->path, (const char *const *)words, count, o->remove.items,
				    o->remove.count, &changed, err);
	wti_buf_init(&tags, 1u << 16);
	r = r ? r : wti_tags_read(run->path, &tags, err);
	if (!r) {
		wt_result_fact_text(result, "run", "run", run->name);
		wt_result_fact_text(result, "tags", "tags",
				    tags.bytes ? wti_buf_cstr(&tags) : "(none)");
		wt_result_set_status(result, changed ? "changed" : "unchanged");
	}
	if (!r && !changed && o->remove.count)
		wt_result_note(result, "'%s' has no such tag", run->name);
	wti_buf_release(&tags);
	return r;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct tag_options *o = opaque;
	struct wti_front front = wti_front_here(NULL);
	struct wt_err err = {.offset = -1};
	struct wt_result result;
	struct wti_run found;
	int code, r;

	wt_result_init(&result, "tag");
	r = wti_run_or_set_find(&front, arguments[0], &found, &err);
	if (!r) {
		r = change(o, &found, arguments + 1, count - 1, &result, &err);
		wti_run_release(&found);
	}
	code = r ? wti_report_error("tag", o->json, &err)
		 : wti_report_result(&result, o->json, WTI_EXIT_CLEAN);
	wt_result_release(&result);
	return code;
}

static const struct wti_option options[] = {
	{"remove", 0, WTI_OPT_LIST, "WORD", NULL, "remove this tag; may be given several times",
	 offsetof(struct tag_options, remove)},
	WTI_OPTION_JSON(struct tag_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_tag = {
	.name = "tag",
	.arguments = "RUN [WORD...]",
	.arguments_min = 1,
	.arguments_max = WORDS_MAX,
	.summary = "label runs with words, to find them again",
	.description =
		"Adds words to a run, or shows those that it has. They are stored in the file "
		"'tags' in its folder, and move with it. 'wheeltap ls tag=WORD' finds the runs "
		"again, and 'wheeltap clean --keep-tagged' leaves them alone.",
	.examples = "wheeltap tag latest baseline\n"
		    "wheeltap tag lr1 paper figure-3\n"
		    "wheeltap tag lr1 --remove paper\n"
		    "wheeltap ls tag=baseline",
	.options = options,
	.options_bytes = sizeof(struct tag_options),
	.group = "keep",
	.run = run,
};
