/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `infer`: runs, or partial results, to a pack. */
#include <string.h>

#include "base/err.h"
#include "inspect/learn/partial.h"
#include "inspect/learn/relation.h"
#include "cli/packs.h"
#include "cli/front.h"
#include "cli/report.h"
#include "runs/learn.h"

#define OUTPUT_MAX ((size_t)1 << 30)

struct infer_options {
	bool json;
	bool partial;
	bool merge;
	const char *output;
	uint64_t examples;
	uint64_t steps;
	uint64_t programs;
};

static const struct infer_options defaults = {.examples = 10, .programs = 1};

/* ---- The outcome ---------------------------------------------------------------------------- */

static void report_pack(const struct wti_pack *pack, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "relations", "");

	wt_table_column(table, "relation", "relation", WT_CELL_TEXT);
	wt_table_column(table, "invariants", "invariants", WT_CELL_COUNT);
	wt_table_column(table, "conditional", "conditional", WT_CELL_COUNT);
	for (uint32_t i = 0; wti_relations[i]; i++) {
		uint64_t all = 0, conditional = 0;

		for (size_t j = 0; j < pack->count; j++) {
			all += pack->invariants[j].relation == i;
			conditional +=
				pack->invariants[j].relation == i && pack->invariants[j].when.count;
		}
		wt_table_row(table);
		wt_table_text(table, wti_relations[i]->name, strlen(wti_relations[i]->name));
		wt_table_count(table, all);
		wt_table_count(table, conditional);
	}
	wt_result_fact_count(result, "runs", "runs", WT_CELL_COUNT, pack->run_count);
	wt_result_fact_count(result, "invariants", "invariants", WT_CELL_COUNT, pack->count);
}

static int make_pack(struct wti_tables *tables, const struct infer_options *options,
		     struct wti_buf *text, struct wt_result *result, struct wt_err *err)
{
	struct wti_demand demand = {options->examples, options->steps, (uint32_t)options->programs};
	struct wti_pack *pack;
	int r = wti_learn_pack(tables, &demand, &pack, result, err);

	if (r)
		return r;
	wti_pack_write(text, pack);
	report_pack(pack, result);
	wt_result_set_status(result, pack->count ? "learned" : "not_measured");
	if (!pack->count)
		wt_result_note(result,
			       "nothing was learned: invariants are learned from calls, steps and "
			       "losses, of which these runs have too few; 'wheeltap info RUN' "
			       "shows what a run contains");
	wti_pack_free(pack);
	return 0;
}

static int finish(struct wti_tables *tables, const struct infer_options *options,
		  struct wt_result *result, struct wt_err *err)
{
	struct wti_buf text;
	int r;

	if (tables->left_out_count)
		wt_result_note(result, "%llu hypotheses were left out: there are too many",
			       (unsigned long long)tables->left_out_count);
	wti_buf_init(&text, OUTPUT_MAX);
	if (options->partial)
		r = wti_partial_write(&text, tables, err);
	else
		r = make_pack(tables, options, &text, result, err);
	r = r ? r : wti_save_text(options->output, &text, err);
	wti_buf_release(&text);
	return r;
}

static int infer(const struct infer_options *options, char **arguments, size_t count,
		 struct wt_result *result, struct wt_err *err)
{
	struct wti_progress progress;
	struct wti_front front = wti_front_doing("learning", &progress);
	struct wti_symbols symbols;
	struct wti_tables tables;
	int r;

	wti_symbols_init(&symbols);
	r = wti_tables_init(&tables, &symbols, err);
	if (!r)
		r = wti_learn(&front, (const char *const *)arguments, count, options->merge,
			      &tables, result, err);
	r = r ? r : finish(&tables, options, result, err);
	wti_tables_release(&tables);
	wti_symbols_release(&symbols);
	return r;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct infer_options *options = opaque;
	struct wt_err err = {.offset = -1};
	struct wt_result result;
	int code;

	if (!options->output) {
		wti_err(&err, WT_E_ARG, "no file given: use -o FILE for the pack");
		return wti_report_error("infer", options->json, &err);
	}
	wt_result_init(&result, "infer");
	if (infer(options, arguments, count, &result, &err))
		code = wti_report_error("infer", options->json, &err);
	else if (!strcmp(options->output, "-"))
		code = WTI_EXIT_CLEAN;
	else
		code = wti_report_result(&result, options->json,
					 result.status && !strcmp(result.status, "not_measured")
						 ? WTI_EXIT_TRACE
						 : WTI_EXIT_CLEAN);
	wt_result_release(&result);
	return code;
}

static const struct wti_option options[] = {
	{"output", 'o', WTI_OPT_TEXT, "FILE", NULL,
	 "write the pack to this file; - is standard output",
	 offsetof(struct infer_options, output)},
	{"partial", 0, WTI_OPT_FLAG, NULL, NULL,
	 "write counts instead of a pack, to be merged later",
	 offsetof(struct infer_options, partial)},
	{"merge", 0, WTI_OPT_FLAG, NULL, NULL, "the arguments are partial results, not runs",
	 offsetof(struct infer_options, merge)},
	{"programs", 0, WTI_OPT_COUNT, "N", NULL,
	 "keep only what held in at least this many different programs; default 1",
	 offsetof(struct infer_options, programs)},
	{"examples", 0, WTI_OPT_COUNT, "N", NULL,
	 "number of examples that an invariant from a single run needs; default 10",
	 offsetof(struct infer_options, examples)},
	{"steps", 0, WTI_OPT_COUNT, "N", NULL,
	 "number of different steps that these must come from; default 5, or half of the steps of "
	 "a run that has fewer than ten",
	 offsetof(struct infer_options, steps)},
	WTI_OPTION_JSON(struct infer_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_infer = {
	.name = "infer",
	.arguments = "RUN... -o FILE",
	.summary = "learn invariants from good runs",
	.description = "Reads recorded runs that are known to be good, and writes a pack: what "
		       "held in all of them, under which conditions, and how often. `wheeltap "
		       "check -i PACK` then checks other runs against it.\n\n"
		       "Only counts are kept of a run, so memory does not grow with its length. "
		       "Runs can be given in any order: the pack is the same, byte for byte. "
		       "--partial writes those counts, --merge adds them up, so many runs can be "
		       "learned piece by piece, on many machines.\n\n"
		       "docs/invariants.md describes each relation.",
	.examples = "wheeltap infer runs/* -o pack.json\tlearn from all of them\n"
		    "wheeltap infer --partial a b -o ab.part\tcount, to be merged later\n"
		    "wheeltap infer --merge *.part -o pack.json\tmerge, and decide",
	.options = options,
	.options_bytes = sizeof(struct infer_options),
	.arguments_min = 1,
	.arguments_max = 100000,
	.group = "judge",
	.run = run,
	.defaults = &defaults,
};
