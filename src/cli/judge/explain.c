/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `explain`: what a rule means; everything it says stands in the rule's row. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "dataset/codes.h"
#include "inspect/digits/digits.h"
#include "inspect/gate/gate.h"
#include "inspect/golden/deviation.h"
#include "inspect/judge/rule.h"
#include "inspect/learn/relation.h"
#include "cli/report.h"
#include "inspect/origin/origin.h"
#include "replay/codes.h"
#include "runs/model/codes.h"
#include "show/wrap.h"

#define CODES_MAX 512u
#define LINE_COLUMNS 80u /* what is read with ease; a narrower terminal has fewer */
#define INDENT_COLUMNS 12u

struct explain_options {
	bool json;
};

static const char *const severities[] = {"note", "warning", "error"};

/* ---- Several of them ------------------------------------------------------------------------ */

struct codes {
	struct wti_rule rules[CODES_MAX]; /* of the others only what explains them */
	size_t count;
};

static void add(struct codes *codes, const struct wti_rule *rule)
{
	if (codes->count < CODES_MAX)
		codes->rules[codes->count++] = *rule;
}

/* Findings of packs have the code of a relation: it says of itself what a rule does. */
static void add_relations(struct codes *codes)
{
	for (size_t i = 0; wti_relations[i]; i++) {
		const struct wti_relation *relation = wti_relations[i];

		add(codes, &(struct wti_rule){
				   .code = relation->code,
				   .severity = WT_ERROR,
				   .title = relation->title,
				   .means = relation->means,
				   .hint = relation->hint,
				   .definition = relation->definition,
				   .innocent = relation->innocent,
				   .needs = relation->needs,
			   });
	}
}

static void add_code_of(struct codes *codes, const struct wti_code *code, enum wt_severity severity,
			const char *needs)
{
	add(codes, &(struct wti_rule){
			   .code = code->code,
			   .severity = severity,
			   .title = code->title,
			   .means = code->means,
			   .hint = code->hint,
			   .definition = code->definition,
			   .innocent = code->innocent,
			   .needs = needs,
		   });
}

static void add_code(struct codes *codes, const struct wti_code *code, const char *needs)
{
	add_code_of(codes, code, WT_ERROR, needs);
}

/* By family, and by number in it: the rules themselves stand in the order of causes. */
static int by_code(const void *a, const void *b)
{
	const struct wti_rule *left = a, *right = b;

	return strcmp(left->code, right->code);
}

/* The rules; with `all`, also what findings of packs, goldens and assertions are called. */
static void gather(struct codes *codes, bool all)
{
	codes->count = 0;
	for (size_t i = 0; wti_rules[i]; i++)
		add(codes, wti_rules[i]);
	if (all) {
		add_relations(codes);
		for (size_t i = 0; wti_golden_codes[i].code; i++)
			add_code(codes, &wti_golden_codes[i],
				 "a golden, and a run recorded with --syscalls without lost "
				 "events");
		for (size_t i = 0; wti_dataset_codes[i].code; i++)
			add_code(codes, &wti_dataset_codes[i], "files of data (docs/dataset.md)");
		for (size_t i = 0; wti_digits_code_at(i); i++)
			add_code(codes, wti_digits_code_at(i),
				 "runs recorded under noise with --elements (docs/digits.md)");
		for (size_t i = 0; i < WTI_GATE_TYPES; i++)
			add_code(codes, &wti_gate_codes[i],
				 "an assertion (docs/gate.md), and a run with the data that it "
				 "needs");
		for (size_t i = 0; wti_origin_codes[i].code; i++)
			add_code(
				codes, &wti_origin_codes[i],
				"a file, and a recorded run that saved or loaded it (`model verify "
				"FILE --against RUN`)");
		for (size_t i = 0; i < WTI_REPLAY_CODES; i++)
			add_code(codes, &wti_replay_codes[i],
				 "a run recorded with --opencl --replayable (docs/replay.md)");
		for (size_t i = 0; wti_model_code_at(i); i++)
			add_code_of(codes, &wti_model_code_at(i)->code,
				    wti_model_code_at(i)->severity, wti_model_code_at(i)->needs);
	}
	qsort(codes->rules, codes->count, sizeof(*codes->rules), by_code);
}

static bool is_of_family(const char *code, const char *family)
{
	size_t bytes = strlen(family);

	return !strncmp(code, family, bytes) && code[bytes] == '-';
}

/* `family`: such as WT-GRAD, and only its rules; NULL: all. */
static int list(const struct codes *codes, const char *family, bool json)
{
	struct wt_result result;
	struct wt_table *table;
	int code;

	wt_result_init(&result, "explain");
	table = wt_result_table(&result, "rules", "");
	wt_table_column(table, "code", "rule", WT_CELL_TEXT);
	wt_table_column(table, "severity", "severity", WT_CELL_TEXT);
	wt_table_column(table, "title", "what is found", WT_CELL_TEXT);
	for (size_t i = 0; i < codes->count; i++) {
		const struct wti_rule *rule = &codes->rules[i];
		const char *severity = severities[rule->severity];

		if (family && !is_of_family(rule->code, family))
			continue;
		wt_table_row(table);
		wt_table_text(table, rule->code, strlen(rule->code));
		wt_table_text(table, severity, strlen(severity));
		wt_table_text(table, rule->title, strlen(rule->title));
	}
	code = wti_report_result(&result, json, WTI_EXIT_CLEAN);
	wt_result_release(&result);
	return code;
}

/* ---- One of them ---------------------------------------------------------------------------- */

/* A label, and a paragraph beside it. */
static void add_paragraph(struct wti_buf *out, const char *label, const char *text)
{
	if (text)
		wti_buf_printf(out, "\n%-*s%s\n", (int)INDENT_COLUMNS, label, text);
}

/* "calls = 1000: fewer take ..." for each. False: it has none. */
static bool say_thresholds(struct wti_buf *out, const struct wti_rule *rule)
{
	for (size_t i = 0; rule->thresholds[i].name; i++)
		wti_buf_printf(out, "%s`%s` = %.10g (%s)", i ? "; " : "", rule->thresholds[i].name,
			       rule->thresholds[i].value, rule->thresholds[i].why);
	return out->bytes;
}

static int print_rule(const struct wti_rule *rule)
{
	struct wti_style style = wti_style_stdout();
	struct wti_buf out, lines, thresholds;
	bool ok;

	wti_buf_init(&out, 1u << 16);
	wti_buf_init(&lines, 1u << 16);
	wti_buf_init(&thresholds, 1u << 16);
	wti_textf(&out, "%s (%s)  %s\n", rule->code, severities[rule->severity], rule->title);
	add_paragraph(&out, "what holds", rule->definition);
	add_paragraph(&out, "means", rule->means);
	add_paragraph(&out, "try", rule->hint);
	add_paragraph(&out, "exceptions", rule->innocent);
	add_paragraph(&out, "unmeasured", rule->needs);
	if (say_thresholds(&thresholds, rule))
		add_paragraph(&out, "thresholds", wti_buf_cstr(&thresholds));
	wti_wrap(&lines, wti_buf_cstr(&out), out.bytes,
		 style.width && style.width < LINE_COLUMNS ? style.width : LINE_COLUMNS);
	wti_buf_inherit(&lines, &out);
	ok = wti_print_buf(&lines);
	wti_buf_release(&out);
	wti_buf_release(&lines);
	wti_buf_release(&thresholds);
	return ok ? WTI_EXIT_CLEAN : WTI_EXIT_ENVIRONMENT;
}

static void add_fact(struct wt_result *result, const char *key, const char *text)
{
	if (text)
		wt_result_fact_text(result, key, key, text);
}

static int report_rule(const struct wti_rule *rule)
{
	struct wt_result result;
	struct wti_buf thresholds;
	int code;

	wt_result_init(&result, "explain");
	wti_buf_init(&thresholds, 1u << 16);
	add_fact(&result, "code", rule->code);
	add_fact(&result, "severity", severities[rule->severity]);
	add_fact(&result, "title", rule->title);
	add_fact(&result, "definition", rule->definition);
	add_fact(&result, "means", rule->means);
	add_fact(&result, "hint", rule->hint);
	add_fact(&result, "innocent", rule->innocent);
	add_fact(&result, "not_measured", rule->needs);
	if (say_thresholds(&thresholds, rule))
		add_fact(&result, "thresholds", wti_buf_cstr(&thresholds));
	wti_buf_release(&thresholds);
	code = wti_report_result(&result, true, WTI_EXIT_CLEAN);
	wt_result_release(&result);
	return code;
}

/* ---- Which one is meant --------------------------------------------------------------------- */

#define CODE_BYTES 64

/* `rows-002` and `wt-rows-002` are WT-ROWS-002. */
static void spell(const char *word, char code[CODE_BYTES])
{
	bool has_prefix = !strncasecmp(word, "WT-", 3);

	snprintf(code, CODE_BYTES, "WT-%s", has_prefix ? word + 3 : word);
	for (char *c = code; *c; c++)
		*c = (char)toupper((unsigned char)*c);
}

static const struct wti_rule *find(const struct codes *codes, const char *code)
{
	for (size_t i = 0; i < codes->count; i++)
		if (!strcmp(codes->rules[i].code, code))
			return &codes->rules[i];
	return NULL;
}

static bool is_family(const struct codes *codes, const char *word)
{
	for (size_t i = 0; i < codes->count; i++)
		if (is_of_family(codes->rules[i].code, word))
			return true;
	return false;
}

/*
 * The code, or the family, that was most likely meant. Only the family's name is compared: another
 * number is another rule, and no typing error.
 */
static bool suggest(const struct codes *codes, const char *code, char meant[CODE_BYTES])
{
	char texts[CODES_MAX][CODE_BYTES], word[CODE_BYTES];
	const char *names[CODES_MAX], *rest, *near;

	for (size_t i = 0; i < codes->count; i++) {
		const char *name = codes->rules[i].code + 3;

		snprintf(texts[i], CODE_BYTES, "%.*s", (int)strcspn(name, "-"), name);
		names[i] = texts[i];
	}
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(code + 3, "-"), code + 3);
	rest = code + 3 + strlen(word);
	near = wti_suggest(word, names, codes->count);
	if (!near)
		return false;
	snprintf(meant, CODE_BYTES, "WT-%.28s%.28s", near, rest);
	if (!find(codes, meant) && *rest == '-') /* 1 and 0001 are 001 */
		snprintf(meant, CODE_BYTES, "WT-%.28s-%03lu", near, strtoul(rest + 1, NULL, 10));
	if (!find(codes, meant))
		snprintf(meant, CODE_BYTES, "WT-%.28s", near);
	return true;
}

static int unknown(const struct codes *codes, const char *word, const char *code, bool json)
{
	struct wt_err err = {.offset = -1};
	char meant[CODE_BYTES];
	bool is_near = suggest(codes, code, meant);

	wti_err(&err, WT_E_ARG, "no rule '%.64s'%s%s%s `wheeltap explain` lists them all", word,
		is_near ? "; did you mean '" : "", is_near ? meant : "", is_near ? "'?" : ";");
	return wti_report_error("explain", json, &err);
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct explain_options *options = opaque;
	const struct wti_rule *rule;
	char code[CODE_BYTES];
	struct codes codes;

	gather(&codes, count);
	if (!count)
		return list(&codes, NULL, options->json);
	spell(arguments[0], code);
	rule = find(&codes, code);
	if (rule)
		return options->json ? report_rule(rule) : print_rule(rule);
	if (is_family(&codes, code))
		return list(&codes, code, options->json);
	return unknown(&codes, arguments[0], code, options->json);
}

static const struct wti_option options[] = {
	WTI_OPTION_JSON(struct explain_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_explain = {
	.name = "explain",
	.arguments = "[CODE|FAMILY]",
	.summary = "explain a rule: what it means, when it is wrong, and what to do",
	.description = "Without a code it lists all rules, with a family such as WT-GRAD those of "
		       "the family; `WT-` may be left out. With a code it prints what must hold "
		       "and what counts as a case, what a violation probably means and what to "
		       "try, in which known cases a correct program violates the rule, and what a "
		       "recording must contain for the rule to be measured.",
	.examples = "wheeltap explain WT-GRAD-001\tgradients that are never cleared\n"
		    "wheeltap explain grad\tall rules about gradients",
	.options = options,
	.options_bytes = sizeof(struct explain_options),
	.arguments_max = 1,
	.group = "judge",
	.run = run,
};
