/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `pack`: look at packs, put them together, narrow them, suppress what is not wanted. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "convert/traincheck.h"
#include "inspect/learn/relation.h"
#include "convert/traincheck.h"
#include "runs/pack_lint.h"
#include "cli/front.h"
#include "cli/packs.h"
#include "runs/suppress.h"
#include "cli/report.h"

#define TEXT_MAX 8192u
#define OUTPUT_MAX ((size_t)1 << 30)

struct pack_options {
	bool json;
	const char *output;
	const char *relation;
	const char *match;
	const char *confidence;
	uint64_t programs;
	const char *reason;
	const char *until;
	const char *to;
};

struct action {
	const char *name;
	size_t arguments_min;
	int (*run)(const struct pack_options *options, char **arguments, size_t count,
		   struct wt_result *result, struct wt_err *err);
};

/* ---- show ----------------------------------------------------------------------------------- */

static void add_row(struct wt_table *table, const struct wti_pack *pack,
		    const struct wti_invariant *invariant, const char *today)
{
	const char *relation = wti_relations[invariant->relation]->name;
	const struct wti_suppression *suppression = wti_pack_suppressed(pack, invariant, today);
	struct wti_buf words;

	wti_buf_init(&words, TEXT_MAX);
	wti_invariant_words(&words, pack, invariant);
	wt_table_row(table);
	wt_table_text(table, invariant->id, strlen(invariant->id));
	wt_table_text(table, relation, strlen(relation));
	wt_table_number(table, invariant->confidence);
	wt_table_count(table, invariant->support.for_count);
	wt_table_count(table, invariant->support.run_count);
	wt_table_text(table, suppression ? "suppressed" : "", suppression ? 10 : 0);
	wt_table_text(table, wti_buf_cstr(&words), strlen(wti_buf_cstr(&words)));
	wti_buf_release(&words);
}

static int open_pack(const char *path, struct wti_pack **ret_pack, struct wt_err *err)
{
	struct wti_front front = wti_front_here(NULL);

	return wti_pack_open(&front, path, ret_pack, err);
}

/* All of them as one. */
static int open_packs(char **paths, size_t count, struct wti_pack **ret_pack, struct wt_err *err)
{
	struct wti_front front = wti_front_here(NULL);

	return wti_packs_open(&front, (const char *const *)paths, count, ret_pack, err);
}

static int show(const struct pack_options *options, char **arguments, size_t count,
		struct wt_result *result, struct wt_err *err)
{
	struct wt_table *table = wt_result_table(result, "invariants", "");
	struct wti_pack *pack;
	char today[16];
	int r = open_packs(arguments, count, &pack, err);

	if (r)
		return r;
	wt_result_fact_count(result, "invariants", "invariants", WT_CELL_COUNT, pack->count);
	wt_result_fact_count(result, "runs", "runs", WT_CELL_COUNT, pack->run_count);
	if (pack->source)
		wt_result_fact_text(result, "source", "source", pack->source);
	wt_table_column(table, "id", "invariant", WT_CELL_TEXT);
	wt_table_column(table, "relation", "relation", WT_CELL_TEXT);
	wt_table_hide(table, 3);
	wt_table_column(table, "confidence", "confidence", WT_CELL_NUMBER);
	wt_table_column(table, "examples", "examples", WT_CELL_COUNT);
	wt_table_hide(table, 2);
	wt_table_column(table, "runs", "runs", WT_CELL_COUNT);
	wt_table_hide(table, 1);
	wt_table_column(table, "state", "", WT_CELL_TEXT);
	wt_table_column(table, "text", "what holds", WT_CELL_TEXT);
	for (size_t i = 0; i < pack->count; i++)
		add_row(table, pack, &pack->invariants[i], wti_today(today));
	wti_pack_free(pack);
	return 0;
}

/* ---- merge and filter ----------------------------------------------------------------------- */

static int need_output(const struct pack_options *options, struct wt_err *err)
{
	return options->output ? 0
			       : wti_err(err, WT_E_ARG, "no file given: use -o FILE for the pack");
}

static void report_count(struct wt_result *result, const struct wti_pack *pack)
{
	wt_result_fact_count(result, "invariants", "invariants", WT_CELL_COUNT, pack->count);
}

static int merge(const struct pack_options *options, char **arguments, size_t count,
		 struct wt_result *result, struct wt_err *err)
{
	struct wti_pack *pack;
	int r = need_output(options, err);

	r = r ? r : open_packs(arguments, count, &pack, err);
	if (r)
		return r;
	r = wti_pack_save(options->output, pack, err);
	report_count(result, pack);
	wti_pack_free(pack);
	return r;
}

static bool is_wanted(const struct pack_options *options, const struct wti_pack *pack,
		      const struct wti_invariant *invariant)
{
	double confidence = options->confidence ? strtod(options->confidence, NULL) : 0;
	struct wti_buf words;
	bool matches = true;

	if (options->relation &&
	    strcmp(options->relation, wti_relations[invariant->relation]->name))
		return false;
	if (invariant->confidence < confidence ||
	    invariant->support.program_count < options->programs)
		return false;
	if (options->match) {
		wti_buf_init(&words, TEXT_MAX);
		wti_invariant_words(&words, pack, invariant);
		matches = wti_glob(options->match, invariant->id, strlen(invariant->id)) ||
			  wti_glob(options->match, wti_buf_cstr(&words), words.bytes);
		wti_buf_release(&words);
	}
	return matches;
}

static int filter(const struct pack_options *options, char **arguments, size_t count,
		  struct wt_result *result, struct wt_err *err)
{
	struct wti_pack *pack;
	size_t kept = 0;
	int r = need_output(options, err);

	if (!r && options->relation && wti_relation_by_name(options->relation) < 0)
		r = wti_err(err, WT_E_ARG, "no relation '%s'; docs/invariants.md lists them",
			    options->relation);
	r = r ? r : open_packs(arguments, count, &pack, err);
	if (r)
		return r;
	for (size_t i = 0; i < pack->count; i++)
		if (is_wanted(options, pack, &pack->invariants[i]))
			pack->invariants[kept++] = pack->invariants[i];
	pack->count = kept;
	r = wti_pack_save(options->output, pack, err);
	report_count(result, pack);
	wti_pack_free(pack);
	return r;
}

/* ---- suppress ------------------------------------------------------------------------------- */

static bool matches_any(const struct wti_pack *pack, const char *pattern)
{
	for (size_t i = 0; i < pack->count; i++) {
		const struct wti_invariant *invariant = &pack->invariants[i];
		const char *code = wti_relations[invariant->relation]->code;

		if (wti_glob(pattern, invariant->id, strlen(invariant->id)) ||
		    wti_glob(pattern, code, strlen(code)))
			return true;
	}
	return false;
}

static int suppress(const struct pack_options *options, char **arguments, size_t count,
		    struct wt_result *result, struct wt_err *err)
{
	struct wti_pack *pack;
	int r;

	if (!options->reason)
		return wti_err(err, WT_E_ARG, "no reason given: use --reason TEXT");
	r = open_pack(arguments[0], &pack, err);
	for (size_t i = 1; i < count && !r; i++) {
		if (!matches_any(pack, arguments[i]))
			r = wti_err(err, WT_E_ARG,
				    "no invariant '%s' in '%s'; `wheeltap pack show` "
				    "lists them",
				    arguments[i], arguments[0]);
		r = r ? r
		      : wti_pack_suppress(pack, arguments[i], options->reason, options->until, err);
	}
	if (!r) {
		r = wti_pack_save(options->output ? options->output : arguments[0], pack, err);
		wt_result_fact_count(result, "suppressions", "suppressions", WT_CELL_COUNT,
				     pack->suppression_count);
		wti_pack_free(pack);
	}
	return r;
}

/* ---- explain -------------------------------------------------------------------------------- */

static void explain_one(const struct wti_pack *pack, const struct wti_invariant *invariant,
			struct wt_result *result)
{
	const struct wti_relation *relation = wti_relations[invariant->relation];
	const struct wti_support *support = &invariant->support;
	struct wti_buf words;

	wti_buf_init(&words, TEXT_MAX);
	wti_invariant_words(&words, pack, invariant);
	wt_result_fact_text(result, "id", "invariant", invariant->id);
	wt_result_fact_text(result, "code", "found as", relation->code);
	wt_result_fact_text(result, "text", "what holds", wti_buf_cstr(&words));
	wt_result_fact_number(result, "confidence", "confidence", WT_CELL_NUMBER,
			      invariant->confidence);
	wt_result_fact_count(result, "for", "held", WT_CELL_COUNT, support->for_count);
	wt_result_fact_count(result, "against", "did not hold", WT_CELL_COUNT,
			     support->against_count);
	wt_result_fact_count(result, "steps", "in steps", WT_CELL_COUNT, support->step_count);
	wt_result_fact_count(result, "runs", "of runs", WT_CELL_COUNT, support->run_count);
	wt_result_fact_count(result, "programs", "of programs", WT_CELL_COUNT,
			     support->program_count);
	wt_result_fact_text(result, "definition", "relation", relation->definition);
	wt_result_fact_text(result, "means", "a violation means", relation->means);
	wt_result_fact_text(result, "hint", "try", relation->hint);
	wt_result_fact_text(result, "innocent", "exceptions", relation->innocent);
	wti_buf_release(&words);
}

static int explain(const struct pack_options *options, char **arguments, size_t count,
		   struct wt_result *result, struct wt_err *err)
{
	struct wti_pack *pack;
	int r = open_pack(arguments[0], &pack, err);
	size_t i = 0;

	if (r)
		return r;
	while (i < pack->count && strcmp(pack->invariants[i].id, arguments[1]))
		i++;
	if (i < pack->count)
		explain_one(pack, &pack->invariants[i], result);
	else
		r = wti_err(err, WT_E_ARG,
			    "no invariant '%s' in '%s'; `wheeltap pack show` lists "
			    "them",
			    arguments[1], arguments[0]);
	wti_pack_free(pack);
	return r;
}

/* ---- lint and export ------------------------------------------------------------------------ */

static int lint(const struct pack_options *options, char **arguments, size_t count,
		struct wt_result *result, struct wt_err *err)
{
	char today[16];
	int r = 0;

	for (size_t i = 0; i < count && !r; i++) {
		struct wti_pack *pack;

		r = open_pack(arguments[i], &pack, err);
		if (r)
			break;
		wti_pack_lint(pack, arguments[i], wti_today(today), result);
		wti_pack_free(pack);
	}
	wt_result_set_status(result, result->finding_count ? "findings" : "clean");
	return r;
}

static int export_pack(const struct pack_options *options, char **arguments, size_t count,
		       struct wt_result *result, struct wt_err *err)
{
	struct wti_pack *pack;
	struct wti_buf text;
	size_t left_out;
	int r = need_output(options, err);

	if (!r && (!options->to || strcmp(options->to, "traincheck")))
		r = wti_err(err, WT_E_ARG, "no format given: use --to traincheck");
	r = r ? r : open_packs(arguments, count, &pack, err);
	if (r)
		return r;
	wti_buf_init(&text, OUTPUT_MAX);
	left_out = wti_traincheck_write(&text, pack);
	r = wti_save_text(options->output, &text, err);
	wti_buf_release(&text);
	wt_result_fact_count(result, "written", "written", WT_CELL_COUNT, pack->count - left_out);
	wt_result_fact_count(result, "left_out", "left out", WT_CELL_COUNT, left_out);
	if (left_out)
		wt_result_note(result, "%zu invariants have no counterpart in TrainCheck",
			       left_out);
	wti_pack_free(pack);
	return r;
}

static const struct action actions[] = {
	{"show", 1, show},          {"merge", 1, merge},     {"filter", 1, filter},
	{"suppress", 2, suppress},  {"explain", 2, explain}, {"lint", 1, lint},
	{"export", 1, export_pack},
};

#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

static const struct action *find_action(const char *word, struct wt_err *err)
{
	const char *names[ACTIONS];
	const char *near;

	for (size_t i = 0; i < ACTIONS; i++) {
		names[i] = actions[i].name;
		if (!strcmp(actions[i].name, word))
			return &actions[i];
	}
	near = wti_suggest(word, names, ACTIONS);
	wti_err(err, WT_E_ARG,
		"no action '%s'%s%s%s; there are show, merge, filter, suppress, explain, "
		"lint and export",
		word, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return NULL;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct pack_options *options = opaque;
	struct wt_err err = {.offset = -1};
	const struct action *action = find_action(arguments[0], &err);
	struct wt_result result;
	int code;

	if (action && count - 1 < action->arguments_min) {
		wti_err(&err, WT_E_ARG, "too few arguments: `pack %s` takes %s", action->name,
			action->arguments_min > 1 ? "a pack and an invariant" : "a pack");
		action = NULL;
	}
	if (!action)
		return wti_report_error("pack", options->json, &err);
	wt_result_init(&result, "pack");
	if (action->run(options, arguments + 1, count - 1, &result, &err))
		code = wti_report_error("pack", options->json, &err);
	else if (options->output && !strcmp(options->output, "-"))
		code = WTI_EXIT_CLEAN;
	else
		code = wti_report_result(&result, options->json,
					 result.finding_count ? WTI_EXIT_FINDINGS : WTI_EXIT_CLEAN);
	wt_result_release(&result);
	return code;
}

static const struct wti_option options[] = {
	{"output", 'o', WTI_OPT_TEXT, "FILE", NULL,
	 "write the result to this file; - is standard output; without it, suppress changes the "
	 "pack itself",
	 offsetof(struct pack_options, output)},
	{"relation", 0, WTI_OPT_TEXT, "NAME", NULL, "filter: only invariants of this relation",
	 offsetof(struct pack_options, relation)},
	{"match", 0, WTI_OPT_TEXT, "GLOB", NULL, "filter: only those whose id or sentence matches",
	 offsetof(struct pack_options, match)},
	{"confidence", 0, WTI_OPT_TEXT, "SHARE", NULL,
	 "filter: only those of at least this confidence, 0 to 1",
	 offsetof(struct pack_options, confidence)},
	{"programs", 0, WTI_OPT_COUNT, "N", NULL,
	 "filter: only those that held in at least this many programs",
	 offsetof(struct pack_options, programs)},
	{"reason", 0, WTI_OPT_TEXT, "TEXT", NULL, "suppress: why",
	 offsetof(struct pack_options, reason)},
	{"until", 0, WTI_OPT_TEXT, "DAY", NULL, "suppress: up to this day, as 2026-12-31",
	 offsetof(struct pack_options, until)},
	{"to", 0, WTI_OPT_TEXT, "FORMAT", NULL, "export: traincheck",
	 offsetof(struct pack_options, to)},
	WTI_OPTION_JSON(struct pack_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_pack = {
	.name = "pack",
	.arguments = "ACTION PACK...",
	.summary = "show, merge, filter, suppress, explain, lint or export packs of invariants",
	.description =
		"show lists the contents of a pack. merge combines packs; of identical invariants "
		"the one with the most support stays. filter keeps those that match. suppress PACK "
		"ID... switches invariants off, with a reason that is kept in the pack and an "
		"optional last day; an ID may be a glob, or the code of a relation. explain PACK "
		"ID prints everything about one invariant. lint finds mistakes: invariants that "
		"contradict each other, suppressions that match nothing or have expired. export "
		"writes the pack in TrainCheck's format, as far as that can express it.",
	.examples =
		"wheeltap pack show pack.json\tits contents\n"
		"wheeltap pack suppress pack.json order-1a2b3c4d --reason 'two optimizers'\tswitch "
		"one off\n"
		"wheeltap pack export pack.json --to traincheck -o invariants.json\tfor TrainCheck",
	.options = options,
	.options_bytes = sizeof(struct pack_options),
	.arguments_min = 1,
	.arguments_max = 10000,
	.group = "judge",
	.run = run,
};
