/* SPDX-License-Identifier: Apache-2.0 */
/* Events to invariants of TrainCheck's, and what these say to occasions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/json_read.h"
#include "inspect/learn/relation.h"
#include "state.h"

#define ROLES_MAX (1u << 21)
#define FLOWS_MAX (1u << 22)
#define DOCUMENTS_MAX (1u << 14)
#define SEEN_MAX (1u << 22)

/* Recordings of ours say at which level they were made. */
bool wti_tc_is_native(const struct wti_tc_judge *judge)
{
	return *judge->levels;
}

void wti_tc_report(struct wti_tc_judge *judge, uint32_t item, size_t stream,
		   const struct wti_scope *scope, const struct wti_call *call, uint32_t about,
		   bool holds)
{
	struct wti_moment moment = {
		.training = judge->training,
		.process = wti_process_at(judge->training, stream),
		.scope = *scope,
		.call = call,
	};
	struct wti_occasion *occasion = &judge->occasion;

	occasion->relation = judge->relation;
	occasion->subject[0] = judge->items[item].subject[0];
	occasion->subject[1] = judge->items[item].subject[1];
	occasion->moment = &moment;
	occasion->about = about;
	occasion->fact_count = holds;
	occasion->facts[0] = (struct wti_fact){WTI_FORM_TRUE, (uint32_t)judge->holds, 0};
	judge->sink.take(judge->sink.self, occasion);
	occasion->moment = NULL;
}

struct wti_tc_flow *wti_tc_flow(struct wti_tc_judge *judge, uint32_t item, uint32_t pair,
				size_t stream, uint32_t track)
{
	const uint64_t key[2] = {(uint64_t)item << 32 | pair, (uint64_t)stream << 32 | track};
	uint64_t *slot = wti_map_text(&judge->flow_index, (const char *)key, sizeof(key));

	if (!slot || (!*slot && wti_grow(&judge->flows, judge->flow_count + 1,
					 &judge->flow_capacity, FLOWS_MAX))) {
		judge->failed = true;
		return NULL;
	}
	if (!*slot) {
		judge->flows[judge->flow_count] = (struct wti_tc_flow){0};
		*slot = ++judge->flow_count;
	}
	return &judge->flows[*slot - 1];
}

static void release_documents(struct wti_tc_judge *judge)
{
	for (size_t i = 0; i < judge->documents.count; i++)
		wti_doc_free((struct wti_doc *)(uintptr_t)judge->documents.entries[i].value);
	wti_map_release(&judge->documents);
}

/* Nobody keeps one over the next question, so that all can go when there are too many. */
const struct wti_doc *wti_tc_document(struct wti_tc_judge *judge, uint32_t symbol)
{
	const char *text = wti_symbol_text(judge->symbols, symbol);
	struct wti_doc *doc = NULL;
	uint64_t *slot;

	if (judge->documents.count == DOCUMENTS_MAX) {
		release_documents(judge);
		wti_map_init(&judge->documents, DOCUMENTS_MAX);
	}
	slot = symbol ? wti_map_number(&judge->documents, symbol) : NULL;
	if (!slot)
		return NULL;
	if (!*slot && !wti_json_parse("attributes", text, strlen(text), &doc, NULL))
		*slot = (uint64_t)(uintptr_t)doc;
	return (const struct wti_doc *)(uintptr_t)*slot;
}

/* ---- The pack ------------------------------------------------------------------------------- */

static bool add_role(struct wti_tc_judge *judge, const char *function, enum wti_tc_role_type type,
		     uint32_t item, uint32_t pair)
{
	uint64_t *slot = wti_map_text(&judge->names, function, strlen(function));
	struct wti_tc_function *of;

	if (!slot)
		return false;
	if (!*slot) {
		if (wti_grow(&judge->of_functions, judge->function_count + 1,
			     &judge->function_capacity, WTI_INVARIANTS_MAX * 16))
			return false;
		judge->of_functions[judge->function_count] = (struct wti_tc_function){0};
		*slot = ++judge->function_count;
	}
	if (wti_grow(&judge->roles, judge->role_count + 1, &judge->role_capacity, ROLES_MAX))
		return false;
	of = &judge->of_functions[*slot - 1];
	judge->roles[judge->role_count] = (struct wti_tc_role){type, item, pair, of->roles};
	of->roles = (uint32_t)++judge->role_count;
	return true;
}

static bool add_roles(struct wti_tc_judge *judge, uint32_t item)
{
	const struct wti_tc_entry *entry = &judge->items[item].entry;
	const struct wti_tc_param *params = entry->params;
	bool done = true;

	switch (entry->relation) {
	case WTI_TC_CONTAIN:
		done = add_role(judge, params[0].function, WTI_TC_ROLE_PARENT, item, 0);
		return done && (params[1].type == WTI_TC_VARIABLE ||
				add_role(judge, params[1].function, WTI_TC_ROLE_CHILD, item, 0));
	case WTI_TC_OUTPUT:
		return add_role(judge, params[0].function, WTI_TC_ROLE_CALL, item, 0);
	case WTI_TC_INPUT_OUTPUT:
	case WTI_TC_THRESHOLD:
		return add_role(judge, params[1].function, WTI_TC_ROLE_CALL, item, 0);
	case WTI_TC_DISTINCT:
		return add_role(judge, params[0].function, WTI_TC_ROLE_DISTINCT, item, 0);
	case WTI_TC_COVER:
	case WTI_TC_LEAD:
		for (uint32_t i = 0; done && i + 1 < entry->param_count; i++)
			done = add_role(judge, params[i].function, WTI_TC_ROLE_FIRST, item, i) &&
			       add_role(judge, params[i + 1].function, WTI_TC_ROLE_SECOND, item, i);
		return done;
	default:
		return true;
	}
}

/* What cannot be read any more, as somebody wrote it by hand, is not measured. */
static bool add_item(struct wti_tc_judge *judge, const struct wti_pack *pack,
		     const struct wti_invariant *invariant)
{
	struct wti_tc_item *item = &judge->items[judge->item_count];
	const char *text = wti_symbol_text(&pack->symbols, invariant->subject[1]);
	const char *why;

	if (wti_json_parse("entry", text, strlen(text), &item->doc, NULL))
		return true;
	if (wti_tc_entry_read(&item->entry, judge->symbols, item->doc, &why)) {
		wti_doc_free(item->doc);
		*item = (struct wti_tc_item){0};
		return true;
	}
	for (size_t i = 0; i < 2; i++)
		item->subject[i] = wti_symbol_word(
			judge->symbols, wti_symbol_text(&pack->symbols, invariant->subject[i]));
	return add_roles(judge, judge->item_count++);
}

static void init_maps(struct wti_tc_judge *judge)
{
	wti_map_init(&judge->names, WTI_INVARIANTS_MAX * 16);
	wti_map_init(&judge->functions, 1u << 20);
	wti_map_init(&judge->flow_index, FLOWS_MAX);
	wti_map_init(&judge->contexts, 1u << 20);
	wti_map_init(&judge->documents, DOCUMENTS_MAX);
	wti_map_init(&judge->seen, SEEN_MAX);
	wti_map_init(&judge->variable_index, 1u << 20);
	wti_map_init(&judge->last, 1u << 23);
	wti_map_init(&judge->said_index, 1u << 22);
	wti_map_init(&judge->lost, 1u << 16);
}

static uint32_t count_of(const struct wti_pack *pack, uint32_t relation)
{
	uint32_t count = 0;

	for (size_t i = 0; i < pack->count; i++)
		count += pack->invariants[i].relation == relation;
	return count;
}

int wti_tc_judge_open(struct wti_tc_judge **ret_judge, const struct wti_pack *pack,
		      const struct wti_training *training, struct wti_sink_of_occasions sink,
		      const uint32_t *levels, struct wt_err *err)
{
	uint32_t relation = (uint32_t)wti_relation_by_name(wti_relation_traincheck.name);
	uint32_t count = count_of(pack, relation);
	struct wti_tc_judge *judge = count ? calloc(1, sizeof(*judge)) : NULL;
	bool done = true;

	*ret_judge = NULL;
	if (!count)
		return 0;
	if (!judge)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	judge->training = training;
	judge->symbols = training->symbols;
	judge->sink = sink;
	judge->levels = levels;
	judge->relation = relation;
	judge->holds = wti_symbol_word(judge->symbols, WTI_TC_HOLDS);
	wti_calls_init(&judge->calls, judge->symbols);
	init_maps(judge);
	judge->items = calloc(count, sizeof(*judge->items));
	for (size_t i = 0; judge->items && done && i < pack->count; i++)
		if (pack->invariants[i].relation == relation)
			done = add_item(judge, pack, &pack->invariants[i]);
	if (!judge->items || !done || !wti_tc_prepare_variables(judge)) {
		wti_tc_judge_free(judge);
		return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	*ret_judge = judge;
	return 0;
}

static void release_maps(struct wti_tc_judge *judge)
{
	wti_map_release(&judge->names);
	wti_map_release(&judge->functions);
	wti_map_release(&judge->flow_index);
	wti_map_release(&judge->contexts);
	release_documents(judge);
	wti_map_release(&judge->seen);
	wti_map_release(&judge->variable_index);
	wti_map_release(&judge->last);
	wti_map_release(&judge->said_index);
	wti_map_release(&judge->lost);
}

void wti_tc_judge_free(struct wti_tc_judge *judge)
{
	if (!judge)
		return;
	for (uint32_t i = 0; i < judge->item_count; i++) {
		wti_tc_entry_release(&judge->items[i].entry);
		wti_doc_free(judge->items[i].doc);
	}
	free(judge->items);
	release_maps(judge);
	wti_calls_release(&judge->calls);
	free(judge->of_functions);
	free(judge->roles);
	free(judge->flows);
	free(judge->pending);
	free(judge->context_values);
	free(judge->variables);
	free(judge->series);
	free(judge->properties);
	free(judge->changes);
	free(judge->changing);
	free(judge->said);
	free(judge->lasting);
	free(judge->hashes);
	free(judge);
}

/* ---- Events --------------------------------------------------------------------------------- */

static void begun(void *self, struct wti_call *call, const struct wti_call *parent)
{
	(void)parent;
	wti_tc_begun(self, call);
}

static void ended(void *self, struct wti_call *call, const struct wti_call *parent)
{
	(void)parent;
	wti_tc_ended(self, call);
}

static void other(void *self, const struct wt_event *event, const struct wti_call *inside)
{
	struct wti_tc_judge *judge = self;

	(void)inside;
	switch (event->kind->number) {
	case WT_KIND_CONTEXT:
		wti_tc_take_context(judge, event);
		break;
	case WT_KIND_ATTRIBUTES:
		wti_tc_take_attributes(judge, event);
		break;
	case WT_KIND_STATE:
		wti_tc_take_state(judge, event);
		break;
	case WT_KIND_LOST:
		if (!wti_map_number(&judge->lost, event->stream))
			judge->failed = true;
		break;
	default:
		break;
	}
}

static int status(const struct wti_tc_judge *judge, struct wt_err *err)
{
	return judge->failed ? wti_err(err, WT_E_NOMEM, "out of memory") : 0;
}

int wti_tc_judge_event(struct wti_tc_judge *judge, const struct wt_event *event, struct wt_err *err)
{
	struct wti_listener listener = {judge, begun, ended, other};
	int r;

	if (event->time_ns > judge->now_ns)
		judge->now_ns = event->time_ns;
	r = wti_calls_event(&judge->calls, event, &listener, err);
	return r ? r : status(judge, err);
}

/* Our recordings show which parameters a step has moved after the step. */
void wti_tc_judge_moment(struct wti_tc_judge *judge, const struct wti_moment *moment)
{
	struct wti_tc_record record = {.scope = moment->scope, .call = moment->call};
	char name[1024];
	uint32_t moved = 0;

	if (moment->type != WTI_MOMENT_STEPPED || !wti_tc_is_native(judge) || !moment->call ||
	    !moment->object)
		return;
	record.stream = moment->call->stream;
	record.track = moment->call->track;
	snprintf(name, sizeof(name), "%s.%s", wti_symbol_text(judge->symbols, moment->call->module),
		 wti_symbol_text(judge->symbols, moment->call->callee));
	for (uint32_t i = 0; i < moment->object->member_count; i++)
		moved += wti_object_member(judge->training, moment->object, i)->moved;
	for (size_t i = 0; i < judge->change_count; i++) {
		const struct wti_tc_item *item = &judge->items[judge->changes[i]];

		if (!strcmp(item->entry.params[1].attribute, "data") &&
		    !strcmp(item->entry.params[0].function, name) &&
		    wti_tc_condition(judge, item, &record) == WTI_TC_YES)
			wti_tc_report(judge, judge->changes[i], record.stream, &moment->scope,
				      moment->call, 0, moved);
	}
}

bool wti_tc_judge_is_cut(const struct wti_tc_judge *judge)
{
	return judge->is_cut;
}

int wti_tc_judge_finish(struct wti_tc_judge *judge, struct wt_err *err)
{
	struct wti_listener listener = {judge, begun, ended, other};

	wti_calls_finish(&judge->calls, &listener);
	wti_tc_finish_calls(judge);
	wti_tc_finish_variables(judge);
	return status(judge, err);
}
