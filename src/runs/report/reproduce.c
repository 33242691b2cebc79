/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one command that runs it again, and what stands in the way of the same result. That a run is
 * reproducible is never claimed: only a second run shows it.
 */
#include <string.h>

#include "base/text.h"
#include "runs/runjson.h"
#include "section.h"

#define TEXT_MAX (1u << 20)

static void add_command(const struct wti_run *run, const struct wti_doc *git,
			struct wt_result *result)
{
	const char *commit = git ? wti_doc_text(git, "commit") : NULL;
	struct wti_buf out;

	wti_buf_init(&out, TEXT_MAX);
	if (run->directory) {
		wti_buf_text(&out, "cd ");
		wti_runjson_word(&out, run->directory);
		wti_buf_text(&out, " && ");
	}
	if (commit) {
		wti_buf_text(&out, "git checkout --detach ");
		wti_runjson_word(&out, commit);
		wti_buf_text(&out, " && ");
	}
	wti_buf_text(&out, "wheeltap record -- ");
	wti_buf_text(&out, run->command);
	wt_result_fact_text(result, "reproduce", "command", wti_buf_cstr(&out));
	wti_buf_release(&out);
}

static bool is_true(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *value = table ? wti_doc_get(table, key) : NULL;

	return value && value->type == WTI_DOC_BOOL && value->boolean;
}

int wti_section_reproduce(struct wti_report_source *source, struct wt_result *result,
			  struct wt_err *err)
{
	const struct wti_run *run = &source->opened->run;
	const struct wti_doc *git = source->json ? wti_doc_get(source->json, "git") : NULL;
	const struct wti_doc *seeds = source->json ? wti_doc_get(source->json, "seeds") : NULL;

	if (!*run->command) {
		wt_result_fact_text(result, "reproduce", "command", NULL);
		wti_not_recorded(result, "the command", "wheeltap record -- PROGRAM");
		return 0;
	}
	add_command(run, git, result);
	wt_result_fact_text(result, "reproduced", "reproduced",
			    "not measured: nobody has run it again and compared");
	if (is_true(git, "dirty"))
		wt_result_note(result, "files differed from the commit: their changes are known by "
				       "their hash only");
	if (!git || !wti_doc_text(git, "commit"))
		wt_result_note(result, "no commit is known: the files in the folder may have "
				       "changed since");
	if (!seeds || !seeds->first)
		wt_result_note(result, "no seed is known: random numbers may differ");
	return 0;
}
