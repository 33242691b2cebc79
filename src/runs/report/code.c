/* SPDX-License-Identifier: Apache-2.0 */
/* Which code was run: the commit, and whether files differed from it. */
#include "section.h"

static void add_dirty(const struct wti_doc *git, struct wt_result *result)
{
	const struct wti_doc *dirty = wti_doc_get(git, "dirty");

	if (!dirty || dirty->type != WTI_DOC_BOOL) {
		wt_result_fact_text(result, "dirty", "changed files", NULL);
		wti_not_recorded(result, "whether files differ from the commit",
				 "the repository took longer than two seconds to compare");
		return;
	}
	wt_result_fact_text(result, "dirty", "changed files",
			    dirty->boolean ? "yes: the commit alone is not what was run" : "none");
	if (dirty->boolean)
		wti_fact_of_json(result, git, "diff_hash", "hash of the changes", WT_CELL_TEXT);
}

int wti_section_code(struct wti_report_source *source, struct wt_result *result, struct wt_err *err)
{
	const struct wti_doc *git = source->json ? wti_doc_get(source->json, "git") : NULL;
	const struct wti_doc *executable =
		source->json ? wti_doc_get(source->json, "executable") : NULL;

	wti_fact_of_json(result, git, "commit", "commit", WT_CELL_TEXT);
	if (git && wti_doc_text(git, "commit")) {
		wti_fact_of_json(result, git, "branch", "branch", WT_CELL_TEXT);
		add_dirty(git, result);
	} else {
		wti_not_recorded(result, "commit, branch and changed files",
				 "run it in a folder inside a git repository");
	}
	wti_fact_of_json(result, executable, "path", "executable", WT_CELL_TEXT);
	wti_fact_of_json(result, executable, "build_id", "its build-id", WT_CELL_TEXT);
	return 0;
}
