/* SPDX-License-Identifier: Apache-2.0 */
/* Help for people at a terminal, and the verb `help`. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "help.h"
#include "cli/report.h"

#define HELP_MAX (1u << 20)
#define HELP_COLUMNS 80
#define VERBS_MAX 64

const char *const wti_help_groups[] = {"record", "look", "judge", "keep", NULL};

const char *wti_help_group_title(const char *group)
{
	if (!strcmp(group, "record"))
		return "Record";
	if (!strcmp(group, "look"))
		return "Look at a run";
	if (!strcmp(group, "judge"))
		return "Is it right?";
	return !strcmp(group, "keep") ? "Housekeeping" : "";
}

static size_t help_columns(void)
{
	unsigned width = wti_style_stdout().width;

	return width && width < HELP_COLUMNS ? width : HELP_COLUMNS;
}

/* Words of `text` filled into lines from column `indent` on, the first line already there. */
static void fill(struct wti_buf *out, const char *text, size_t indent)
{
	size_t column = indent, columns = help_columns();
	bool first = true;

	while (*text) {
		size_t bytes = strcspn(text, " \n");

		if (!first && column + 1 + bytes > columns) {
			wti_buf_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			wti_buf_byte(out, ' ');
			column++;
		}
		wti_buf_append(out, text, bytes);
		column += bytes;
		first = false;
		text += bytes;
		text += *text == ' ' || *text == '\n';
	}
	wti_buf_byte(out, '\n');
}

static void add_description(struct wti_buf *out, const char *text)
{
	while (text && *text) {
		const char *end = strstr(text, "\n\n");
		size_t bytes = end ? (size_t)(end - text) : strlen(text);
		struct wti_buf paragraph;

		wti_buf_init(&paragraph, HELP_MAX);
		wti_buf_append(&paragraph, text, bytes);
		fill(out, wti_buf_cstr(&paragraph), 0);
		wti_buf_byte(out, '\n');
		wti_buf_release(&paragraph);
		text += bytes;
		text += strspn(text, "\n");
	}
}

static void add_option(struct wti_buf *out, const struct wti_option *option)
{
	size_t start = out->bytes;
	size_t used;

	if (option->letter)
		wti_buf_printf(out, "  -%c, --%s", option->letter, option->name);
	else
		wti_buf_printf(out, "      --%s", option->name);
	if (option->argument)
		wti_buf_printf(out, " %s", wti_option_value(option));
	used = out->bytes - start;
	if (used > 24)
		wti_buf_printf(out, "\n%*s", 26, "");
	else
		wti_buf_printf(out, "%*s", (int)(26 - used), "");
	fill(out, option->help, 26);
}

static void add_examples(struct wti_buf *out, const char *lines)
{
	while (lines && *lines) {
		size_t bytes = strcspn(lines, "\n");
		const char *tab = memchr(lines, '\t', bytes);
		size_t command = tab ? (size_t)(tab - lines) : bytes;

		wti_buf_printf(out, "  %.*s\n", (int)command, lines);
		if (tab)
			wti_buf_printf(out, "      %.*s\n", (int)(bytes - command - 1), tab + 1);
		lines += bytes;
		lines += *lines == '\n';
	}
}

int wti_help_verb(const struct wti_verb *verb)
{
	struct wti_style style = wti_style_stdout();
	struct wti_buf out;
	bool ok;

	wti_buf_init(&out, HELP_MAX);
	wti_buf_printf(&out, "usage: wheeltap %s [OPTIONS]%s%s\n\n", verb->name,
		       *verb->arguments ? " " : "", verb->arguments);
	add_description(&out, verb->description);
	wti_buf_text(&out, "options:\n");
	for (const struct wti_option *o = verb->options; o && o->name; o++)
		add_option(&out, o);
	wti_buf_printf(&out, "  -h, --help%*s", 14, "");
	fill(&out, "show this text", 26);
	if (verb->examples) {
		wti_buf_text(&out, "\nexamples:\n");
		add_examples(&out, verb->examples);
	}
	ok = wti_print_lines(&out, style.width);
	wti_buf_release(&out);
	return ok ? WTI_EXIT_CLEAN : WTI_EXIT_ENVIRONMENT;
}

int wti_help_all(void)
{
	struct wti_style style = wti_style_stdout();
	struct wti_buf out;
	bool ok;

	wti_buf_init(&out, HELP_MAX);
	wti_buf_text(&out, "usage: wheeltap VERB [OPTIONS] [ARGUMENTS]\n\n"
			   "Records training runs and answers questions about them.\n");
	for (size_t g = 0; wti_help_groups[g]; g++) {
		wti_buf_byte(&out, '\n');
		wti_ink(&out, &style, WTI_INK_BOLD);
		wti_buf_text(&out, wti_help_group_title(wti_help_groups[g]));
		wti_ink(&out, &style, WTI_INK_END);
		wti_buf_byte(&out, '\n');
		for (size_t i = 0; wti_verbs[i]; i++) {
			if (!strcmp(wti_verbs[i]->group, wti_help_groups[g]))
				wti_buf_printf(&out, "  %-10s %s\n", wti_verbs[i]->name,
					       wti_verbs[i]->summary);
		}
	}
	wti_buf_text(&out, "\n"
			   "A run is named by its folder, by its name, or by 'latest', which is "
			   "also the default.\n"
			   "'wheeltap VERB --help' describes a verb; every verb has --json.\n");
	ok = wti_print_lines(&out, style.width);
	wti_buf_release(&out);
	return ok ? WTI_EXIT_CLEAN : WTI_EXIT_ENVIRONMENT;
}

int wti_unknown_verb(const char *asked, const char *word, bool json)
{
	const char *names[VERBS_MAX];
	size_t count = 0;
	const char *near;
	struct wt_err err = {0};

	while (wti_verbs[count] && count < VERBS_MAX) {
		names[count] = wti_verbs[count]->name;
		count++;
	}
	near = wti_suggest(word, names, count);
	if (near)
		wti_err(&err, WT_E_ARG, "unknown verb '%.64s'; did you mean '%s'?", word, near);
	else
		wti_err(&err, WT_E_ARG, "unknown verb '%.64s'; 'wheeltap help' lists them", word);
	return wti_report_error(asked, json, &err);
}

struct help_options {
	bool man;
	const char *completion;
	bool json;
};

static void names_json(struct wti_buf *out)
{
	struct wt_result result;
	struct wt_table *table;

	wt_result_init(&result, "help");
	wt_result_set_status(&result, "clean");
	table = wt_result_table(&result, "verbs", "Verbs");
	wt_table_column(table, "name", "Verb", WT_CELL_TEXT);
	wt_table_column(table, "arguments", "Arguments", WT_CELL_TEXT);
	wt_table_column(table, "summary", "Summary", WT_CELL_TEXT);
	for (size_t i = 0; wti_verbs[i]; i++) {
		wt_table_row(table);
		wt_table_text(table, wti_verbs[i]->name, strlen(wti_verbs[i]->name));
		wt_table_text(table, wti_verbs[i]->arguments, strlen(wti_verbs[i]->arguments));
		wt_table_text(table, wti_verbs[i]->summary, strlen(wti_verbs[i]->summary));
	}
	wti_show_json(out, &result);
	wt_result_release(&result);
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct help_options *options = opaque;
	const struct wti_verb *verb = count ? wti_verb_by_name(arguments[0]) : NULL;
	struct wti_buf out;
	bool ok;

	if (count && !verb)
		return wti_unknown_verb("help", arguments[0], options->json);
	if (!options->man && !options->completion && !options->json)
		return verb ? wti_help_verb(verb) : wti_help_all();
	wti_buf_init(&out, HELP_MAX);
	if (options->completion)
		wti_help_completion(&out, options->completion);
	else if (options->man)
		wti_help_man(&out, verb);
	else
		names_json(&out);
	ok = wti_print_buf(&out);
	wti_buf_release(&out);
	return ok ? WTI_EXIT_CLEAN : WTI_EXIT_ENVIRONMENT;
}

static const struct wti_option options[] = {
	{"man", 0, WTI_OPT_FLAG, NULL, NULL,
	 "print the manual page of VERB, or of wheeltap itself, as scdoc source",
	 offsetof(struct help_options, man)},
	{"completion", 0, WTI_OPT_CHOICE, "SHELL", "bash|zsh|fish",
	 "print the completion script for SHELL: bash, zsh or fish",
	 offsetof(struct help_options, completion)},
	WTI_OPTION_JSON(struct help_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_help = {
	.name = "help",
	.arguments = "[VERB]",
	.summary = "show how to use wheeltap or one of its verbs",
	.description = "Lists the verbs, or describes one of them. It also generates the manual "
		       "pages and the completion scripts that are installed with wheeltap.",
	.examples = "wheeltap help view\twhat view can do\n"
		    "source <(wheeltap help --completion bash)\tcompletion for this shell",
	.options = options,
	.options_bytes = sizeof(struct help_options),
	.arguments_max = 1,
	.group = "keep",
	.run = run,
};
