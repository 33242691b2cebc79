/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants that TrainCheck has learned, as they were published. They are imported and never
 * learned here, and traincheck.c judges them: this is how packs, sentences and findings name them.
 */
#include "base/doc_write.h"
#include "entry.h"
#include "inspect/learn/relation.h"
#include "traincheck.h"

static void see(struct wti_scene *scene, void *state, const struct wti_moment *moment)
{
	(void)scene;
	(void)state;
	(void)moment;
}

static void describe(struct wti_buf *out, const struct wti_words *words)
{
	wti_tc_describe(out, words->subject[1]);
}

static bool read_entry(struct wti_buf *out, struct wti_symbols *symbols, const struct wti_doc *doc,
		       const char **ret_why)
{
	struct wti_tc_entry entry;

	if (wti_tc_entry_read(&entry, symbols, doc, ret_why))
		return false;
	wti_tc_entry_release(&entry);
	wti_tc_entry_text(out, doc);
	return true;
}

static const struct wti_publication publication = {
	.read = read_entry,
	.write = wti_doc_write,
	.functions = wti_tc_functions,
};

const struct wti_relation wti_relation_traincheck = {
	.name = "traincheck",
	.code = "WT-LEARN-TRAINCHECK",
	.title = "an invariant of TrainCheck's is violated",
	.definition = "hypothesis: an invariant that TrainCheck published. Its relations: a call "
		      "contains another call or a change of a variable; two variables are equal; a "
		      "result has a given value of an attribute, or that of an input; a number "
		      "stays below an argument; one call comes before another; arguments differ "
		      "within a step. For and against: the cases in which its precondition was "
		      "true, counted as TrainCheck counts them.",
	.means = "the run does not do what the runs did that TrainCheck learned it from",
	.hint = "compare with a run of which TrainCheck learned it; suppress it if that was the "
		"accident",
	.innocent = "another program, another version of a library, or a condition that held by "
		    "chance in the few "
		    "traces that it was learned from",
	.needs = "its functions or variables are not in the run, or its condition was never true, "
		 "or what it "
		 "asks for was not recorded",
	.measures = WTI_NEEDS_PARAMETERS | WTI_NEEDS_GRADIENTS | WTI_NEEDS_ARGUMENTS,
	.see = see,
	.describe = describe,
	.publication = &publication,
};
