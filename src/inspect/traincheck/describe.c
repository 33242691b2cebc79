/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of TrainCheck's as sentences, and the functions that they name. */
#include <stdio.h>
#include <string.h>

#include "base/json_read.h"
#include "entry.h"

#define SHOWN_MAX 4u /* arguments, values and clauses of one sentence */

static void add_doc(struct wti_buf *out, const struct wti_doc *doc)
{
	if (doc->type == WTI_DOC_STRING)
		wti_buf_text(out, doc->string.data);
	else
		wti_tc_write(out, doc);
}

/* {"float": 0.0}: the type says nothing that the value does not. */
static void add_arguments(struct wti_buf *out, const struct wti_doc *argument)
{
	uint32_t shown = 0;

	for (; argument; argument = argument->next) {
		const struct wti_doc *value =
			argument->type == WTI_DOC_TABLE ? argument->first : NULL;

		if (shown++ == SHOWN_MAX) {
			wti_buf_text(out, " ...");
			return;
		}
		wti_buf_printf(out, "%s %s", shown > 1 ? "," : " with", argument->key);
		if (value && value->type != WTI_DOC_TABLE) {
			wti_buf_text(out, " = ");
			add_doc(out, value);
		} else if (value) {
			wti_buf_printf(out, " a %s", value->key);
		}
	}
}

static void add_path(struct wti_buf *out, const struct wti_doc *path)
{
	for (; path; path = path->next) {
		wti_buf_text(out, path->type == WTI_DOC_INT ? "[" : ".");
		add_doc(out, path);
		wti_buf_text(out, path->type == WTI_DOC_INT ? "]" : "");
	}
}

static void add_field(struct wti_buf *out, const struct wti_tc_param *param)
{
	if (param->index < 0)
		wti_buf_text(out, param->name);
	else
		wti_buf_printf(out, "%s tensor %lld", param->is_input ? "input" : "output",
			       (long long)param->index);
	add_path(out, param->path);
}

static void add_change(struct wti_buf *out, const struct wti_tc_param *param)
{
	wti_buf_printf(out, " changes %s of a %s", param->attribute, param->variable_type);
	if (param->variable_name)
		wti_buf_printf(out, " %s", param->variable_name);
	if (param->before) {
		wti_buf_text(out, " from ");
		add_doc(out, param->before);
	}
	if (param->after) {
		wti_buf_text(out, " to ");
		add_doc(out, param->after);
	}
}

static void add_order(struct wti_buf *out, const struct wti_tc_entry *entry)
{
	bool is_cover = entry->relation == WTI_TC_COVER;

	for (uint32_t i = 0; i + 1 < entry->param_count; i++) {
		const char *a = entry->params[i].function, *b = entry->params[i + 1].function;

		wti_buf_printf(out,
			       is_cover ? "%sbefore each %s there is a %s"
					: "%sbetween one %s and the next there is a %s",
			       i ? ", " : "", is_cover ? b : a, is_cover ? a : b);
	}
}

static void add_relation(struct wti_buf *out, const struct wti_tc_entry *entry)
{
	const struct wti_tc_param *params = entry->params;

	switch (entry->relation) {
	case WTI_TC_CONTAIN:
		wti_buf_printf(out, "each %s", params[0].function);
		if (params[1].type == WTI_TC_VARIABLE) {
			add_change(out, &params[1]);
			return;
		}
		wti_buf_printf(out, " calls %s", params[1].function);
		add_arguments(out, params[1].arguments);
		return;
	case WTI_TC_CONSISTENCY:
		wti_buf_printf(out, "%s of each %s equals %s of each other %s", params[0].attribute,
			       params[0].variable_type, params[1].attribute,
			       params[1].variable_type);
		return;
	case WTI_TC_OUTPUT:
		wti_buf_printf(out, "each tensor that %s returns has %s ", params[0].function,
			       params[1].attribute);
		add_doc(out, params[1].constant);
		return;
	case WTI_TC_INPUT_OUTPUT:
	case WTI_TC_THRESHOLD:
		wti_buf_printf(out, "in each %s, ", params[1].function);
		add_field(out, &params[0]);
		wti_buf_text(out,
			     entry->relation == WTI_TC_THRESHOLD ? " is at least " : " equals ");
		add_field(out, &params[2]);
		return;
	case WTI_TC_DISTINCT:
		wti_buf_printf(out, "%s is given other arguments each time in a step",
			       params[0].function);
		return;
	default:
		add_order(out, entry);
	}
}

/* ---- Conditions ----------------------------------------------------------------------------- */

static void add_clause(struct wti_buf *out, const struct wti_symbols *symbols,
		       const struct wti_tc_clause *clause)
{
	static const char *const words[] = {"is", "is the same", "differs", "is there"};
	const char *name = clause->property;

	if (!strncmp(name, "meta_vars.", 10))
		name += 10;
	wti_buf_text(out, name);
	add_path(out, clause->path);
	wti_buf_printf(out, " %s", words[clause->type]);
	for (uint32_t i = 0; i < clause->value_count && i < SHOWN_MAX; i++) {
		const struct wti_tc_value *value = &clause->values[i];
		double number;

		wti_buf_text(out, i ? " or " : " ");
		if (value->type == WTI_TC_BOOL)
			wti_buf_text(out, value->integer ? "true" : "false");
		else if (wti_tc_number_of(value, &number))
			wti_buf_printf(out, "%.15g", number);
		else
			wti_buf_text(out, value->type == WTI_TC_NULL
						  ? "null"
						  : wti_symbol_text(symbols, value->symbol));
	}
}

static void add_condition(struct wti_buf *out, const struct wti_symbols *symbols,
			  const struct wti_tc_condition *condition)
{
	const char *before = condition->is_inverted ? ", unless " : ", where ";

	for (uint32_t i = 0; i < condition->count; i++) {
		const struct wti_tc_conjunction *all = &condition->any[i];

		if (!all->count)
			continue;
		wti_buf_text(out, before);
		before = ", or ";
		for (uint32_t j = 0; j < all->count && j < SHOWN_MAX; j++) {
			wti_buf_text(out, j ? " and " : "");
			add_clause(out, symbols, &all->clauses[j]);
		}
		if (all->count > SHOWN_MAX)
			wti_buf_printf(out, " and %u more", all->count - SHOWN_MAX);
	}
}

/* ---- From the text -------------------------------------------------------------------------- */

static void with_entry(const char *text,
		       void (*use)(void *self, struct wti_symbols *symbols,
				   const struct wti_tc_entry *entry),
		       void *self)
{
	struct wti_symbols symbols;
	struct wti_tc_entry entry;
	struct wti_doc *doc;
	const char *why;

	if (wti_json_parse("entry", text, strlen(text), &doc, NULL))
		return;
	wti_symbols_init(&symbols);
	if (!wti_tc_entry_read(&entry, &symbols, doc, &why)) {
		use(self, &symbols, &entry);
		wti_tc_entry_release(&entry);
	}
	wti_symbols_release(&symbols);
	wti_doc_free(doc);
}

static void describe(void *self, struct wti_symbols *symbols, const struct wti_tc_entry *entry)
{
	add_relation(self, entry);
	add_condition(self, symbols, &entry->condition);
}

void wti_tc_describe(struct wti_buf *out, const char *text)
{
	with_entry(text, describe, out);
}

struct taking {
	void (*take)(void *self, const char *function);
	void *self;
};

static void take_functions(void *self, struct wti_symbols *symbols,
			   const struct wti_tc_entry *entry)
{
	const struct taking *taking = self;

	(void)symbols;
	for (uint32_t i = 0; i < entry->param_count; i++)
		if (entry->params[i].type == WTI_TC_API)
			taking->take(taking->self, entry->params[i].function);
}

void wti_tc_functions(const char *text, void (*take)(void *self, const char *function), void *self)
{
	struct taking taking = {take, self};

	with_entry(text, take_functions, &taking);
}
