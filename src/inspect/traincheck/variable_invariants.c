/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants about variables: changes that a call contains, and values that are equal while both
 * last. */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/grow.h"
#include "inspect/training/members.h"
#include "state.h"

#define VARIABLES_MAX (1u << 20)
#define LASTING_MAX (1u << 21)
#define HASHES_MAX (1u << 25)
#define PAIRS_MAX                                                                                  \
	(1ull << 28)     /* compared for one invariant; beyond that it is not judged further */
#define SHARE_LEAST 0.01 /* of the time of both that two values last together: TrainCheck's own */
#define SAID_MAX (1u << 22)
#define HASH_ABSENT 0
#define HASH_UNKNOWN 1

/* ---- What is asked for ---------------------------------------------------------------------- */

static uint32_t series_of(struct wti_tc_judge *judge, const struct wti_tc_param *param)
{
	for (uint32_t i = 0; i < judge->series_count; i++)
		if (!strcmp(judge->series[i].type, param->variable_type) &&
		    !strcmp(judge->series[i].attribute, param->attribute))
			return i;
	if (wti_grow(&judge->series, judge->series_count + 1, &judge->series_capacity,
		     WTI_INVARIANTS_MAX * 2)) {
		judge->failed = true;
		return 0;
	}
	judge->series[judge->series_count] =
		(struct wti_tc_series){param->variable_type, param->attribute};
	return (uint32_t)judge->series_count++;
}

static bool is_same_path(const struct wti_doc *a, const struct wti_doc *b)
{
	for (; a && b; a = a->next, b = b->next)
		if (a->type != b->type || a->type != WTI_DOC_STRING ||
		    strcmp(a->string.data, b->string.data))
			return false;
	return !a && !b;
}

static uint32_t place_of(struct wti_tc_judge *judge, const struct wti_tc_clause *clause)
{
	for (uint32_t i = 0; i < judge->property_count; i++)
		if (!strcmp(judge->properties[i].name, clause->property) &&
		    is_same_path(judge->properties[i].path, clause->path))
			return i;
	if (wti_grow(&judge->properties, judge->property_count + 1, &judge->property_capacity,
		     4096)) {
		judge->failed = true;
		return 0;
	}
	judge->properties[judge->property_count] =
		(struct wti_tc_property){clause->property, clause->path};
	return (uint32_t)judge->property_count++;
}

/* An invariant about changes, and the attribute that changes. */
static void add_changing(struct wti_tc_judge *judge, uint32_t item, const char *attribute)
{
	judge->has_variables = true;
	if (wti_grow(&judge->changes, judge->change_count + 1, &judge->change_capacity,
		     WTI_INVARIANTS_MAX)) {
		judge->failed = true;
		return;
	}
	judge->changes[judge->change_count++] = item;
	for (size_t i = 0; i < judge->changing_count; i++)
		if (!strcmp(judge->changing[i], attribute))
			return;
	if (wti_grow(&judge->changing, judge->changing_count + 1, &judge->changing_capacity,
		     WTI_INVARIANTS_MAX))
		judge->failed = true;
	else
		judge->changing[judge->changing_count++] = attribute;
}

static void prepare(struct wti_tc_judge *judge, uint32_t number)
{
	struct wti_tc_item *item = &judge->items[number];
	const struct wti_tc_condition *condition = &item->entry.condition;

	if (item->entry.relation == WTI_TC_CONTAIN && item->entry.params[1].type == WTI_TC_VARIABLE)
		add_changing(judge, number, item->entry.params[1].attribute);
	if (item->entry.relation != WTI_TC_CONSISTENCY)
		return;
	judge->has_variables = true;
	for (size_t i = 0; i < 2; i++)
		item->series[i] = series_of(judge, &item->entry.params[i]);
	for (uint32_t i = 0; i < condition->count; i++)
		for (uint32_t j = 0; j < condition->any[i].count; j++)
			condition->any[i].clauses[j].place =
				place_of(judge, &condition->any[i].clauses[j]);
}

bool wti_tc_prepare_variables(struct wti_tc_judge *judge)
{
	for (uint32_t i = 0; i < judge->item_count; i++)
		prepare(judge, i);
	return !judge->failed;
}

/* ---- Records -------------------------------------------------------------------------------- */

static struct wti_tc_variable *variable_of(struct wti_tc_judge *judge, size_t stream, uint32_t name)
{
	uint64_t *slot = wti_map_number(&judge->variable_index, (uint64_t)stream << 32 | name);
	struct wti_tc_variable *variable;

	if (!slot)
		return NULL;
	if (*slot)
		return &judge->variables[*slot - 1];
	if (wti_grow(&judge->variables, judge->variable_count + 1, &judge->variable_capacity,
		     VARIABLES_MAX))
		return NULL;
	variable = &judge->variables[judge->variable_count];
	*variable = (struct wti_tc_variable){
		.stream = stream,
		.name = name,
		.type = wti_symbol_word(judge->symbols, "torch.nn.Parameter"),
	};
	*slot = ++judge->variable_count;
	return variable;
}

static bool is_value(const struct wti_doc *wanted, const struct wti_tc_value *value,
		     struct wti_tc_judge *judge)
{
	struct wti_tc_value other;
	bool is_word, is_like;

	if (!wanted)
		return true;
	if (wanted->type == WTI_DOC_STRING) {
		is_like = wti_tc_is_like(value, wanted->string.data, &is_word);
		if (is_word)
			return is_like;
	}
	other = wti_tc_value_of(judge->symbols, wanted);
	return wti_tc_equal(&other, value);
}

/* A change is what calls that are open contain. */
static void note_change(struct wti_tc_judge *judge, const struct wti_tc_variable *variable,
			const char *attribute, const struct wti_tc_value *before,
			const struct wti_tc_value *after)
{
	if (before->type == WTI_TC_ABSENT || wti_tc_equal(before, after))
		return;
	for (size_t i = 0; i < judge->change_count; i++) {
		const struct wti_tc_param *wanted =
			&judge->items[judge->changes[i]].entry.params[1];
		struct wti_tc_flow *flow;

		if (strcmp(wanted->attribute, attribute) ||
		    strcmp(wanted->variable_type,
			   wti_symbol_text(judge->symbols, variable->type)) ||
		    (wanted->variable_name &&
		     strcmp(wanted->variable_name,
			    wti_symbol_text(judge->symbols, variable->name))) ||
		    !is_value(wanted->before, before, judge) ||
		    !is_value(wanted->after, after, judge))
			continue;
		flow = wti_tc_flow(judge, judge->changes[i], 0, variable->stream, 0);
		if (flow) {
			flow->changed_ns = judge->now_ns;
			flow->has_changed = true;
		}
	}
}

/* Where its last value is kept; NULL: no room. */
static struct wti_tc_value *last_of(struct wti_tc_judge *judge, size_t variable, size_t attribute)
{
	uint64_t *slot = wti_map_number(&judge->said_index, (uint64_t)variable << 32 | attribute);

	if (!slot || (!*slot && wti_grow(&judge->said, judge->said_count + 1, &judge->said_capacity,
					 SAID_MAX)))
		return NULL;
	if (!*slot) {
		judge->said[judge->said_count] = (struct wti_tc_value){.type = WTI_TC_ABSENT};
		*slot = ++judge->said_count;
	}
	return &judge->said[*slot - 1];
}

/*
 * What is said of a variable besides its contents changes, too. A record that does not have an
 * attribute changes nothing about it.
 */
static void note_attributes(struct wti_tc_judge *judge, const struct wti_tc_variable *variable)
{
	for (size_t i = 0; i < judge->changing_count; i++) {
		const char *name = judge->changing[i];
		struct wti_tc_value now = wti_tc_attribute(judge, variable, name, NULL);
		struct wti_tc_value *last =
			last_of(judge, (size_t)(variable - judge->variables), i);

		if (!last || now.type == WTI_TC_ABSENT || now.type == WTI_TC_UNKNOWN ||
		    !strcmp(name, "data") || !strcmp(name, "grad"))
			continue;
		note_change(judge, variable, name, last, &now);
		*last = now;
	}
}

void wti_tc_take_attributes(struct wti_tc_judge *judge, const struct wt_event *event)
{
	uint32_t name = wti_symbol_of(judge->symbols, event, WT_ATTRIBUTES_FIELD_OWNER);
	struct wti_tc_variable *variable =
		judge->has_variables && name ? variable_of(judge, event->stream, name) : NULL;
	const struct wti_doc *type;

	if (!variable)
		return;
	variable->attributes = wti_symbol_of(judge->symbols, event, WT_ATTRIBUTES_FIELD_TEXT);
	type = wti_doc_get(wti_tc_document(judge, variable->attributes), "var_type");
	if (type && type->type == WTI_DOC_STRING)
		variable->type = wti_symbol_word(judge->symbols, type->string.data);
	note_attributes(judge, variable);
}

/* Room for one more, with its hashes. */
static struct wti_tc_lasting *add_lasting(struct wti_tc_judge *judge)
{
	if (wti_grow(&judge->lasting, judge->lasting_count + 1, &judge->lasting_capacity,
		     LASTING_MAX) ||
	    wti_grow(&judge->hashes, judge->hash_count + judge->property_count + 1,
		     &judge->hash_capacity, HASHES_MAX))
		return NULL;
	judge->lasting[judge->lasting_count] =
		(struct wti_tc_lasting){.properties = (uint32_t)judge->hash_count};
	judge->hash_count += judge->property_count;
	return &judge->lasting[judge->lasting_count++];
}

static void note_properties(struct wti_tc_judge *judge, const struct wti_tc_record *record,
			    uint32_t place)
{
	for (size_t i = 0; i < judge->property_count; i++) {
		struct wti_tc_value value = wti_tc_property(
			judge, record, judge->properties[i].name, judge->properties[i].path);
		uint64_t hash = wti_tc_hash(&value) | 2;

		judge->hashes[place + i] = value.type == WTI_TC_ABSENT    ? HASH_ABSENT
					   : value.type == WTI_TC_UNKNOWN ? HASH_UNKNOWN
									  : hash;
	}
}

static void note_value(struct wti_tc_judge *judge, uint32_t series, uint32_t variable,
		       const struct wti_tc_record *record)
{
	struct wti_tc_value value =
		wti_tc_attribute(judge, record->variable, judge->series[series].attribute, NULL);
	uint64_t hash = wti_tc_hash(&value);
	uint64_t *slot = wti_map_number(&judge->last, (uint64_t)variable << 32 | series);
	struct wti_tc_lasting *lasting;

	if (!slot || value.type == WTI_TC_ABSENT || value.type == WTI_TC_UNKNOWN)
		return;
	lasting = *slot ? &judge->lasting[*slot - 1] : NULL;
	if (lasting)
		lasting->to_ns = judge->now_ns;
	if (!lasting || lasting->value != hash) {
		lasting = add_lasting(judge);
		if (!lasting) {
			judge->is_cut = true;
			return;
		}
		lasting->from_ns = judge->now_ns;
		lasting->value = hash;
		lasting->variable = variable;
		lasting->series = series;
		lasting->next = (uint32_t)*slot;
		*slot = judge->lasting_count;
	}
	lasting->to_ns = INT64_MAX;
	lasting->scope = record->scope;
	note_properties(judge, record, lasting->properties);
}

static void complete(struct wti_tc_judge *judge, const struct wt_event *event,
		     const struct wti_tc_variable *variable)
{
	struct wti_tc_record record = {
		.stream = event->stream,
		.track = event->track,
		.scope = wti_steps_scope(&judge->calls.steps, event->stream, event->track),
		.variable = variable,
	};
	const char *type = wti_symbol_text(judge->symbols, variable->type);

	for (uint32_t i = 0; i < judge->series_count; i++)
		if (!strcmp(judge->series[i].type, type))
			note_value(judge, i, (uint32_t)(variable - judge->variables), &record);
}

static struct wti_tc_value value_of(const struct wt_event *event)
{
	if (wt_event_u64(event, WT_STATE_FIELD_TYPE) == WT_VALUE_TYPE_NONE)
		return (struct wti_tc_value){.type = WTI_TC_NULL};
	if (wt_event_u64(event, WT_STATE_FIELD_FLAGS) & WT_STATE_ZEROS)
		return wti_tc_int(0);
	return wti_tc_int((int64_t)wt_event_u64(event, WT_STATE_FIELD_NEW));
}

/* "fc.weight" of "fc.weight.grad"; 0: it is no gradient of a variable. */
static uint32_t owner_of_gradient(struct wti_tc_judge *judge, uint32_t name)
{
	const char *text = wti_symbol_text(judge->symbols, name);
	size_t bytes = strlen(text);

	return bytes > 5 && !strcmp(text + bytes - 5, ".grad")
		       ? wti_symbol(judge->symbols, text, bytes - 5)
		       : 0;
}

/* The gradient comes first and the data last: then the record is complete. */
void wti_tc_take_state(struct wti_tc_judge *judge, const struct wt_event *event)
{
	uint32_t owner = wti_symbol_of(judge->symbols, event, WT_STATE_FIELD_OWNER);
	uint32_t name = wti_symbol_of(judge->symbols, event, WT_STATE_FIELD_ATTRIBUTE);
	uint32_t of_gradient = owner_of_gradient(judge, name);
	const struct wti_parameter *parameter = wti_parameter_find(
		judge->training, event->stream, owner, of_gradient ? of_gradient : name);
	struct wti_tc_variable *variable;
	struct wti_tc_value *place, before;

	if (!judge->has_variables || !parameter || parameter->is_buffer)
		return;
	variable = variable_of(judge, event->stream, parameter->name);
	if (!variable)
		return;
	variable->parameter = parameter;
	place = of_gradient ? &variable->grad : &variable->data;
	before = *place;
	*place = value_of(event);
	note_change(judge, variable, of_gradient ? "grad" : "data", &before, place);
	if (!of_gradient)
		complete(judge, event, variable);
}

/* ---- Equal while both last ------------------------------------------------------------------ */

/* A value of a bucket: all that a conjunction wants to be the same is the same. */
struct candidate {
	uint64_t key;
	uint32_t lasting;
};

static enum wti_tc_truth clause_holds(const struct wti_tc_judge *judge,
				      const struct wti_tc_clause *clause,
				      const struct wti_tc_lasting *a,
				      const struct wti_tc_lasting *b)
{
	uint64_t x = judge->hashes[a->properties + clause->place];
	uint64_t y = judge->hashes[b->properties + clause->place];

	if (x == HASH_ABSENT || y == HASH_ABSENT)
		return WTI_TC_NO;
	if (x == HASH_UNKNOWN || y == HASH_UNKNOWN)
		return WTI_TC_MAYBE;
	switch (clause->type) {
	case WTI_TC_CLAUSE_UNEQUAL:
		return x != y ? WTI_TC_YES : WTI_TC_NO;
	case WTI_TC_CLAUSE_CONSISTENT:
		return x == y ? WTI_TC_YES : WTI_TC_NO;
	case WTI_TC_CLAUSE_CONSTANT:
		for (uint32_t i = 0; x == y && i < clause->value_count; i++)
			if ((wti_tc_hash(&clause->values[i]) | 2) == x)
				return WTI_TC_YES;
		return WTI_TC_NO;
	default:
		return WTI_TC_YES;
	}
}

static enum wti_tc_truth conjunction_holds(const struct wti_tc_judge *judge,
					   const struct wti_tc_conjunction *all,
					   const struct wti_tc_lasting *a,
					   const struct wti_tc_lasting *b)
{
	enum wti_tc_truth truth = WTI_TC_YES;

	for (uint32_t i = 0; i < all->count && truth != WTI_TC_NO; i++)
		truth = wti_tc_and(truth, clause_holds(judge, &all->clauses[i], a, b));
	return truth;
}

/* They last together for more than a hundredth of the time that one of them does. */
static bool overlap(const struct wti_tc_judge *judge, const struct wti_tc_lasting *a,
		    const struct wti_tc_lasting *b)
{
	int64_t a_to = a->to_ns < judge->now_ns ? a->to_ns : judge->now_ns;
	int64_t b_to = b->to_ns < judge->now_ns ? b->to_ns : judge->now_ns;
	int64_t from = a->from_ns > b->from_ns ? a->from_ns : b->from_ns;
	int64_t first = a->from_ns < b->from_ns ? a->from_ns : b->from_ns;
	int64_t to = a_to < b_to ? a_to : b_to, last = a_to > b_to ? a_to : b_to;

	return to > from &&
	       (double)to - (double)from > SHARE_LEAST * ((double)last - (double)first);
}

static bool is_pair(const struct wti_tc_item *item, const struct wti_tc_lasting *a,
		    const struct wti_tc_lasting *b)
{
	return a->variable != b->variable &&
	       ((a->series == item->series[0] && b->series == item->series[1]) ||
		(a->series == item->series[1] && b->series == item->series[0]));
}

static void report_pair(struct wti_tc_judge *judge, uint32_t number, const struct wti_tc_lasting *a,
			const struct wti_tc_lasting *b)
{
	const struct wti_tc_lasting *later = a->from_ns > b->from_ns ? a : b;
	const struct wti_tc_variable *variable = &judge->variables[later->variable];

	wti_tc_report(judge, number, variable->stream, &later->scope, NULL, variable->name,
		      a->value == b->value);
}

/* The same for all that may be a pair: what has to be the same. */
static uint64_t key_of(const struct wti_tc_judge *judge, const struct wti_tc_conjunction *all,
		       const struct wti_tc_lasting *lasting)
{
	uint64_t key = 0;

	for (uint32_t i = 0; all && i < all->count; i++) {
		uint64_t parts[] = {key,
				    judge->hashes[lasting->properties + all->clauses[i].place]};

		if (all->clauses[i].type == WTI_TC_CLAUSE_CONSISTENT ||
		    all->clauses[i].type == WTI_TC_CLAUSE_CONSTANT)
			key = XXH3_64bits(parts, sizeof(parts));
	}
	return key;
}

static int by_key(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	return (left->lasting > right->lasting) - (left->lasting < right->lasting);
}

static enum wti_tc_truth any_holds(const struct wti_tc_judge *judge,
				   const struct wti_tc_condition *condition,
				   const struct wti_tc_lasting *a, const struct wti_tc_lasting *b)
{
	enum wti_tc_truth any = WTI_TC_NO;

	for (uint32_t i = 0; i < condition->count; i++)
		any = wti_tc_or(any, conjunction_holds(judge, &condition->any[i], a, b));
	return condition->is_inverted ? wti_tc_not(any) : any;
}

struct pair {
	uint32_t a, b; /* places in lasting */
	int64_t since_ns;
	bool is_known;
};

/* Buckets have no order in time: the first and the last violation are found before any is reported.
 */
struct comparing {
	const struct wti_tc_conjunction *all; /* NULL: the whole condition */
	uint32_t item;
	bool is_reporting;
	struct pair first, last;
	uint64_t count;
};

static bool is_of(const struct pair *pair, uint32_t a, uint32_t b)
{
	return pair->is_known && pair->a == a && pair->b == b;
}

static void take_pair(struct wti_tc_judge *judge, struct comparing *comparing, uint32_t a,
		      uint32_t b)
{
	const struct wti_tc_lasting *x = &judge->lasting[a], *y = &judge->lasting[b];
	struct pair pair = {a, b, x->from_ns > y->from_ns ? x->from_ns : y->from_ns, true};

	if (comparing->is_reporting) {
		if (!is_of(&comparing->first, a, b) && !is_of(&comparing->last, a, b))
			report_pair(judge, comparing->item, x, y);
		return;
	}
	if (x->value == y->value)
		return;
	if (!comparing->first.is_known || pair.since_ns < comparing->first.since_ns)
		comparing->first = pair;
	if (!comparing->last.is_known || pair.since_ns >= comparing->last.since_ns)
		comparing->last = pair;
}

/* Pairs of a bucket; false: there are more than can be compared. */
static bool compare(struct wti_tc_judge *judge, struct comparing *comparing,
		    const struct candidate *candidates, size_t count)
{
	const struct wti_tc_conjunction *all = comparing->all;
	const struct wti_tc_item *item = &judge->items[comparing->item];

	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++) {
			const struct wti_tc_lasting *a = &judge->lasting[candidates[i].lasting];
			const struct wti_tc_lasting *b = &judge->lasting[candidates[j].lasting];

			if (++comparing->count > PAIRS_MAX) {
				judge->is_cut = true;
				return false;
			}
			if (!is_pair(item, a, b) || !overlap(judge, a, b))
				continue;
			if ((all ? conjunction_holds(judge, all, a, b)
				 : any_holds(judge, &item->entry.condition, a, b)) == WTI_TC_YES)
				take_pair(judge, comparing, candidates[i].lasting,
					  candidates[j].lasting);
		}
	return true;
}

static void compare_all(struct wti_tc_judge *judge, struct comparing *comparing,
			const struct candidate *candidates, size_t count)
{
	comparing->count = 0;
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from; to < count && candidates[to].key == candidates[from].key;)
			to++;
		if (!compare(judge, comparing, candidates + from, to - from))
			return;
	}
}

static void report_found(struct wti_tc_judge *judge, const struct comparing *comparing,
			 const struct pair *pair)
{
	if (pair->is_known)
		report_pair(judge, comparing->item, &judge->lasting[pair->a],
			    &judge->lasting[pair->b]);
}

/* With one conjunction, or with the whole condition where that is inverted. */
static void judge_pairs(struct wti_tc_judge *judge, uint32_t number,
			const struct wti_tc_conjunction *all)
{
	const struct wti_tc_item *item = &judge->items[number];
	struct candidate *candidates = calloc(judge->lasting_count + 1, sizeof(*candidates));
	struct comparing comparing = {.all = all, .item = number};
	size_t count = 0;

	if (!candidates) {
		judge->failed = true;
		return;
	}
	for (uint32_t i = 0; i < judge->lasting_count; i++)
		if (judge->lasting[i].series == item->series[0] ||
		    judge->lasting[i].series == item->series[1])
			candidates[count++] =
				(struct candidate){key_of(judge, all, &judge->lasting[i]), i};
	qsort(candidates, count, sizeof(*candidates), by_key);
	compare_all(judge, &comparing, candidates, count);
	comparing.is_reporting = true;
	report_found(judge, &comparing, &comparing.first);
	compare_all(judge, &comparing, candidates, count);
	if (!is_of(&comparing.first, comparing.last.a, comparing.last.b))
		report_found(judge, &comparing, &comparing.last);
	free(candidates);
}

void wti_tc_finish_variables(struct wti_tc_judge *judge)
{
	for (uint32_t i = 0; i < judge->item_count; i++) {
		const struct wti_tc_condition *condition = &judge->items[i].entry.condition;

		if (judge->items[i].entry.relation != WTI_TC_CONSISTENCY)
			continue;
		if (condition->is_inverted)
			judge_pairs(judge, i, NULL);
		for (uint32_t j = 0; j < condition->count && !condition->is_inverted; j++)
			judge_pairs(judge, i, &condition->any[j]);
	}
}
