/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `explain`: what a rule means; everything it says stands in the rule's row. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "inspect/digits/digits.h"
#include "inspect/gate/gate.h"
#include "inspect/golden/deviation.h"
#include "inspect/judge/rule.h"
#include "inspect/learn/relation.h"
#include "inspect/judge/rule.h"
#include "cli/report.h"
#include "show/wrap.h"

#define CODES_MAX 512u
#define LINE_COLUMNS 80u /* what is read with ease; a narrower terminal has fewer */
#define INDENT_COLUMNS 12u

struct explain_options {
	bool json;
};

static const char *const severities[] = {"note", "warning", "error"};

/* ---- All of them ---------------------------------------------------------------------------- */

/* By family, and by number in it: the rules themselves stand in the order of causes. */
static int by_code(const void *a, const void *b)
{
	const struct wti_rule *const *left = a, *const *right = b;

	return strcmp((*left)->code, (*right)->code);
}

static int list(bool json)
{
	const struct wti_rule *rules[CODES_MAX];
	size_t count = 0;
	struct wt_result result;
	struct wt_table *table;
	int code;

	wt_result_init(&result, "explain");
	table = wt_result_table(&result, "rules", "");
	wt_table_column(table, "code", "rule", WT_CELL_TEXT);
	wt_table_column(table, "severity", "severity", WT_CELL_TEXT);
	wt_table_column(table, "title", "what is found", WT_CELL_TEXT);
	while (count < CODES_MAX && wti_rules[count]) {
		rules[count] = wti_rules[count];
		count++;
	}
	qsort(rules, count, sizeof(*rules), by_code);
	for (size_t i = 0; i < count; i++) {
		const char *severity = severities[rules[i]->severity];

		wt_table_row(table);
		wt_table_text(table, rules[i]->code, strlen(rules[i]->code));
		wt_table_text(table, severity, strlen(severity));
		wt_table_text(table, rules[i]->title, strlen(rules[i]->title));
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

static int unknown(const char *word, bool json)
{
	const char *codes[CODES_MAX];
	struct wt_err err = {.offset = -1};
	const char *near;
	size_t count = 0;

	for (; count < CODES_MAX && wti_rules[count]; count++)
		codes[count] = wti_rules[count]->code;
	near = wti_suggest(word, codes, count);
	wti_err(&err, WT_E_ARG, "no rule '%s'%s%s%s; `wheeltap explain` lists them all", word,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return wti_report_error("explain", json, &err);
}

/* Findings of packs have the code of a relation: it says of itself what a rule does. */
static bool find_relation(const char *code, struct wti_rule *ret_rule)
{
	for (size_t i = 0; wti_relations[i]; i++) {
		const struct wti_relation *relation = wti_relations[i];

		if (strcmp(relation->code, code))
			continue;
		*ret_rule = (struct wti_rule){
			.code = relation->code,
			.severity = WT_ERROR,
			.title = relation->title,
			.means = relation->means,
			.hint = relation->hint,
			.definition = relation->definition,
			.innocent = relation->innocent,
			.needs = relation->needs,
		};
		return true;
	}
	return false;
}

/* Findings of goldens and of assertions have codes of their own. */
static bool find_code(const char *word, struct wti_rule *ret_rule)
{
	const struct wti_code *code = wti_golden_code(word);
	const char *needs = "a golden, and a run recorded with --syscalls without lost events";

	if (!code) {
		code = wti_gate_code(word);
		needs = "an assertion (docs/gate.md), and a run with the data that it needs";
	}
	if (!code) {
		code = wti_digits_code(word);
		needs = "runs recorded under noise with --elements (docs/digits.md)";
	}
	if (!code)
		return false;
	*ret_rule = (struct wti_rule){
		.code = code->code,
		.severity = WT_ERROR,
		.title = code->title,
		.means = code->means,
		.hint = code->hint,
		.definition = code->definition,
		.innocent = code->innocent,
		.needs = needs,
	};
	return true;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct explain_options *options = opaque;
	const struct wti_rule *rule;
	struct wti_rule learned;

	if (!count)
		return list(options->json);
	rule = wti_rule_by_code(arguments[0]);
	if (!rule && (find_relation(arguments[0], &learned) || find_code(arguments[0], &learned)))
		rule = &learned;
	if (!rule)
		return unknown(arguments[0], options->json);
	return options->json ? report_rule(rule) : print_rule(rule);
}

static const struct wti_option options[] = {
	WTI_OPTION_JSON(struct explain_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_explain = {
	.name = "explain",
	.arguments = "[CODE]",
	.summary = "explain a rule: what it means, when it is wrong, and what to do",
	.description = "Without a code it lists all rules. With a code it prints what must hold "
		       "and what counts as a case, what a violation probably means and what to "
		       "try, in which known cases a correct program violates the rule, and what a "
		       "recording must contain for the rule to be measured.",
	.examples = "wheeltap explain WT-GRAD-001\tgradients that are never cleared",
	.options = options,
	.options_bytes = sizeof(struct explain_options),
	.arguments_max = 1,
	.group = "judge",
	.run = run,
};
