/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants about calls: what they contain, what they are given and return, in which order they
 * come. */
#include <stdio.h>
#include <string.h>

#include <xxhash.h>

#include "base/grow.h"
#include "state.h"
#include "traincheck_names.h"

#define NAME_BYTES 1024
#define PENDING_MAX (1u << 22)

/* ---- Functions ------------------------------------------------------------------------------ */

static struct wti_tc_function *function_of(struct wti_tc_judge *judge, const struct wti_call *call)
{
	uint64_t *slot =
		wti_map_number(&judge->functions, (uint64_t)call->module << 32 | call->callee);
	char path[NAME_BYTES], name[NAME_BYTES];
	const uint64_t *place;

	if (!slot)
		return NULL;
	if (!*slot) {
		snprintf(path, sizeof(path), "%s%s%s",
			 wti_symbol_text(judge->symbols, call->module), call->module ? "." : "",
			 wti_symbol_text(judge->symbols, call->callee));
		wti_traincheck_canonical(name, sizeof(name), path);
		place = wti_map_find_text(&judge->names, name, strlen(name));
		*slot = place ? *place + 1 : 1; /* 1: nobody asks about it */
	}
	return *slot > 1 ? &judge->of_functions[*slot - 2] : NULL;
}

static struct wti_tc_record record_of(const struct wti_call *call)
{
	return (struct wti_tc_record){
		.stream = call->stream, .track = call->track, .scope = call->scope, .call = call};
}

static void report(struct wti_tc_judge *judge, uint32_t item, const struct wti_call *call,
		   bool holds)
{
	wti_tc_report(judge, item, call->stream, &call->scope, call, 0, holds);
}

static bool is_lost(const struct wti_tc_judge *judge, const struct wti_call *call)
{
	return wti_map_find_number(&judge->lost, call->stream);
}

/* ---- Conditions at the begin of calls ------------------------------------------------------- */

static void push(struct wti_tc_judge *judge, struct wti_call *call, uint32_t item,
		 enum wti_tc_truth truth)
{
	uint32_t place = judge->free_pending;

	if (!place) {
		if (wti_grow(&judge->pending, judge->pending_count + 1, &judge->pending_capacity,
			     PENDING_MAX))
			return; /* calls that never end: not judged */
		place = (uint32_t)++judge->pending_count;
	} else {
		judge->free_pending = judge->pending[place - 1].next;
	}
	judge->pending[place - 1] = (struct wti_tc_pending){item, truth, (uint32_t)call->tag};
	call->tag = place;
}

static enum wti_tc_truth pending_of(const struct wti_tc_judge *judge, const struct wti_call *call,
				    uint32_t item)
{
	for (uint32_t at = (uint32_t)call->tag; at; at = judge->pending[at - 1].next)
		if (judge->pending[at - 1].item == item)
			return judge->pending[at - 1].truth;
	return WTI_TC_MAYBE;
}

static void release_pending(struct wti_tc_judge *judge, struct wti_call *call)
{
	while (call->tag) {
		uint32_t place = (uint32_t)call->tag;

		call->tag = judge->pending[place - 1].next;
		judge->pending[place - 1].next = judge->free_pending;
		judge->free_pending = place;
	}
}

/* ---- Arguments ------------------------------------------------------------------------------ */

static struct wti_tc_value scalar_of(const struct wti_value_row *row)
{
	struct wti_tc_value value = {.type = WTI_TC_NULL};

	switch (row->type) {
	case WT_VALUE_TYPE_BOOL:
		value.type = WTI_TC_BOOL;
		value.integer = row->bits != 0;
		break;
	case WT_VALUE_TYPE_INT:
		value = wti_tc_int((int64_t)row->bits);
		break;
	case WT_VALUE_TYPE_FLOAT:
		value.type = WTI_TC_FLOAT;
		memcpy(&value.number, &row->bits, sizeof(value.number));
		break;
	case WT_VALUE_TYPE_TEXT:
		value.type = WTI_TC_TEXT;
		value.symbol = row->text;
		break;
	default:
		if (row->text) { /* an object, recorded by its type */
			value.type = WTI_TC_OTHER;
			value.symbol = row->text;
		}
	}
	return value;
}

/* All attributes that are asked for; others may be as they like. */
static enum wti_tc_truth tensor_is(struct wti_tc_judge *judge, const struct wti_value_row *row,
				   const struct wti_doc *wanted)
{
	enum wti_tc_truth truth = WTI_TC_YES;

	for (const struct wti_doc *child = wanted->first; child && truth; child = child->next) {
		struct wti_doc step = {.type = WTI_DOC_STRING,
				       .string = {child->key, strlen(child->key)}};
		struct wti_tc_value value = wti_tc_tensor(judge, row, &step);
		struct wti_tc_value other = wti_tc_value_of(judge->symbols, child);

		if (value.type == WTI_TC_UNKNOWN)
			truth = wti_tc_and(truth, WTI_TC_MAYBE);
		else if (!wti_tc_equal(&value, &other))
			truth = WTI_TC_NO;
	}
	return truth;
}

/* {"float": 0.0} or {"torch.Tensor": {...}} */
static enum wti_tc_truth argument_is(struct wti_tc_judge *judge, const struct wti_value_row *row,
				     const struct wti_doc *typed)
{
	const struct wti_doc *wanted = typed->type == WTI_DOC_TABLE ? typed->first : NULL;
	struct wti_tc_value value, other;

	if (!wanted || (wanted->type == WTI_DOC_TABLE) != (row->type == WTI_VALUE_TENSOR))
		return WTI_TC_NO;
	if (wanted->type == WTI_DOC_TABLE)
		return tensor_is(judge, row, wanted);
	value = scalar_of(row);
	other = wti_tc_value_of(judge->symbols, wanted);
	if (other.type == WTI_TC_OTHER)
		other.type = WTI_TC_TEXT; /* lists are recorded as the text that they are */
	return wti_tc_equal(&value, &other) ? WTI_TC_YES : WTI_TC_NO;
}

static const struct wti_value_row *argument_named(const struct wti_tc_judge *judge,
						  const struct wti_call *call, const char *name)
{
	for (uint32_t i = 0; i < call->value_count; i++) {
		const struct wti_value_row *row = &call->values[i];

		if (row->position >= 0 && row->name &&
		    !strcmp(wti_symbol_text(judge->symbols, row->name), name))
			return row;
	}
	return NULL;
}

/* An argument that is given by its place has no name in a trace: any with the value may be it. */
static enum wti_tc_truth any_unnamed_is(struct wti_tc_judge *judge, const struct wti_call *call,
					const struct wti_doc *wanted)
{
	enum wti_tc_truth truth = wti_tc_is_native(judge) ? WTI_TC_MAYBE : WTI_TC_NO;

	for (uint32_t i = 0; i < call->value_count; i++)
		if (call->values[i].position >= 0 && !call->values[i].name)
			truth = wti_tc_or(truth, argument_is(judge, &call->values[i], wanted));
	return truth;
}

static enum wti_tc_truth arguments_are(struct wti_tc_judge *judge, const struct wti_call *call,
				       const struct wti_doc *wanted)
{
	enum wti_tc_truth truth = WTI_TC_YES;

	for (; wanted && truth; wanted = wanted->next) {
		const struct wti_doc *value = wanted->type == WTI_DOC_TABLE ? wanted->first : NULL;
		const struct wti_value_row *row;

		if (value && value->type == WTI_DOC_TABLE && !wti_doc_get(value, "dtype"))
			continue; /* an object: what is said of it is not what it is */
		row = argument_named(judge, call, wanted->key);
		truth = wti_tc_and(truth, row ? argument_is(judge, row, wanted)
					      : any_unnamed_is(judge, call, wanted));
	}
	return truth;
}

/* ---- Containing ----------------------------------------------------------------------------- */

static void end_child(struct wti_tc_judge *judge, uint32_t number, const struct wti_call *call)
{
	const struct wti_tc_param *child = &judge->items[number].entry.params[1];
	struct wti_tc_flow *flow = wti_tc_flow(judge, number, 0, call->stream, call->track);
	const char *raised = wti_symbol_text(judge->symbols, call->exception);
	enum wti_tc_truth truth;

	if (!flow || (child->exception ? strcmp(child->exception, raised) != 0 : *raised))
		return;
	truth = arguments_are(judge, call, child->arguments);
	if (truth == WTI_TC_YES)
		flow->match = call->ordinal + 1;
	else if (truth == WTI_TC_MAYBE)
		flow->maybe = call->ordinal + 1;
}

/* Of our own recordings a call that is nowhere may be one that was not recorded. */
static void miss(struct wti_tc_judge *judge, uint32_t number, const struct wti_call *call)
{
	struct wti_tc_item *item = &judge->items[number];

	if (!wti_tc_is_native(judge)) {
		report(judge, number, call, false);
		return;
	}
	if (!item->missed_count++) {
		item->first = call->scope;
		item->first_stream = call->stream;
	}
}

static void end_parent(struct wti_tc_judge *judge, uint32_t number, const struct wti_call *call)
{
	bool of_variable = judge->items[number].entry.params[1].type == WTI_TC_VARIABLE;
	struct wti_tc_flow *flow =
		of_variable ? wti_tc_flow(judge, number, 0, call->stream, 0)
			    : wti_tc_flow(judge, number, 0, call->stream, call->track);

	if (!flow || is_lost(judge, call) || pending_of(judge, call, number) != WTI_TC_YES)
		return;
	if (of_variable) {
		if (!wti_tc_is_native(judge))
			report(judge, number, call,
			       flow->has_changed && flow->changed_ns >= call->begin_ns);
	} else if (flow->match > call->ordinal + 1) {
		report(judge, number, call, true);
	} else if (flow->maybe <= call->ordinal + 1) {
		miss(judge, number, call);
	}
}

/* ---- Inputs and outputs --------------------------------------------------------------------- */

static void end_output(struct wti_tc_judge *judge, uint32_t number, const struct wti_call *call)
{
	const struct wti_tc_param *wanted = &judge->items[number].entry.params[1];
	struct wti_tc_value other = wti_tc_value_of(judge->symbols, wanted->constant);
	struct wti_doc step = {.type = WTI_DOC_STRING,
			       .string = {wanted->attribute, strlen(wanted->attribute)}};
	const struct wti_value_row *row;
	bool holds = true;
	uint32_t n = 0;

	for (; (row = wti_call_tensor(call, true, n)); n++) {
		struct wti_tc_value value = wti_tc_tensor(judge, row, &step);

		if (value.type == WTI_TC_UNKNOWN)
			return;
		holds = holds && wti_tc_equal(&value, &other);
	}
	if (n || !wti_tc_is_native(judge))
		report(judge, number, call, n && holds);
}

static bool field_of(struct wti_tc_judge *judge, const struct wti_tc_param *param,
		     const struct wti_call *call, struct wti_tc_value *ret)
{
	const struct wti_value_row *row;

	if (param->index >= 0) {
		row = wti_call_tensor(call, !param->is_input, (uint32_t)param->index);
		*ret = row ? wti_tc_tensor(judge, row, param->path)
			   : (struct wti_tc_value){.type = WTI_TC_ABSENT};
	} else {
		row = argument_named(judge, call, param->name);
		*ret = row && row->type != WTI_VALUE_TENSOR
			       ? scalar_of(row)
			       : (struct wti_tc_value){.type = WTI_TC_ABSENT};
	}
	return ret->type != WTI_TC_ABSENT && ret->type != WTI_TC_UNKNOWN;
}

static void end_fields(struct wti_tc_judge *judge, uint32_t number, const struct wti_call *call)
{
	const struct wti_tc_entry *entry = &judge->items[number].entry;
	struct wti_tc_value first, last;
	double larger, smaller;

	if (!field_of(judge, &entry->params[0], call, &first) ||
	    !field_of(judge, &entry->params[2], call, &last))
		return; /* nothing to compare */
	if (entry->relation == WTI_TC_INPUT_OUTPUT)
		report(judge, number, call, wti_tc_equal(&first, &last));
	else if (wti_tc_number_of(&first, &larger) && wti_tc_number_of(&last, &smaller))
		report(judge, number, call, larger >= smaller);
}

static void end_call(struct wti_tc_judge *judge, uint32_t number, const struct wti_call *call)
{
	if (call->exception || pending_of(judge, call, number) != WTI_TC_YES)
		return;
	if (judge->items[number].entry.relation == WTI_TC_OUTPUT)
		end_output(judge, number, call);
	else
		end_fields(judge, number, call);
}

/* ---- Orders --------------------------------------------------------------------------------- */

/* Which of the two waits for the other: before each B an A, between two A a B. */
static bool is_waiting(const struct wti_tc_judge *judge, const struct wti_tc_role *role)
{
	bool is_cover = judge->items[role->item].entry.relation == WTI_TC_COVER;

	return (role->type == WTI_TC_ROLE_SECOND) == is_cover;
}

static void begin_waiting(struct wti_tc_judge *judge, const struct wti_tc_role *role,
			  const struct wti_call *call)
{
	bool is_cover = judge->items[role->item].entry.relation == WTI_TC_COVER;
	struct wti_tc_flow *flow =
		wti_tc_flow(judge, role->item, role->pair, call->stream, call->track);
	struct wti_tc_record record = record_of(call);

	if (!flow || is_lost(judge, call) ||
	    wti_tc_condition(judge, &judge->items[role->item], &record) != WTI_TC_YES)
		return;
	if ((is_cover || flow->count) && flow->is_ready)
		report(judge, role->item, call, true);
	else if (is_cover || flow->count)
		miss(judge, role->item, call);
	flow->count++;
	flow->scope = call->scope;
	flow->stream = call->stream;
	flow->is_ready = false;
	flow->is_open = true;
	flow->open_ordinal = call->ordinal;
}

static void end_order(struct wti_tc_judge *judge, const struct wti_tc_role *role,
		      const struct wti_call *call)
{
	struct wti_tc_flow *flow =
		wti_tc_flow(judge, role->item, role->pair, call->stream, call->track);

	if (!flow)
		return;
	if (is_waiting(judge, role)) {
		if (flow->is_open && flow->open_ordinal == call->ordinal) {
			flow->is_open = false;
			flow->ended_ns = call->end_ns;
		}
		return;
	}
	flow->has_other = true;
	if (!flow->is_open && (!flow->count || call->begin_ns > flow->ended_ns))
		flow->is_ready = true;
}

/* ---- Distinct arguments --------------------------------------------------------------------- */

/* By place only, as TrainCheck compares them; 0: there is nothing to compare. */
static uint64_t hash_of_arguments(const struct wti_call *call)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < call->value_count; i++) {
		const struct wti_value_row *row = &call->values[i];
		uint64_t parts[] = {hash, row->type, row->bits, row->text,
				    row->attributes ? row->attributes : row->digest.hash};

		if (row->position < 0)
			continue;
		if (row->type == WTI_VALUE_TENSOR && !row->attributes &&
		    row->digest.flags & WT_TENSOR_NO_HASH)
			return 0;
		hash = XXH3_64bits(parts, sizeof(parts)) | 1;
	}
	return hash;
}

static void begin_distinct(struct wti_tc_judge *judge, uint32_t number, const struct wti_call *call)
{
	uint64_t key[] = {number, (uint64_t)call->scope.step, hash_of_arguments(call)};
	struct wti_tc_record record = record_of(call);
	uint64_t *slot;

	if (!key[2] || wti_tc_condition(judge, &judge->items[number], &record) != WTI_TC_YES)
		return;
	slot = wti_map_text(&judge->seen, (const char *)key, sizeof(key));
	if (!slot)
		return; /* more than can be kept: not judged */
	report(judge, number, call, !*slot);
	*slot = 1;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

void wti_tc_begun(struct wti_tc_judge *judge, struct wti_call *call)
{
	struct wti_tc_function *function = function_of(judge, call);
	struct wti_tc_record record = record_of(call);

	call->tag = 0;
	if (!function)
		return;
	function->is_called = true;
	for (uint32_t at = function->roles; at; at = judge->roles[at - 1].next) {
		const struct wti_tc_role *role = &judge->roles[at - 1];

		if (role->type == WTI_TC_ROLE_PARENT || role->type == WTI_TC_ROLE_CALL)
			push(judge, call, role->item,
			     wti_tc_condition(judge, &judge->items[role->item], &record));
		else if (role->type == WTI_TC_ROLE_DISTINCT)
			begin_distinct(judge, role->item, call);
		else if (role->type != WTI_TC_ROLE_CHILD && is_waiting(judge, role))
			begin_waiting(judge, role, call);
	}
}

void wti_tc_ended(struct wti_tc_judge *judge, struct wti_call *call)
{
	struct wti_tc_function *function = function_of(judge, call);

	for (uint32_t at = function ? function->roles : 0; at; at = judge->roles[at - 1].next) {
		const struct wti_tc_role *role = &judge->roles[at - 1];

		switch (role->type) {
		case WTI_TC_ROLE_PARENT:
			end_parent(judge, role->item, call);
			break;
		case WTI_TC_ROLE_CHILD:
			end_child(judge, role->item, call);
			break;
		case WTI_TC_ROLE_CALL:
			end_call(judge, role->item, call);
			break;
		case WTI_TC_ROLE_FIRST:
		case WTI_TC_ROLE_SECOND:
			end_order(judge, role, call);
			break;
		default:
			break;
		}
	}
	release_pending(judge, call);
}

static bool is_called(const struct wti_tc_judge *judge, const char *function)
{
	const uint64_t *place = wti_map_find_text(&judge->names, function, strlen(function));

	return place && judge->of_functions[*place - 1].is_called;
}

/* What was missed is missing if all that is named was recorded somewhere. */
static void report_missed(struct wti_tc_judge *judge, uint32_t number)
{
	const struct wti_tc_item *item = &judge->items[number];

	for (uint32_t i = 0; i < item->entry.param_count; i++)
		if (item->entry.params[i].type == WTI_TC_API &&
		    !is_called(judge, item->entry.params[i].function))
			return;
	wti_tc_report(judge, number, item->first_stream, &item->first, NULL, 0, false);
}

/* A single A that no B follows anywhere on its thread. */
static void finish_lead(struct wti_tc_judge *judge, uint32_t number, uint32_t pair,
			const struct wti_tc_flow *flow)
{
	const struct wti_tc_entry *entry = &judge->items[number].entry;

	if (entry->relation != WTI_TC_LEAD || flow->count != 1 || flow->has_other)
		return;
	if (!wti_tc_is_native(judge) || is_called(judge, entry->params[pair + 1].function))
		wti_tc_report(judge, number, flow->stream, &flow->scope, NULL, 0, false);
}

void wti_tc_finish_calls(struct wti_tc_judge *judge)
{
	for (uint32_t i = 0; i < judge->item_count; i++)
		if (judge->items[i].missed_count)
			report_missed(judge, i);
	for (size_t i = 0; i < judge->flow_index.count; i++) {
		const struct wti_map_entry *entry = &judge->flow_index.entries[i];
		uint64_t key;

		memcpy(&key, entry->text, sizeof(key));
		if (entry->value)
			finish_lead(judge, (uint32_t)(key >> 32), (uint32_t)key,
				    &judge->flows[entry->value - 1]);
	}
}
