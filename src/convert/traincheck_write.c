/* SPDX-License-Identifier: Apache-2.0 */
/* A pack as TrainCheck's invariants, as far as it has the words. */
#include <stdio.h>
#include <string.h>

#include "base/doc_write.h"
#include "base/json.h"
#include "base/json_read.h"
#include "inspect/learn/relation.h"
#include "inspect/learn/relations/relations.h"
#include "inspect/traincheck/entry.h"
#include "inspect/traincheck/traincheck.h"
#include "inspect/traincheck/traincheck_names.h"
#include "traincheck.h"

#define NAME_BYTES 512
#define SENTENCE_MAX 4096u

struct words {
	const char *relation;       /* theirs */
	const char *group;          /* of the precondition */
	const char *first, *second; /* functions */
	const char *attribute;      /* of a variable, or of a result */
	const char *value;
};

static const char *text_of(const struct wti_pack *pack, uint32_t symbol)
{
	return wti_symbol_text(&pack->symbols, symbol);
}

/* False: it has no counterpart. */
static bool translate(const struct wti_pack *pack, const struct wti_invariant *invariant,
		      struct words *ret)
{
	const struct wti_relation *relation = wti_relations[invariant->relation];
	const char *subject = text_of(pack, invariant->subject[0]);
	const char *a = text_of(pack, invariant->fact.a), *b = text_of(pack, invariant->fact.b);

	if (relation == &wti_relation_contain && invariant->fact.form == WTI_FORM_CALLS)
		*ret = (struct words){"APIContainRelation", "parent_func_call_pre", subject, a};
	else if (relation == &wti_relation_order && !invariant->subject[1])
		*ret = (struct words){"FunctionLeadRelation", "func_lead", subject, a};
	else if (relation == &wti_relation_consistent &&
		 !strcmp(text_of(pack, invariant->subject[1]), "ranks") &&
		 (!strcmp(subject, "parameter") || !strcmp(subject, "gradient")))
		*ret = (struct words){"ConsistencyRelation", "var",
				      .attribute = strcmp(subject, "gradient") ? "data" : "grad"};
	else if (relation == &wti_relation_distinct && !strcmp(a, "is_given_something_else"))
		*ret = (struct words){"DistinctArgumentRelation", "distinct_arg", subject};
	else if (relation == &wti_relation_output && invariant->fact.form == WTI_FORM_IS &&
		 !strcmp(a, "result.dtype"))
		*ret = (struct words){"ConsistentOutputRelation", "pre_event", subject,
				      .attribute = "dtype", .value = b};
	else
		return false;
	return true;
}

static bool can_say(const struct wti_precondition *when)
{
	for (uint32_t i = 0; i < when->count; i++)
		for (uint32_t j = 0; j < when->any[i].count; j++)
			if (when->any[i].clauses[j].type != WTI_CLAUSE_CONSTANT ||
			    when->any[i].clauses[j].feature != WTI_FEATURE_STAGE)
				return false;
	return true;
}

static void write_api(struct wti_json *json, const char *function)
{
	char path[NAME_BYTES];

	wti_traincheck_path(path, sizeof(path), function);
	wti_json_object(json);
	wti_json_key(json, "param_type");
	wti_json_text(json, "APIParam");
	wti_json_key(json, "api_full_name");
	wti_json_text(json, path);
	wti_json_object_end(json);
}

static void write_variable(struct wti_json *json, const char *type, const struct words *words)
{
	char dtype[NAME_BYTES];

	wti_json_object(json);
	wti_json_key(json, "param_type");
	wti_json_text(json, "VarTypeParam");
	wti_json_key(json, "var_type");
	wti_json_text(json, type);
	wti_json_key(json, "attr_name");
	wti_json_text(json, words->attribute);
	if (words->value) {
		snprintf(dtype, sizeof(dtype), "torch.%s",
			 wti_traincheck_torch_dtype(words->value));
		wti_json_key(json, "const_value");
		wti_json_text(json, dtype);
	}
	wti_json_object_end(json);
}

static void write_params(struct wti_json *json, const struct words *words)
{
	wti_json_key(json, "params");
	wti_json_array(json);
	if (words->first)
		write_api(json, words->first);
	if (words->second)
		write_api(json, words->second);
	if (words->attribute)
		write_variable(json, words->first ? "torch.Tensor" : "torch.nn.Parameter", words);
	if (words->attribute && !words->first)
		write_variable(json, "torch.nn.Parameter", words);
	wti_json_array_end(json);
}

static void write_clause(struct wti_json *json, const char *type, const char *property,
			 const char *dtype, const char *value)
{
	wti_json_object(json);
	wti_json_key(json, "type");
	wti_json_text(json, type);
	wti_json_key(json, "prop_name");
	wti_json_text(json, property);
	wti_json_key(json, "additional_path");
	wti_json_text(json, "None");
	wti_json_key(json, "prop_dtype");
	wti_json_text(json, dtype);
	if (value) {
		wti_json_key(json, "values");
		wti_json_array(json);
		wti_json_text(json, value);
		wti_json_array_end(json);
	}
	wti_json_object_end(json);
}

static void write_conjunction(struct wti_json *json, const struct wti_pack *pack,
			      const struct wti_conjunction *conjunction, bool of_ranks)
{
	wti_json_object(json);
	wti_json_key(json, "clauses");
	wti_json_array(json);
	if (of_ranks) {
		write_clause(json, "unequal", "process_id", "int", NULL);
		write_clause(json, "consistent", "meta_vars.step", "int", NULL);
		write_clause(json, "consistent", "var_name", "str", NULL);
	}
	for (uint32_t i = 0; conjunction && i < conjunction->count; i++)
		write_clause(json, "constant", "meta_vars.stage", "str",
			     text_of(pack, conjunction->clauses[i].value));
	wti_json_array_end(json);
	wti_json_object_end(json);
}

static void write_when(struct wti_json *json, const struct wti_pack *pack,
		       const struct wti_precondition *when, const struct words *words)
{
	bool of_ranks = !words->first;

	wti_json_key(json, "precondition");
	wti_json_object(json);
	wti_json_key(json, words->group);
	wti_json_object(json);
	wti_json_key(json, "inverted");
	wti_json_bool(json, when->is_inverted);
	wti_json_key(json, "preconditions");
	wti_json_array(json);
	for (uint32_t i = 0; i < when->count; i++)
		write_conjunction(json, pack, &when->any[i], of_ranks);
	if (!when->count && of_ranks) {
		write_conjunction(json, pack, NULL, true);
	} else if (!when->count) {
		wti_json_object(json);
		wti_json_key(json, "clauses");
		wti_json_text(json, "Unconditional");
		wti_json_object_end(json);
	}
	wti_json_array_end(json);
	wti_json_object_end(json);
	wti_json_object_end(json);
}

static void begin_entry(struct wti_json *json, struct wti_buf *out, const struct wti_pack *pack,
			const struct wti_invariant *invariant)
{
	struct wti_buf sentence;

	wti_buf_init(&sentence, SENTENCE_MAX);
	wti_invariant_words(&sentence, pack, invariant);
	wti_json_init(json, out, false);
	wti_json_object(json);
	wti_json_key(json, "text_description");
	wti_json_text(json, wti_buf_cstr(&sentence));
	wti_buf_release(&sentence);
}

static void end_entry(struct wti_json *json, struct wti_buf *out,
		      const struct wti_invariant *invariant)
{
	wti_json_key(json, "num_positive_examples");
	wti_json_u64(json, invariant->support.for_count);
	wti_json_key(json, "num_negative_examples");
	wti_json_u64(json, invariant->support.against_count);
	wti_json_object_end(json);
	wti_buf_byte(out, '\n');
}

static void write_invariant(struct wti_buf *out, const struct wti_pack *pack,
			    const struct wti_invariant *invariant, const struct words *words)
{
	struct wti_json json;

	begin_entry(&json, out, pack, invariant);
	wti_json_key(&json, "relation");
	wti_json_text(&json, words->relation);
	write_params(&json, words);
	write_when(&json, pack, &invariant->when, words);
	end_entry(&json, out, invariant);
}

/* One that came from there, as it came. */
static void write_published(struct wti_buf *out, const struct wti_pack *pack,
			    const struct wti_invariant *invariant)
{
	const char *text = text_of(pack, invariant->subject[1]);
	struct wti_json json;
	struct wti_doc *doc;

	if (wti_json_parse("entry", text, strlen(text), &doc, NULL))
		return;
	begin_entry(&json, out, pack, invariant);
	for (const struct wti_doc *child = doc->first; child; child = child->next) {
		wti_json_key(&json, child->key);
		wti_doc_write(&json, child);
	}
	end_entry(&json, out, invariant);
	wti_doc_free(doc);
}

/* An order of several acts: each of them leads, which is all that they can say of it. */
static void write_others(struct wti_buf *out, const struct wti_pack *pack,
			 const struct wti_invariant *invariant, struct words *words)
{
	if (invariant->fact.form != WTI_FORM_BEFORE)
		return;
	words->second = text_of(pack, invariant->fact.b);
	write_invariant(out, pack, invariant, words);
	for (uint32_t i = 0; i < invariant->then_count; i++) {
		words->second = text_of(pack, invariant->then[i]);
		write_invariant(out, pack, invariant, words);
	}
}

size_t wti_traincheck_write(struct wti_buf *out, const struct wti_pack *pack)
{
	size_t left_out = 0;

	for (size_t i = 0; i < pack->count; i++) {
		struct words words;

		if (wti_relations[pack->invariants[i].relation] == &wti_relation_traincheck) {
			write_published(out, pack, &pack->invariants[i]);
			continue;
		}
		if (!can_say(&pack->invariants[i].when) ||
		    !translate(pack, &pack->invariants[i], &words)) {
			left_out++;
			continue;
		}
		write_invariant(out, pack, &pack->invariants[i], &words);
		write_others(out, pack, &pack->invariants[i], &words);
	}
	return left_out;
}
