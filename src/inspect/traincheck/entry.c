/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of TrainCheck's, read. Whatever cannot be judged has a reason. */
#include <stdio.h>
#include <string.h>

#include <wheeltap/err.h>

#include "base/json.h"
#include "entry.h"
#include "traincheck_names.h"

#define NAME_BYTES 1024
#define INDEX_MAX 4096
#define DEPTH_MAX 32
#define ENTRY_MAX ((size_t)4 << 20)

static const struct {
	const char *name;
	const char *group; /* of its condition */
	uint32_t least, most;
} relations[WTI_TC_RELATIONS] = {
	[WTI_TC_CONTAIN] = {"APIContainRelation", "parent_func_call_pre", 2, 2},
	[WTI_TC_CONSISTENCY] = {"ConsistencyRelation", "var", 2, 2},
	[WTI_TC_OUTPUT] = {"ConsistentOutputRelation", "pre_event", 2, 2},
	[WTI_TC_INPUT_OUTPUT] = {"ConsistentInputOutputRelation", "pre_event", 3, 3},
	[WTI_TC_THRESHOLD] = {"ThresholdRelation", "pre_event", 3, 3},
	[WTI_TC_COVER] = {"FunctionCoverRelation", "func_cover", 2, 16},
	[WTI_TC_LEAD] = {"FunctionLeadRelation", "func_lead", 2, 16},
	[WTI_TC_DISTINCT] = {"DistinctArgumentRelation", "distinct_arg", 1, 1},
};

struct reading {
	struct wti_tc_entry *entry;
	struct wti_symbols *symbols;
	const char *why; /* the first thing that cannot be judged */
};

static bool refuse(struct reading *reading, const char *why)
{
	if (!reading->why)
		reading->why = why;
	return false;
}

static void *alloc(struct reading *reading, size_t count, size_t bytes)
{
	void *memory = wti_arena_alloc(&reading->entry->arena, (count + 1) * bytes);

	if (!memory)
		refuse(reading, "it is too large");
	return memory;
}

static bool is_text(const struct wti_doc *doc)
{
	return doc && doc->type == WTI_DOC_STRING && doc->string.bytes < NAME_BYTES &&
	       strlen(doc->string.data) == doc->string.bytes;
}

static const char *text_in(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *doc = wti_doc_get(table, key);

	return is_text(doc) ? doc->string.data : NULL;
}

static const struct wti_doc *list_in(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *doc = wti_doc_get(table, key);

	return doc && doc->type == WTI_DOC_ARRAY ? doc->first : NULL;
}

static uint32_t length_of(const struct wti_doc *first)
{
	uint32_t count = 0;

	for (; first; first = first->next)
		count++;
	return count;
}

/* ---- What it relates ------------------------------------------------------------------------ */

static const char *function_of(struct reading *reading, const char *path)
{
	char name[NAME_BYTES];

	if (!path)
		return NULL;
	wti_traincheck_canonical(name, sizeof(name), path);
	return wti_arena_text(&reading->entry->arena, name, strlen(name));
}

static bool read_api(struct reading *reading, const struct wti_doc *doc, struct wti_tc_param *param)
{
	const struct wti_doc *arguments = wti_doc_get(doc, "arguments");
	const struct wti_doc *args = wti_doc_get(arguments, "args");

	param->type = WTI_TC_API;
	param->function = function_of(reading, text_in(doc, "api_full_name"));
	param->exception = text_in(doc, "exception");
	if (args && args->type == WTI_DOC_TABLE)
		param->arguments = args->first;
	return param->function || refuse(reading, "a function without a name");
}

/* TrainCheck writes a word for what it cannot write: no value is ever equal to that. */
static bool is_written(const struct wti_doc *doc)
{
	return !is_text(doc) || strncmp(doc->string.data, "NOT SERIALIZABLE", 16) != 0;
}

static bool read_variable(struct reading *reading, const struct wti_doc *doc,
			  struct wti_tc_param *param)
{
	param->type = WTI_TC_VARIABLE;
	param->variable_type = text_in(doc, "var_type");
	param->variable_name = text_in(doc, "var_name");
	param->attribute = text_in(doc, "attr_name");
	param->before = wti_doc_get(doc, "pre_value");
	param->after = wti_doc_get(doc, "post_value");
	param->constant = wti_doc_get(doc, "const_value");
	if (!is_written(param->before) || !is_written(param->after) || !is_written(param->constant))
		return refuse(reading, "a value that TrainCheck could not write");
	return (param->variable_type && param->attribute) ||
	       refuse(reading, "a variable without a type or an attribute");
}

static bool read_field(struct reading *reading, const struct wti_doc *doc,
		       struct wti_tc_param *param)
{
	const struct wti_doc *index = wti_doc_get(doc, "index");
	const struct wti_doc *is_input = wti_doc_get(doc, "is_input");

	param->type = WTI_TC_FIELD;
	param->name = text_in(doc, "name");
	param->index = index && index->type == WTI_DOC_INT ? index->integer : -1;
	if (param->index > INDEX_MAX)
		return refuse(reading, "an input or output beyond all that a call has");
	param->path = list_in(doc, "additional_path");
	param->is_input = is_input && is_input->type == WTI_DOC_BOOL && is_input->boolean;
	if (!is_input || is_input->type != WTI_DOC_BOOL)
		return refuse(reading, "a value that is not marked as input or output");
	return param->index >= 0 || param->name ||
	       refuse(reading, "an input or output without a place and a name");
}

static bool read_param(struct reading *reading, const struct wti_doc *doc,
		       struct wti_tc_param *param)
{
	const char *type = text_in(doc, "param_type");

	if (type && !strcmp(type, "APIParam"))
		return read_api(reading, doc, param);
	if (type && (!strcmp(type, "VarTypeParam") || !strcmp(type, "VarNameParam")))
		return read_variable(reading, doc, param);
	if (type && !strcmp(type, "InputOutputParam"))
		return read_field(reading, doc, param);
	return refuse(reading, "a parameter of a type that is not known");
}

/* Which types the relation takes, in their order; the last for all that follow. */
static const char *const shapes[WTI_TC_RELATIONS] = {
	[WTI_TC_CONTAIN] = "a*",       [WTI_TC_CONSISTENCY] = "vv", [WTI_TC_OUTPUT] = "av",
	[WTI_TC_INPUT_OUTPUT] = "faf", [WTI_TC_THRESHOLD] = "faf",  [WTI_TC_COVER] = "aa",
	[WTI_TC_LEAD] = "aa",          [WTI_TC_DISTINCT] = "a",
};

static bool has_shape(const struct wti_tc_entry *entry)
{
	const char *shape = shapes[entry->relation];

	for (uint32_t i = 0; i < entry->param_count; i++) {
		static const char letters[] = {
			[WTI_TC_API] = 'a', [WTI_TC_VARIABLE] = 'v', [WTI_TC_FIELD] = 'f'};
		char letter = letters[entry->params[i].type];

		if (*shape != letter && !(*shape == '*' && letter != 'f'))
			return false;
		if (shape[1])
			shape++;
	}
	return true;
}

/* An output field is found by its place, a threshold by its name. */
static bool has_fields(const struct wti_tc_entry *entry)
{
	const struct wti_tc_param *first = &entry->params[0], *last = &entry->params[2];

	if (entry->relation == WTI_TC_INPUT_OUTPUT)
		return first->is_input && !last->is_input && first->index >= 0 && first->path &&
		       last->index >= 0 && last->path;
	if (first->is_input == last->is_input)
		return false;
	return (first->is_input ? first : last)->name &&
	       (first->is_input ? last : first)->index >= 0 &&
	       (first->is_input ? last : first)->path;
}

static bool read_params(struct reading *reading, const struct wti_doc *doc)
{
	struct wti_tc_entry *entry = reading->entry;
	const struct wti_doc *list = list_in(doc, "params");
	uint32_t count = length_of(list);

	if (count < relations[entry->relation].least || count > relations[entry->relation].most)
		return refuse(reading, "another number of parameters than its relation has");
	entry->params = alloc(reading, count, sizeof(*entry->params));
	for (; entry->params && list; list = list->next)
		if (!read_param(reading, list, &entry->params[entry->param_count++]))
			return false;
	if (!entry->params || !has_shape(entry))
		return refuse(reading, "parameters of other types than its relation has");
	if (entry->relation == WTI_TC_OUTPUT && !entry->params[1].constant)
		return refuse(reading, "a result without the value that it should have");
	if ((entry->relation == WTI_TC_INPUT_OUTPUT || entry->relation == WTI_TC_THRESHOLD) &&
	    !has_fields(entry))
		return refuse(reading, "inputs and outputs other than its relation has");
	return true;
}

/* ---- When ----------------------------------------------------------------------------------- */

static bool read_values(struct reading *reading, const struct wti_doc *doc,
			struct wti_tc_clause *clause)
{
	const struct wti_doc *list = list_in(doc, "values");

	clause->values = alloc(reading, length_of(list), sizeof(*clause->values));
	for (; clause->values && list; list = list->next) {
		struct wti_tc_value *value = &clause->values[clause->value_count++];

		*value = wti_tc_value_of(reading->symbols, list);
		if (is_text(list) && !strcmp(clause->property, "meta_vars.stage"))
			*value = wti_tc_text(reading->symbols,
					     wti_traincheck_stage(list->string.data));
	}
	return clause->value_count || refuse(reading, "a condition without values");
}

static bool read_clause(struct reading *reading, const struct wti_doc *doc,
			struct wti_tc_clause *clause)
{
	static const char *const types[WTI_TC_CLAUSE_TYPES] = {"constant", "consistent", "unequal",
							       "exist"};
	const char *type = text_in(doc, "type");
	uint32_t number = 0;

	while (number < WTI_TC_CLAUSE_TYPES && (!type || strcmp(type, types[number])))
		number++;
	clause->property = text_in(doc, "prop_name");
	if (number == WTI_TC_CLAUSE_TYPES || !clause->property)
		return refuse(reading, "a condition of a type that is not known");
	clause->type = (enum wti_tc_clause_type)number;
	clause->path = list_in(doc, "additional_path");
	return clause->type != WTI_TC_CLAUSE_CONSTANT || read_values(reading, doc, clause);
}

static bool read_conjunction(struct reading *reading, const struct wti_doc *doc,
			     struct wti_tc_conjunction *conjunction)
{
	const struct wti_doc *list = list_in(doc, "clauses");
	const char *word = text_in(doc, "clauses");

	if (word && !strcmp(word, "Unconditional"))
		return true;
	if (!list)
		return refuse(reading, "a condition without clauses");
	conjunction->clauses = alloc(reading, length_of(list), sizeof(*conjunction->clauses));
	for (; conjunction->clauses && list; list = list->next)
		if (!read_clause(reading, list, &conjunction->clauses[conjunction->count++]))
			return false;
	return conjunction->clauses;
}

static bool is_never_true(const struct wti_tc_condition *condition)
{
	for (uint32_t i = 0; i < condition->count; i++)
		if (!condition->any[i].count)
			return condition->is_inverted;
	return !condition->count && !condition->is_inverted;
}

static bool read_group(struct reading *reading, const struct wti_doc *group)
{
	struct wti_tc_condition *condition = &reading->entry->condition;
	const struct wti_doc *inverted = wti_doc_get(group, "inverted");
	const struct wti_doc *list = list_in(group, "preconditions");

	condition->is_inverted = inverted && inverted->type == WTI_DOC_BOOL && inverted->boolean;
	condition->any = alloc(reading, length_of(list), sizeof(*condition->any));
	for (; condition->any && list; list = list->next)
		if (!read_conjunction(reading, list, &condition->any[condition->count++]))
			return false;
	if (!condition->any)
		return false;
	return !is_never_true(condition) || refuse(reading, "a condition that is never true");
}

/* Of which variables stay as they are: judged only where it asks nothing. */
static bool is_unconditional(const struct wti_doc *group)
{
	for (const struct wti_doc *any = list_in(group, "preconditions"); any; any = any->next) {
		const char *word = text_in(any, "clauses");

		if (!word || strcmp(word, "Unconditional"))
			return false;
	}
	return true;
}

static bool read_when(struct reading *reading, const struct wti_doc *doc)
{
	const struct wti_doc *groups = wti_doc_get(doc, "precondition");
	const char *name = relations[reading->entry->relation].group;
	const struct wti_doc *group = wti_doc_get(groups, name);

	if (!group)
		return refuse(reading, "no condition of the kind that its relation has");
	for (const struct wti_doc *other = groups->first; other; other = other->next)
		if (other != group && !is_unconditional(other))
			return refuse(reading, "a condition on variables that stay as they are");
	return read_group(reading, group);
}

/* ---- The entry ------------------------------------------------------------------------------ */

static bool read_relation(struct reading *reading, const struct wti_doc *doc)
{
	const char *name = text_in(doc, "relation");

	for (uint32_t i = 0; name && i < WTI_TC_RELATIONS; i++)
		if (!strcmp(relations[i].name, name)) {
			reading->entry->relation = (enum wti_tc_relation)i;
			return true;
		}
	return refuse(reading, "a relation that TrainCheck 0.2 does not have");
}

static const char *subject_of(struct reading *reading)
{
	const struct wti_tc_entry *entry = reading->entry;
	const struct wti_tc_param *param = &entry->params[0];
	char name[2 * NAME_BYTES];

	if (entry->relation == WTI_TC_INPUT_OUTPUT || entry->relation == WTI_TC_THRESHOLD ||
	    entry->relation == WTI_TC_COVER)
		param = &entry->params[1];
	if (param->type == WTI_TC_API)
		return param->function;
	snprintf(name, sizeof(name), "%s.%s", param->variable_type, param->attribute);
	return wti_arena_text(&reading->entry->arena, name, strlen(name));
}

/* A pack has it some levels deeper than its own line. */
static bool is_shallow(const struct wti_doc *doc)
{
	const struct wti_doc *open[DEPTH_MAX];
	const struct wti_doc *at = doc->first;
	unsigned depth = 0;

	while (at || depth) {
		if (!at) {
			at = open[--depth]->next;
		} else if (at->type == WTI_DOC_TABLE || at->type == WTI_DOC_ARRAY) {
			if (depth == DEPTH_MAX)
				return false;
			open[depth++] = at;
			at = at->first;
		} else {
			at = at->next;
		}
	}
	return true;
}

int wti_tc_entry_read(struct wti_tc_entry *entry, struct wti_symbols *symbols,
		      const struct wti_doc *doc, const char **ret_why)
{
	struct reading reading = {.entry = entry, .symbols = symbols};

	*entry = (struct wti_tc_entry){0};
	wti_arena_init(&entry->arena, ENTRY_MAX);
	if (!is_shallow(doc))
		refuse(&reading, "it is nested too deep");
	else if (read_relation(&reading, doc) && read_params(&reading, doc) &&
		 read_when(&reading, doc) && (entry->subject = subject_of(&reading)))
		return 0;
	*ret_why = reading.why ? reading.why : "it is too large";
	wti_tc_entry_release(entry);
	return WT_E_FORMAT;
}

void wti_tc_entry_release(struct wti_tc_entry *entry)
{
	wti_arena_release(&entry->arena);
}

void wti_tc_entry_text(struct wti_buf *out, const struct wti_doc *doc)
{
	static const char *const kept[] = {"relation", "params", "precondition"};
	const char *separator = "{";

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		const struct wti_doc *child = wti_doc_get(doc, kept[i]);

		if (!child)
			continue;
		wti_buf_printf(out, "%s\"%s\":", separator, kept[i]);
		wti_tc_write(out, child);
		separator = ",";
	}
	wti_buf_text(out, "}");
}
