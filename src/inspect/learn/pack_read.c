/* SPDX-License-Identifier: Apache-2.0 */
/* Packs from JSON. Every complaint names the place in the file. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json_read.h"
#include "level.h"
#include "phrases.h"
#include "relation.h"

#define TEXT_MAX 4096u
#define ENTRY_MAX ((size_t)1 << 20)

struct reading {
	const char *name;
	struct wti_pack *pack;
	struct wt_err *err;
	bool has_phrases; /* of version 1 */
};

static int fail(struct reading *reading, const struct wti_doc *at, const char *what)
{
	return wti_doc_fail(at, reading->name, reading->err, WT_E_FORMAT, "%s", what);
}

static bool is_count(const struct wti_doc *doc)
{
	return doc && doc->type == WTI_DOC_INT && doc->integer >= 0;
}

static bool is_number(const struct wti_doc *doc)
{
	return doc && (doc->type == WTI_DOC_INT || doc->type == WTI_DOC_FLOAT);
}

static double number_of(const struct wti_doc *doc)
{
	return doc->type == WTI_DOC_INT ? (double)doc->integer : doc->number;
}

/* `relation` is "" for what is of none. */
static uint32_t symbol_of(struct reading *reading, const char *relation, const struct wti_doc *doc)
{
	struct wti_symbols *symbols = &reading->pack->symbols;

	return reading->has_phrases ? wti_symbol_of_phrase(symbols, relation, doc->string.data)
				    : wti_symbol(symbols, doc->string.data, doc->string.bytes);
}

/* ---- Preconditions -------------------------------------------------------------------------- */

static int read_range(struct reading *reading, const struct wti_doc *value,
		      struct wti_clause *clause)
{
	const struct wti_doc *low = value->type == WTI_DOC_ARRAY ? value->first : NULL;
	const struct wti_doc *high = low ? low->next : NULL;

	if (!is_count(low) || low->integer >= UINT32_MAX - 1 || (high && high->next))
		return fail(reading, value, "a range is one or two whole numbers in brackets");
	if (high &&
	    (!is_count(high) || high->integer < low->integer || high->integer >= UINT32_MAX - 1))
		return fail(reading, high,
			    "the end of a range is a number not below its beginning");
	clause->low = (uint32_t)low->integer;
	clause->high = high ? (uint32_t)high->integer : UINT32_MAX - 1;
	return 0;
}

static int read_clause_value(struct reading *reading, const struct wti_doc *value,
			     struct wti_clause *clause)
{
	int other;

	switch (clause->type) {
	case WTI_CLAUSE_CONSTANT:
	case WTI_CLAUSE_NOT:
		if (!wti_doc_is_text(value, TEXT_MAX) || wti_features[clause->feature].is_number)
			return fail(reading, value,
				    "expected a string: this feature is not numeric");
		clause->value = symbol_of(reading, "", value);
		return 0;
	case WTI_CLAUSE_RANGE:
		if (!wti_features[clause->feature].is_number)
			return fail(reading, value, "this feature is not a number");
		return read_range(reading, value, clause);
	case WTI_CLAUSE_EQUAL:
	case WTI_CLAUSE_UNEQUAL:
		other = wti_doc_is_text(value, TEXT_MAX) ? wti_feature_by_name(value->string.data)
							 : -1;
		if (other < 0)
			return fail(reading, value, "expected the name of a feature");
		clause->other = (uint32_t)other;
		return 0;
	default:
		return 0;
	}
}

static int read_clause(struct reading *reading, const struct wti_doc *doc,
		       struct wti_clause *clause)
{
	const struct wti_doc *feature = wti_doc_get(doc, "feature");
	const struct wti_doc *value = NULL;
	int number;

	if (!wti_doc_is_text(feature, TEXT_MAX))
		return fail(reading, doc, "a clause needs a \"feature\"");
	number = wti_feature_by_name(feature->string.data);
	if (number < 0)
		return fail(reading, feature, "no such feature; docs/invariants.md lists them");
	clause->feature = (uint32_t)number;
	for (const struct wti_doc *child = doc->first; child; child = child->next)
		if (wti_clause_by_name(child->key) >= 0)
			value = child;
	if (!value)
		return fail(reading, doc,
			    "a clause needs a condition on its feature: constant, not, exists, "
			    "absent, range, equal or unequal");
	clause->type = (enum wti_clause_type)wti_clause_by_name(value->key);
	return read_clause_value(reading, value, clause);
}

static int read_when(struct reading *reading, const struct wti_doc *doc,
		     struct wti_precondition *when)
{
	int r = 0;

	if (doc->type != WTI_DOC_ARRAY)
		return fail(reading, doc, "a precondition is a list of lists of clauses");
	for (const struct wti_doc *any = doc->first; any && !r; any = any->next) {
		struct wti_conjunction *conjunction = &when->any[when->count];

		if (when->count == WTI_ALTERNATIVES_MAX)
			return fail(reading, any, "too many alternatives");
		if (any->type != WTI_DOC_ARRAY)
			return fail(reading, any, "expected a list of clauses");
		when->count++;
		for (const struct wti_doc *clause = any->first; clause && !r;
		     clause = clause->next) {
			if (conjunction->count == WTI_CLAUSES_MAX)
				return fail(reading, clause, "too many clauses");
			r = read_clause(reading, clause,
					&conjunction->clauses[conjunction->count++]);
		}
	}
	return r;
}

/* ---- Invariants ----------------------------------------------------------------------------- */

/* What comes after the first two of an order. */
static int read_chain(struct reading *reading, const struct wti_doc *next,
		      struct wti_invariant *invariant)
{
	const char *relation = wti_relations[invariant->relation]->name;

	for (; next; next = next->next) {
		if (!wti_doc_is_text(next, TEXT_MAX))
			return fail(reading, next, "expected a string");
		if (invariant->then_count == WTI_CHAIN_MAX)
			return fail(reading, next, "too many acts in one order");
		invariant->then[invariant->then_count++] = symbol_of(reading, relation, next);
	}
	return 0;
}

static int read_fact(struct reading *reading, const struct wti_doc *holds,
		     struct wti_invariant *invariant)
{
	const struct wti_doc *form = holds->type == WTI_DOC_ARRAY ? holds->first : NULL;
	const struct wti_doc *a = form ? form->next : NULL;
	const struct wti_doc *b = a ? a->next : NULL;
	const char *relation = wti_relations[invariant->relation]->name;
	int number = wti_doc_is_text(form, TEXT_MAX) ? wti_form_by_name(form->string.data) : -1;

	if (number < 0 || !wti_doc_is_text(a, TEXT_MAX))
		return fail(reading, holds,
			    "what holds is a list: true, calls, since, before, is, "
			    "same or range, and what it says that of");
	invariant->fact.form = (uint32_t)number;
	invariant->fact.a = symbol_of(reading, relation, a);
	if (number == WTI_FORM_RANGE) {
		if (!is_number(b) || !is_number(b->next) || !(number_of(b) <= number_of(b->next)))
			return fail(reading, holds,
				    "a range needs two numbers, the lower one first");
		invariant->low = number_of(b);
		invariant->high = number_of(b->next);
		return 0;
	}
	if (b && !wti_doc_is_text(b, TEXT_MAX))
		return fail(reading, b, "expected a string");
	invariant->fact.b = b ? symbol_of(reading, relation, b) : 0;
	return b && number == WTI_FORM_BEFORE ? read_chain(reading, b->next, invariant) : 0;
}

static int read_subject(struct reading *reading, const struct wti_doc *doc,
			struct wti_invariant *invariant)
{
	size_t count = 0;

	if (doc->type != WTI_DOC_ARRAY)
		return fail(reading, doc, "a subject is a list of at most two names");
	for (const struct wti_doc *name = doc->first; name; name = name->next) {
		if (count == 2 || !wti_doc_is_text(name, TEXT_MAX))
			return fail(reading, name, "a subject is a list of at most two names");
		invariant->subject[count++] =
			symbol_of(reading, wti_relations[invariant->relation]->name, name);
	}
	return 0;
}

/* What was published is kept whole; what cannot be judged has no place in a pack. */
static int read_entry(struct reading *reading, const struct wti_publication *publication,
		      const struct wti_doc *doc, struct wti_invariant *invariant)
{
	struct wti_buf text;
	const char *why;
	bool is_read;

	if (!doc)
		return 0;
	wti_buf_init(&text, ENTRY_MAX);
	is_read = publication->read(&text, &reading->pack->symbols, doc, &why);
	if (is_read)
		invariant->subject[1] =
			wti_symbol_word(&reading->pack->symbols, wti_buf_cstr(&text));
	wti_buf_release(&text);
	return is_read ? 0 : fail(reading, doc, why);
}

static uint64_t count_in(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *doc = wti_doc_get(table, key);

	return is_count(doc) ? (uint64_t)doc->integer : 0;
}

static void read_support(const struct wti_doc *doc, struct wti_support *support)
{
	const struct wti_doc *times = wti_doc_get(doc, "times");

	support->for_count = count_in(doc, "for");
	support->against_count = count_in(doc, "against");
	support->step_count = count_in(doc, "steps");
	support->run_count = (uint32_t)count_in(doc, "runs");
	support->program_count = (uint32_t)count_in(doc, "programs");
	if (times && times->type == WTI_DOC_ARRAY && is_count(times->first) &&
	    is_count(times->first->next)) {
		support->times_low = (uint64_t)times->first->integer;
		support->times_high = (uint64_t)times->first->next->integer;
	}
}

static int read_invariant(struct reading *reading, const struct wti_doc *doc)
{
	struct wti_invariant invariant = {.confidence = 1};
	const struct wti_doc *relation = wti_doc_get(doc, "relation");
	const struct wti_doc *subject = wti_doc_get(doc, "subject");
	const struct wti_doc *holds = wti_doc_get(doc, "holds");
	const struct wti_doc *when = wti_doc_get(doc, "when");
	const struct wti_doc *unless = wti_doc_get(doc, "unless");
	const struct wti_doc *confidence = wti_doc_get(doc, "confidence");
	struct wti_invariant *place;
	int number = wti_doc_is_text(relation, TEXT_MAX)
			     ? wti_relation_by_name(relation->string.data)
			     : -1;
	int r;

	if (doc->type != WTI_DOC_TABLE || !relation || !subject || !holds)
		return fail(reading, doc,
			    "an invariant needs \"relation\", \"subject\" and \"holds\"");
	if (number < 0)
		return fail(reading, relation, "no such relation; docs/invariants.md lists them");
	if (when && unless)
		return fail(reading, unless, "\"when\" and \"unless\" exclude each other");
	invariant.relation = (uint32_t)number;
	r = read_subject(reading, subject, &invariant);
	r = r ? r : read_fact(reading, holds, &invariant);
	if (!r && wti_relations[number]->publication)
		r = read_entry(reading, wti_relations[number]->publication,
			       wti_doc_get(doc, "entry"), &invariant);
	if (!r && (when || unless))
		r = read_when(reading, when ? when : unless, &invariant.when);
	if (r)
		return r;
	invariant.when.is_inverted = unless;
	read_support(wti_doc_get(doc, "support"), &invariant.support);
	if (confidence) {
		if (!is_number(confidence) || !(number_of(confidence) >= 0) ||
		    number_of(confidence) > 1)
			return fail(reading, confidence, "a confidence is a number from 0 to 1");
		invariant.confidence = number_of(confidence);
	}
	place = wti_pack_add(reading->pack);
	if (!place)
		return fail(reading, doc, "too many invariants");
	*place = invariant;
	return 0;
}

/* ---- The file ------------------------------------------------------------------------------- */

static int read_suppression(struct reading *reading, const struct wti_doc *doc)
{
	const struct wti_doc *what = wti_doc_get(doc, "what");
	const struct wti_doc *reason = wti_doc_get(doc, "reason");
	const struct wti_doc *until = wti_doc_get(doc, "until");

	if (!wti_doc_is_text(what, TEXT_MAX) || !wti_doc_is_text(reason, TEXT_MAX) ||
	    (until && !wti_doc_is_text(until, TEXT_MAX)))
		return fail(reading, doc,
			    "a suppression needs \"what\" and \"reason\", and may have \"until\"");
	return wti_pack_suppress(reading->pack, what->string.data, reason->string.data,
				 until ? until->string.data : NULL, reading->err);
}

static int read_list(struct reading *reading, const struct wti_doc *list,
		     int (*read)(struct reading *, const struct wti_doc *))
{
	int r = 0;

	if (list->type != WTI_DOC_ARRAY)
		return fail(reading, list, "expected a list");
	for (const struct wti_doc *doc = list->first; doc && !r; doc = doc->next)
		r = read(reading, doc);
	return r;
}

static int read_level(struct reading *reading, const struct wti_doc *doc)
{
	for (uint32_t i = 0; wti_doc_is_text(doc, TEXT_MAX) && i < WTI_LEVELS; i++)
		if (!strcmp(doc->string.data, wti_levels[i])) {
			reading->pack->levels |= 1u << i;
			return 0;
		}
	return fail(reading, doc, "a pack is recorded lean, normal, full or picked");
}

static int read_pack(struct reading *reading, const struct wti_doc *root)
{
	const struct wti_doc *recorded = wti_doc_get(root, "recorded");
	const struct wti_doc *kind = wti_doc_get(root, "wheeltap");
	const struct wti_doc *version = wti_doc_get(root, "version");
	const struct wti_doc *source = wti_doc_get(root, "source");
	const struct wti_doc *invariants = wti_doc_get(root, "invariants");
	const struct wti_doc *suppressed = wti_doc_get(root, "suppressed");
	int r;

	if (!wti_doc_is_text(kind, TEXT_MAX) || strcmp(kind->string.data, "pack"))
		return fail(reading, root,
			    "this is not a pack: it does not begin with \"wheeltap\": "
			    "\"pack\"; `wheeltap import traincheck` takes TrainCheck's");
	if (!is_count(version) || version->integer < WTI_PACK_VERSION_OF_PHRASES ||
	    version->integer > WTI_PACK_VERSION)
		return fail(reading, version ? version : root,
			    "a pack of a version that this wheeltap does "
			    "not know");
	if (!invariants)
		return fail(reading, root, "a pack needs \"invariants\"");
	reading->has_phrases = version->integer == WTI_PACK_VERSION_OF_PHRASES;
	reading->pack->run_count = count_in(root, "runs");
	if (wti_doc_is_text(source, TEXT_MAX))
		reading->pack->source = strdup(source->string.data);
	r = recorded ? read_list(reading, recorded, read_level) : 0;
	r = r ? r : read_list(reading, invariants, read_invariant);
	return r || !suppressed ? r : read_list(reading, suppressed, read_suppression);
}

int wti_pack_read(const char *name, const char *text, size_t bytes, struct wti_pack **ret_pack,
		  struct wt_err *err)
{
	struct reading reading = {.name = name, .err = err};
	struct wti_doc *root;
	int r = wti_json_parse(name, text, bytes, &root, err);

	if (r)
		return r;
	r = wti_pack_new(&reading.pack, err);
	r = r ? r : read_pack(&reading, root);
	wti_doc_free(root);
	if (r) {
		wti_pack_free(reading.pack);
		return r;
	}
	wti_pack_settle(reading.pack);
	*ret_pack = reading.pack;
	return 0;
}
