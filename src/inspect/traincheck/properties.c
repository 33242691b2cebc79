/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a record: meta variables, ids, attributes; and conditions on them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json_read.h"
#include "inspect/learn/scene.h"
#include "state.h"
#include "traincheck_names.h"

#define CONTEXTS_MAX (1u << 20)
#define KEY_BYTES 1024
#define WHOLE_PROCESS UINT32_MAX

struct context_key {
	uint64_t stream;
	uint32_t track, key;
};

static const struct wti_tc_value absent = {.type = WTI_TC_ABSENT};
static const struct wti_tc_value unknown = {.type = WTI_TC_UNKNOWN};

/* What no record says: of an imported trace it is not there. */
static struct wti_tc_value missing(const struct wti_tc_judge *judge)
{
	return wti_tc_is_native(judge) ? unknown : absent;
}

/* ---- Meta variables ------------------------------------------------------------------------- */

static struct wti_tc_value value_of_event(struct wti_tc_judge *judge, const struct wt_event *event,
					  int type, int value, int text)
{
	struct wti_tc_value result = {.type = WTI_TC_NULL};

	switch (wt_event_u64(event, type)) {
	case WT_VALUE_TYPE_BOOL:
		result.type = WTI_TC_BOOL;
		result.integer = wt_event_i64(event, value);
		break;
	case WT_VALUE_TYPE_INT:
	case WT_VALUE_TYPE_HASH:
		result = wti_tc_int((int64_t)wt_event_u64(event, value));
		break;
	case WT_VALUE_TYPE_FLOAT:
		result.type = WTI_TC_FLOAT;
		result.number = wt_event_f64(event, value);
		break;
	case WT_VALUE_TYPE_TEXT:
		result.type = WTI_TC_TEXT;
		result.symbol = wti_symbol_of(judge->symbols, event, text);
		break;
	default:
		break;
	}
	return result;
}

void wti_tc_take_context(struct wti_tc_judge *judge, const struct wt_event *event)
{
	const uint32_t tracks[] = {event->track, WHOLE_PROCESS};
	struct wti_tc_value value = value_of_event(judge, event, WT_CONTEXT_FIELD_TYPE,
						   WT_CONTEXT_FIELD_VALUE, WT_CONTEXT_FIELD_TEXT);

	for (size_t i = 0; i < 2; i++) {
		struct context_key key = {
			event->stream, tracks[i],
			wti_symbol_of(judge->symbols, event, WT_CONTEXT_FIELD_KEY)};
		uint64_t *slot = wti_map_text(&judge->contexts, (const char *)&key, sizeof(key));

		if (!slot || (!*slot && wti_grow(&judge->context_values, judge->context_count + 1,
						 &judge->context_capacity, CONTEXTS_MAX))) {
			judge->failed = true;
			return;
		}
		if (!*slot)
			*slot = ++judge->context_count;
		judge->context_values[*slot - 1] = value;
	}
}

static struct wti_tc_value context_of(struct wti_tc_judge *judge,
				      const struct wti_tc_record *record, const char *name)
{
	const uint32_t tracks[] = {record->track, WHOLE_PROCESS};
	uint32_t symbol = wti_symbol_word(judge->symbols, name);

	for (size_t i = 0; i < 2; i++) {
		struct context_key key = {record->stream, tracks[i], symbol};
		const uint64_t *slot =
			wti_map_find_text(&judge->contexts, (const char *)&key, sizeof(key));

		if (slot && *slot)
			return judge->context_values[*slot - 1];
	}
	return absent;
}

/* ---- Documents ------------------------------------------------------------------------------ */

static const struct wti_doc *step_into(const struct wti_doc *doc, const struct wti_doc *step)
{
	if (!doc)
		return NULL;
	if (step->type == WTI_DOC_STRING)
		return doc->type == WTI_DOC_TABLE ? wti_doc_get(doc, step->string.data) : NULL;
	if (step->type != WTI_DOC_INT || step->integer < 0 || doc->type != WTI_DOC_ARRAY)
		return NULL;
	doc = doc->first;
	for (int64_t i = 0; doc && i < step->integer; i++)
		doc = doc->next;
	return doc;
}

static struct wti_tc_value value_at(struct wti_tc_judge *judge, const struct wti_doc *doc,
				    const struct wti_doc *path)
{
	for (; doc && path; path = path->next)
		doc = step_into(doc, path);
	return wti_tc_value_of(judge->symbols, doc);
}

/*
 * An active context manager is a meta variable whose value is a table of what it was made with.
 * Conditions name what is in it as a path of its own, or at the end of the name, or both.
 */
static struct wti_tc_value manager_of(struct wti_tc_judge *judge,
				      const struct wti_tc_record *record, const char *name,
				      const struct wti_doc *path)
{
	struct wti_tc_value value;
	char key[KEY_BYTES];
	const char *inner = NULL;
	const struct wti_doc *doc;

	snprintf(key, sizeof(key), "%s", name);
	value = context_of(judge, record, key);
	if (value.type == WTI_TC_ABSENT && strrchr(key, '.')) {
		char *dot = strrchr(key, '.');

		*dot = 0;
		inner = dot + 1;
		value = context_of(judge, record, key);
	}
	if (value.type == WTI_TC_NULL || value.type == WTI_TC_ABSENT)
		return missing(judge); /* none, or it has ended */
	doc = value.type == WTI_TC_TEXT ? wti_tc_document(judge, value.symbol) : NULL;
	if (inner)
		return wti_tc_value_of(judge->symbols, wti_doc_get(doc, inner));
	return path ? value_at(judge, doc, path) : value;
}

static struct wti_tc_value meta_of(struct wti_tc_judge *judge, const struct wti_tc_record *record,
				   const char *name, const struct wti_doc *path)
{
	struct wti_tc_value value;

	if (!strncmp(name, "context_managers.", 17))
		return manager_of(judge, record, name, path);
	value = context_of(judge, record, name);
	if (value.type != WTI_TC_ABSENT)
		return value;
	if (wti_tc_is_native(judge) && strstr(name, "DATA_PARALLEL_RANK") &&
	    record->scope.rank >= 0)
		return wti_tc_int(record->scope.rank);
	return missing(judge);
}

/* ---- Tensors and variables ------------------------------------------------------------------ */

static int64_t item_bytes(uint32_t dtype)
{
	static const int64_t bytes[] = {
		[WT_DTYPE_F16] = 2, [WT_DTYPE_BF16] = 2, [WT_DTYPE_F32] = 4,  [WT_DTYPE_F64] = 8,
		[WT_DTYPE_I8] = 1,  [WT_DTYPE_U8] = 1,   [WT_DTYPE_BOOL] = 1, [WT_DTYPE_I16] = 2,
		[WT_DTYPE_I32] = 4, [WT_DTYPE_I64] = 8,
	};

	return dtype < sizeof(bytes) / sizeof(bytes[0]) ? bytes[dtype] : 0;
}

static int64_t extent_at(const char *shape, int64_t place)
{
	for (; place > 0 && shape; place--)
		shape = (shape = strchr(shape, 'x')) ? shape + 1 : NULL;
	return shape && *shape ? strtoll(shape, NULL, 10) : -1;
}

static int64_t elements_of(const char *shape)
{
	int64_t count = 1;

	for (const char *at = shape; at && *at; at = (at = strchr(at, 'x')) ? at + 1 : NULL)
		if (__builtin_mul_overflow(count, strtoll(at, NULL, 10), &count))
			return -1;
	return count;
}

static struct wti_tc_value shape_of(struct wti_tc_judge *judge, const char *shape,
				    const struct wti_doc *path)
{
	char list[KEY_BYTES];
	size_t at = 1;

	if (path)
		return path->type == WTI_DOC_INT && path->integer >= 0 &&
				       extent_at(shape, path->integer) >= 0
			       ? wti_tc_int(extent_at(shape, path->integer))
			       : absent;
	list[0] = '[';
	for (; *shape && at + 2 < sizeof(list); shape++)
		list[at++] = *shape == 'x' ? ',' : *shape;
	list[at++] = ']';
	return (struct wti_tc_value){.type = WTI_TC_OTHER,
				     .symbol = wti_symbol(judge->symbols, list, at)};
}

/* What follows from type and shape. */
static struct wti_tc_value derived(struct wti_tc_judge *judge, const char *name, uint32_t dtype,
				   uint32_t shape_symbol, bool requires_grad,
				   const struct wti_doc *path)
{
	const char *shape = wti_symbol_text(judge->symbols, shape_symbol);
	const struct wt_field *field =
		&wt_kind_builtin(WT_KIND_TENSOR)->fields[WT_TENSOR_FIELD_DTYPE];
	int64_t bytes = item_bytes(dtype), count = elements_of(shape);
	char text[64];

	if (!strcmp(name, "shape"))
		return shape_of(judge, shape, path);
	if (!strcmp(name, "ndim"))
		return wti_tc_int(wti_shape_ndim(shape));
	if (!strcmp(name, "requires_grad"))
		return (struct wti_tc_value){.type = WTI_TC_BOOL, .integer = requires_grad};
	if (!strcmp(name, "itemsize") && bytes)
		return wti_tc_int(bytes);
	if (!strcmp(name, "nbytes") && bytes && count >= 0 &&
	    !__builtin_mul_overflow(bytes, count, &bytes))
		return wti_tc_int(bytes);
	if (strcmp(name, "dtype") || dtype >= field->enum_count)
		return missing(judge);
	snprintf(text, sizeof(text), "torch.%s",
		 wti_traincheck_torch_dtype(field->enum_names[dtype]));
	return wti_tc_text(judge->symbols, text);
}

struct wti_tc_value wti_tc_tensor(struct wti_tc_judge *judge, const struct wti_value_row *row,
				  const struct wti_doc *path)
{
	const struct wti_doc *doc = wti_tc_document(judge, row->attributes);

	if (!path || path->type != WTI_DOC_STRING)
		return absent;
	if (doc)
		return value_at(judge, doc, path);
	return derived(judge, path->string.data, row->digest.dtype, row->digest.shape,
		       row->digest.flags & WT_TENSOR_REQUIRES_GRAD, path->next);
}

struct wti_tc_value wti_tc_attribute(struct wti_tc_judge *judge,
				     const struct wti_tc_variable *variable, const char *name,
				     const struct wti_doc *path)
{
	const struct wti_doc *doc = wti_tc_document(judge, variable->attributes);

	if (!strcmp(name, "data"))
		return variable->data;
	if (!strcmp(name, "grad"))
		return variable->grad;
	if (doc)
		return value_at(judge, wti_doc_get(doc, name), path);
	if (!variable->parameter)
		return missing(judge);
	return derived(judge, name, variable->parameter->dtype, variable->parameter->shape,
		       variable->parameter->requires_grad, path);
}

/* ---- Properties ----------------------------------------------------------------------------- */

/* Thread ids are longer than ours: as many bits as there are. */
static struct wti_tc_value thread_of(const struct wti_tc_judge *judge,
				     const struct wti_tc_record *record)
{
	const struct wt_reader *reader = wti_process_at(judge->training, record->stream)->reader;
	const struct wt_track *track = reader ? wt_reader_track(reader, record->track) : NULL;

	return track ? wti_tc_int(track->tid) : unknown;
}

static struct wti_tc_value process_of(const struct wti_tc_judge *judge,
				      const struct wti_tc_record *record)
{
	const struct wt_reader *reader = wti_process_at(judge->training, record->stream)->reader;

	return reader ? wti_tc_int(wt_reader_identity(reader)->pid) : unknown;
}

static struct wti_tc_value function_of(struct wti_tc_judge *judge, const struct wti_call *call)
{
	char name[KEY_BYTES];

	snprintf(name, sizeof(name), "%s.%s", wti_symbol_text(judge->symbols, call->module),
		 wti_symbol_text(judge->symbols, call->callee));
	return wti_tc_text(judge->symbols, name);
}

struct wti_tc_value wti_tc_property(struct wti_tc_judge *judge, const struct wti_tc_record *record,
				    const char *name, const struct wti_doc *path)
{
	const struct wti_tc_variable *variable = record->variable;

	if (!strncmp(name, "meta_vars.", 10))
		return meta_of(judge, record, name + 10, path);
	if (!strcmp(name, "process_id"))
		return process_of(judge, record);
	if (!strcmp(name, "thread_id"))
		return thread_of(judge, record);
	if (!strcmp(name, "function") && record->call)
		return function_of(judge, record->call);
	if (!variable)
		return absent;
	if (!strcmp(name, "var_name"))
		return (struct wti_tc_value){.type = WTI_TC_TEXT, .symbol = variable->name};
	if (!strcmp(name, "var_type"))
		return (struct wti_tc_value){.type = WTI_TC_TEXT, .symbol = variable->type};
	if (!strncmp(name, "attributes.", 11))
		return wti_tc_attribute(judge, variable, name + 11, path);
	return absent;
}

/* ---- Conditions ----------------------------------------------------------------------------- */

static bool is_thread(const struct wti_tc_clause *clause)
{
	return !strcmp(clause->property, "thread_id");
}

static bool is_among(const struct wti_tc_clause *clause, const struct wti_tc_value *value)
{
	for (uint32_t i = 0; i < clause->value_count; i++) {
		struct wti_tc_value wanted = clause->values[i];

		if (is_thread(clause) && wanted.type == WTI_TC_INT)
			wanted.integer = (uint32_t)wanted.integer;
		if (wti_tc_equal(&wanted, value))
			return true;
	}
	return false;
}

/* Of one record: it is like itself, and unlike no other. */
static enum wti_tc_truth clause_holds(struct wti_tc_judge *judge,
				      const struct wti_tc_clause *clause,
				      const struct wti_tc_record *record)
{
	struct wti_tc_value value = wti_tc_property(judge, record, clause->property, clause->path);

	if (value.type == WTI_TC_UNKNOWN)
		return WTI_TC_MAYBE;
	if (value.type == WTI_TC_ABSENT)
		return WTI_TC_NO;
	if (clause->type == WTI_TC_CLAUSE_CONSTANT)
		return is_among(clause, &value) ? WTI_TC_YES : WTI_TC_NO;
	return WTI_TC_YES;
}

enum wti_tc_truth wti_tc_condition(struct wti_tc_judge *judge, const struct wti_tc_item *item,
				   const struct wti_tc_record *record)
{
	const struct wti_tc_condition *condition = &item->entry.condition;
	enum wti_tc_truth any = WTI_TC_NO;

	for (uint32_t i = 0; i < condition->count && any != WTI_TC_YES; i++) {
		enum wti_tc_truth all = WTI_TC_YES;

		for (uint32_t j = 0; j < condition->any[i].count && all != WTI_TC_NO; j++)
			all = wti_tc_and(
				all, clause_holds(judge, &condition->any[i].clauses[j], record));
		any = wti_tc_or(any, all);
	}
	return condition->is_inverted ? wti_tc_not(any) : any;
}
