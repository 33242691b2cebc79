/* SPDX-License-Identifier: Apache-2.0 */
/* TrainCheck's invariants to ours and back. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/json_read.h"
#include "relation.h"
#include "traincheck.h"

#define NAME_BYTES 512

struct reading {
	const char *name;
	struct wti_pack *pack;
	struct wti_traincheck_left_out *left_out;
	struct wt_err *err;
};

static bool is_text(const struct wti_doc *doc)
{
	return doc && doc->type == WTI_DOC_STRING && doc->string.bytes < NAME_BYTES &&
	       strlen(doc->string.data) == doc->string.bytes;
}

static const char *text_in(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *doc = wti_doc_get(table, key);

	return is_text(doc) ? doc->string.data : "";
}

static uint32_t word(struct reading *reading, const char *text)
{
	return wti_symbol_word(&reading->pack->symbols, text);
}

static uint32_t function_of(struct reading *reading, const struct wti_doc *param)
{
	char name[NAME_BYTES];

	wti_traincheck_function(name, sizeof(name), text_in(param, "api_full_name"));
	return word(reading, name);
}

static bool leave_out(struct reading *reading, const char *why, const char *what)
{
	if (!reading->left_out->count++)
		snprintf(reading->left_out->first, sizeof(reading->left_out->first), "%s%s%s", why,
			 *what ? " " : "", what);
	return false;
}

/* ---- What holds ----------------------------------------------------------------------------- */

static void set(struct wti_invariant *invariant, const struct wti_relation *relation,
		uint32_t subject, uint32_t second, enum wti_form form, uint32_t a, uint32_t b)
{
	invariant->relation = (uint32_t)wti_relation_by_name(relation->name);
	invariant->subject[0] = subject;
	invariant->subject[1] = second;
	invariant->fact = (struct wti_fact){form, a, b};
}

static bool read_contain(struct reading *reading, const struct wti_doc *params,
			 struct wti_invariant *invariant)
{
	const struct wti_doc *child = params->next;
	const char *type = text_in(child, "param_type");
	const char *attribute = text_in(child, "attr_name");
	uint32_t parent = function_of(reading, params);

	if (!strcmp(type, "APIParam")) {
		set(invariant, &wti_relation_contain, parent, 0, WTI_FORM_CALLS,
		    function_of(reading, child), 0);
		return true;
	}
	if (!strcmp(attribute, "data") && parent == word(reading, "Optimizer.step")) {
		set(invariant, &wti_relation_contain, parent, word(reading, "parameter"),
		    WTI_FORM_TRUE, word(reading, "some parameter changes"), 0);
		return true;
	}
	if (!strcmp(attribute, "grad") && parent == word(reading, "Optimizer.zero_grad")) {
		set(invariant, &wti_relation_changes, word(reading, "old gradients"), 0,
		    WTI_FORM_TRUE, word(reading, "are cleared between two steps"), 0);
		return true;
	}
	return leave_out(reading, "a call that contains a change of", attribute);
}

static bool read_consistency(struct reading *reading, const struct wti_doc *params,
			     struct wti_invariant *invariant)
{
	const char *attribute = text_in(params, "attr_name");

	if (strcmp(attribute, text_in(params->next, "attr_name")))
		return leave_out(reading, "consistency of different attributes", "");
	if (strcmp(attribute, "data") && strcmp(attribute, "grad"))
		return leave_out(reading, "consistency of", attribute);
	set(invariant, &wti_relation_consistent,
	    word(reading, *attribute == 'd' ? "parameter" : "gradient"), word(reading, "ranks"),
	    WTI_FORM_TRUE, word(reading, "is equal"), 0);
	return true;
}

/* Cover(A, B): before each B there is an A; Lead(A, B): between two A there is a B. */
static bool read_order(struct reading *reading, const struct wti_doc *params,
		       struct wti_invariant *invariant, bool is_cover)
{
	uint32_t a = function_of(reading, params), b = function_of(reading, params->next);

	set(invariant, &wti_relation_order, is_cover ? b : a, 0, WTI_FORM_SINCE, is_cover ? a : b,
	    0);
	return true;
}

static bool read_output(struct reading *reading, const struct wti_doc *params,
			struct wti_invariant *invariant)
{
	const struct wti_doc *field = params->next;
	const struct wti_doc *value = wti_doc_get(field, "const_value");
	const char *attribute = text_in(field, "attr_name");
	char name[NAME_BYTES], text[NAME_BYTES];

	if (strcmp(attribute, "dtype") && strcmp(attribute, "ndim"))
		return leave_out(reading, "a result with a constant", attribute);
	snprintf(name, sizeof(name), "result.%s", attribute);
	if (is_text(value))
		snprintf(text, sizeof(text), "%s", wti_traincheck_dtype(value->string.data));
	else if (value && value->type == WTI_DOC_INT)
		snprintf(text, sizeof(text), "%lld", (long long)value->integer);
	else
		return leave_out(reading, "a result of no known value", "");
	set(invariant, &wti_relation_output, function_of(reading, params), 0, WTI_FORM_IS,
	    word(reading, name), word(reading, text));
	return true;
}

static bool read_distinct(struct reading *reading, const struct wti_doc *params,
			  struct wti_invariant *invariant)
{
	uint32_t function = function_of(reading, params);

	if (wti_initialises(wti_symbol_text(&reading->pack->symbols, function)))
		function = word(reading, "initialisation");
	set(invariant, &wti_relation_distinct, function, 0, WTI_FORM_TRUE,
	    word(reading, "is given something else each time in a step"), 0);
	return true;
}

static bool read_fact(struct reading *reading, const struct wti_doc *doc,
		      struct wti_invariant *invariant)
{
	const struct wti_doc *list = wti_doc_get(doc, "params");
	const struct wti_doc *params = list && list->type == WTI_DOC_ARRAY ? list->first : NULL;
	const char *relation = text_in(doc, "relation");

	if (!strcmp(relation, "DistinctArgumentRelation") && params)
		return read_distinct(reading, params, invariant);
	if (!params || !params->next)
		return leave_out(reading, "too few parameters of", relation);
	if (!strcmp(relation, "APIContainRelation"))
		return read_contain(reading, params, invariant);
	if (!strcmp(relation, "ConsistencyRelation"))
		return read_consistency(reading, params, invariant);
	if (!strcmp(relation, "FunctionCoverRelation"))
		return read_order(reading, params, invariant, true);
	if (!strcmp(relation, "FunctionLeadRelation"))
		return read_order(reading, params, invariant, false);
	if (!strcmp(relation, "ConsistentOutputRelation"))
		return read_output(reading, params, invariant);
	return leave_out(reading, "no counterpart of", relation);
}

/* ---- When ----------------------------------------------------------------------------------- */

/* What our relations take for granted, or what means nothing in another run. */
static bool is_implied(const char *property, const char *type)
{
	if (!strcmp(property, "process_id") || !strcmp(property, "thread_id") ||
	    strstr(property, "_ID") || strstr(property, "RANK"))
		return !strcmp(type, "unequal") || !strcmp(type, "consistent");
	return !strcmp(type, "consistent"); /* the same step, name and size on both sides */
}

static bool read_clause(struct reading *reading, const struct wti_doc *doc,
			struct wti_conjunction *conjunction)
{
	const char *type = text_in(doc, "type"), *property = text_in(doc, "prop_name");
	const struct wti_doc *values = wti_doc_get(doc, "values");
	const struct wti_doc *value =
		values && values->type == WTI_DOC_ARRAY ? values->first : NULL;
	struct wti_clause *clause = &conjunction->clauses[conjunction->count];

	if (is_implied(property, type))
		return true;
	if (conjunction->count == WTI_CLAUSES_MAX || strcmp(type, "constant") || !is_text(value) ||
	    value->next || strcmp(property, "meta_vars.stage"))
		return leave_out(reading, "a condition on", property);
	*clause = (struct wti_clause){.type = WTI_CLAUSE_CONSTANT, .feature = WTI_FEATURE_STAGE};
	clause->value = word(reading, wti_traincheck_stage(value->string.data));
	conjunction->count++;
	return true;
}

static bool read_conjunction(struct reading *reading, const struct wti_doc *doc,
			     struct wti_precondition *when)
{
	const struct wti_doc *clauses = wti_doc_get(doc, "clauses");
	struct wti_conjunction conjunction = {0};

	if (!clauses || clauses->type != WTI_DOC_ARRAY) /* "Unconditional" */
		return true;
	for (const struct wti_doc *clause = clauses->first; clause; clause = clause->next)
		if (!read_clause(reading, clause, &conjunction))
			return false;
	if (!conjunction.count)
		return true;
	if (when->count == WTI_ALTERNATIVES_MAX)
		return leave_out(reading, "too many alternatives", "");
	when->any[when->count++] = conjunction;
	return true;
}

static bool read_when(struct reading *reading, const struct wti_doc *doc,
		      struct wti_precondition *when)
{
	const struct wti_doc *groups = wti_doc_get(doc, "precondition");

	for (const struct wti_doc *group = groups ? groups->first : NULL; group;
	     group = group->next) {
		const struct wti_doc *inverted = wti_doc_get(group, "inverted");
		const struct wti_doc *list = wti_doc_get(group, "preconditions");

		if (inverted && inverted->type == WTI_DOC_BOOL && inverted->boolean)
			when->is_inverted = true;
		for (const struct wti_doc *any = list ? list->first : NULL; any; any = any->next)
			if (!read_conjunction(reading, any, when))
				return false;
	}
	return true;
}

/* ---- The file ------------------------------------------------------------------------------- */

static uint64_t count_in(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *doc = wti_doc_get(table, key);

	return doc && doc->type == WTI_DOC_INT && doc->integer > 0 ? (uint64_t)doc->integer : 0;
}

static int read_line(struct reading *reading, unsigned line, const char *text, size_t bytes)
{
	struct wti_invariant invariant = {0}, *place;
	struct wti_doc *doc;
	int r = wti_json_parse_line(reading->name, line, text, bytes, &doc, reading->err);

	if (r)
		return r;
	if (doc->type != WTI_DOC_TABLE || !is_text(wti_doc_get(doc, "relation"))) {
		r = wti_err(reading->err, WT_E_FORMAT,
			    "%.200s:%u:1: this is not an invariant of TrainCheck's: it has no "
			    "\"relation\"",
			    reading->name, line);
	} else if (read_fact(reading, doc, &invariant) &&
		   read_when(reading, doc, &invariant.when)) {
		invariant.support.for_count = count_in(doc, "num_positive_examples");
		invariant.support.against_count = 0;
		invariant.support.run_count = 1;
		invariant.confidence = wti_wilson(invariant.support.for_count, 0);
		place = wti_pack_add(reading->pack);
		if (place)
			*place = invariant;
		else
			r = wti_err(reading->err, WT_E_LIMIT, "too many invariants");
	}
	wti_doc_free(doc);
	return r;
}

/* The text need not end with a NUL. */
static bool is_blank(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
			return false;
	return true;
}

int wti_traincheck_read_line(const char *name, unsigned line, const char *text, size_t bytes,
			     struct wti_pack *pack, struct wti_traincheck_left_out *left_out,
			     struct wt_err *err)
{
	struct reading reading = {name, pack, left_out, err};

	return is_blank(text, bytes) ? 0 : read_line(&reading, line, text, bytes);
}

int wti_traincheck_read(const char *name, const char *text, size_t bytes, struct wti_pack *pack,
			struct wti_traincheck_left_out *left_out, struct wt_err *err)
{
	const char *end = text + bytes;
	unsigned line = 0;
	int r = 0;

	while (text < end && !r) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((stop ? stop : end) - text);

		r = wti_traincheck_read_line(name, ++line, text, length, pack, left_out, err);
		text += length + 1;
	}
	return r;
}
