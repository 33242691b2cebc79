/* SPDX-License-Identifier: Apache-2.0 */
/* How the program was configured: its arguments, its environment, what torch was set to, seeds. */
#include <string.h>

#include "section.h"

static struct wt_table *pairs_table(struct wt_result *result, const char *key, const char *title,
				    const char *name, const char *value)
{
	struct wt_table *table = wt_result_table(result, key, title);

	wt_table_column(table, "name", name, WT_CELL_TEXT);
	wt_table_column(table, "value", value, WT_CELL_TEXT);
	return table;
}

static void put(struct wt_table *table, const char *name, const char *value)
{
	wt_table_row(table);
	wt_table_text(table, name, strlen(name));
	if (value)
		wt_table_text(table, value, strlen(value));
}

/* A value follows its option, if it does not look like one; "-1" does not. */
static bool is_option(const char *word)
{
	return word[0] == '-' && word[1] && !strchr("0123456789.", word[1]);
}

/* Words of the command behind the program: options with their values, and the rest. */
static void add_arguments(const struct wti_doc *command, struct wt_result *result)
{
	struct wt_table *table =
		pairs_table(result, "arguments", "Arguments as given", "argument", "value");
	const struct wti_doc *word = command ? command->first : NULL;

	for (word = word ? word->next : NULL; word; word = word->next) {
		const struct wti_doc *next = word->next;
		const char *text = word->type == WTI_DOC_STRING ? word->string.data : NULL;
		const char *equals = text && is_option(text) ? strchr(text, '=') : NULL;

		if (!text)
			continue;
		if (equals) {
			wt_table_row(table);
			wt_table_text(table, text, (size_t)(equals - text));
			wt_table_text(table, equals + 1, strlen(equals + 1));
		} else if (is_option(text) && next && next->type == WTI_DOC_STRING &&
			   !is_option(next->string.data)) {
			put(table, text, next->string.data);
			word = next;
		} else {
			put(table, text, NULL);
		}
	}
}

static bool add_texts(const struct wti_doc *object, struct wt_table *table)
{
	bool is_any = false;

	for (const struct wti_doc *one = object ? object->first : NULL; one; one = one->next) {
		if (!one->key || one->type != WTI_DOC_STRING)
			continue;
		put(table, one->key, one->string.data);
		is_any = true;
	}
	return is_any;
}

/* What the program made of its arguments, files and defaults. */
static int add_resolved(const struct wti_report_source *source, struct wt_result *result,
			struct wt_err *err)
{
	struct wt_result own;
	int r;

	wt_result_init(&own, "configuration");
	r = wti_section_inspect(source, "configuration", NULL, &own, err);
	if (!r && !wti_section_take(result, &own, "configuration",
				    "Configuration as the program resolved it"))
		wti_not_recorded(result, "the configuration as the program resolved it",
				 "parse it with argparse, click, absl, hydra or OmegaConf in "
				 "Python, or call wheeltap.config(), wt_config_text()");
	wt_result_release(&own);
	return r;
}

int wti_section_configuration(struct wti_report_source *source, struct wt_result *result,
			      struct wt_err *err)
{
	const struct wti_doc *json = source->json;
	int r = add_resolved(source, result, err);

	if (r)
		return r;
	if (!add_texts(json ? wti_doc_get(json, "seeds") : NULL,
		       pairs_table(result, "seeds", "Seeds", "seed", "value")))
		wti_not_recorded(
			result, "seeds",
			"set them in the program (torch.manual_seed, random.seed, "
			"numpy.random.seed), as an option --seed, or as a variable ..._SEED");
	add_arguments(json ? wti_doc_get(json, "command") : NULL, result);
	if (!wti_section_take(result, &source->contents, "library", "What torch was set to"))
		wti_not_recorded(result, "settings of torch", "record a Python program with torch");
	add_texts(json ? wti_doc_get(json, "environment") : NULL,
		  pairs_table(result, "environment", "Environment", "variable", "value"));
	wti_section_take(result, &source->contents, "agent", "How it was recorded");
	return 0;
}
