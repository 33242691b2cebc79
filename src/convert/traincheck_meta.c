/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Meta variables of TrainCheck's records: every one of them becomes a context of its track, so that
 * conditions on any of them can be judged. Context managers are meta variables too, which
 * TrainCheck makes of the calls of __init__,
 * __enter__ and __exit__ when it reads a trace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/doc_write.h"
#include "base/json.h"
#include "inspect/traincheck/traincheck_names.h"
#include "inspect/traincheck/value.h"
#include "traincheck_row.h"

#define KEY_BYTES 512
#define TEXT_MAX 4000u

static void report_context(struct wti_tc_row *row, const char *key, uint32_t type, uint64_t value,
			   const char *text)
{
	uint64_t values[] = {wti_tc_string(row, key), type, value, 0};

	wti_tc_append(row, WT_KIND_CONTEXT, values, 4, text);
}

/* ---- Ranks ---------------------------------------------------------------------------------- */

/* As a number, or as a text that is one: environment variables are texts. */
static int64_t rank_in(const struct wti_doc *value)
{
	char *end;
	long long number;

	if (value->type == WTI_DOC_INT)
		return value->integer;
	if (value->type != WTI_DOC_STRING || !value->string.bytes)
		return -1;
	number = strtoll(value->string.data, &end, 10);
	return *end ? -1 : number;
}

/* Scripts set ranks by hand, under names of their own. */
static int64_t rank_of(const struct wti_doc *meta)
{
	for (const struct wti_doc *value = meta ? meta->first : NULL; value; value = value->next)
		if (value->key && strstr(value->key, "RANK") && rank_in(value) >= 0)
			return rank_in(value);
	return -1;
}

static void report_rank(struct wti_tc_row *row, int64_t rank)
{
	uint64_t values[] = {(uint64_t)rank, (uint64_t)(rank > 0 ? rank + 1 : 2), (uint64_t)rank,
			     0};

	if (rank < 0 || rank >= INT32_MAX || rank == row->process->rank)
		return;
	wti_tc_append(row, WT_KIND_RANK, values, 4, "");
	row->process->rank = rank;
}

/* ---- Others --------------------------------------------------------------------------------- */

static void report_value(struct wti_tc_row *row, const char *key, const struct wti_doc *value)
{
	uint64_t bits = 0;

	switch (value->type) {
	case WTI_DOC_BOOL:
		report_context(row, key, WT_VALUE_TYPE_BOOL, value->boolean, "");
		break;
	case WTI_DOC_INT:
		report_context(row, key, WT_VALUE_TYPE_INT, (uint64_t)value->integer, "");
		break;
	case WTI_DOC_FLOAT:
		memcpy(&bits, &value->number, sizeof(bits));
		report_context(row, key, WT_VALUE_TYPE_FLOAT, bits, "");
		break;
	case WTI_DOC_STRING:
		if (value->string.bytes < TEXT_MAX)
			report_context(row, key, WT_VALUE_TYPE_TEXT, 0, value->string.data);
		break;
	default:
		report_context(row, key, WT_VALUE_TYPE_NONE, 0, "");
	}
}

/* Only what has changed is emitted: all of it is on every record. */
static void report_changed(struct wti_tc_row *row, const char *key, const struct wti_doc *value)
{
	uint64_t *last = wti_map_text(&row->track->meta, key, strlen(key));
	struct wti_buf text;
	uint64_t hash;

	wti_buf_init(&text, TEXT_MAX);
	wti_tc_write(&text, value);
	hash = XXH3_64bits(text.data, text.bytes) | 1;
	wti_buf_release(&text);
	if (!last || *last == hash)
		return;
	*last = hash;
	report_value(row, key, value);
}

/* Tables are flattened, as TrainCheck does when it reads them. */
static void report_meta(struct wti_tc_row *row, const struct wti_doc *meta)
{
	for (const struct wti_doc *value = meta ? meta->first : NULL; value; value = value->next) {
		char key[KEY_BYTES];

		if (!strcmp(value->key, "step") || !strcmp(value->key, "stage"))
			continue;
		if (value->type != WTI_DOC_TABLE) {
			report_changed(row, value->key, value);
			continue;
		}
		for (const struct wti_doc *inner = value->first; inner; inner = inner->next) {
			snprintf(key, sizeof(key), "%s.%s", value->key, inner->key);
			report_changed(row, key, inner);
		}
	}
}

void wti_tc_where(struct wti_tc_row *row)
{
	const struct wti_doc *meta = wti_doc_get(row->doc, "meta_vars");
	int64_t step = wti_tc_number(meta, "step", INT64_MIN);
	const char *stage = wti_traincheck_stage(wti_tc_text_in(meta, "stage"));
	struct wti_tc_track *track = row->track;

	if (meta && meta->type != WTI_DOC_TABLE)
		return;
	report_rank(row, rank_of(meta));
	if (*stage && strcmp(stage, track->stage)) {
		snprintf(track->stage, sizeof(track->stage), "%s", stage);
		report_context(row, "stage", WT_VALUE_TYPE_TEXT, 0, stage);
	}
	if (step != INT64_MIN && step != track->step) {
		track->step = step;
		report_context(row, "step", WT_VALUE_TYPE_INT, (uint64_t)step, "");
	}
	report_meta(row, meta);
}

/* ---- Context managers ----------------------------------------------------------------------- */

/* Arguments that are given by their place have a name only in the signature; of this one it is
 * known. */
static const char *argument_name(const char *class_name, const struct wti_doc *argument,
				 bool is_bound)
{
	static const char *const autocast[] = {"device_type", "dtype", "enabled", "cache_enabled"};
	long place = strtol(argument->key, NULL, 10) - is_bound;

	if (place < 0)
		return NULL;
	if (!strcmp(class_name, "torch.amp.autocast_mode.autocast") && place < 4)
		return autocast[place];
	return argument->key;
}

static void write_argument(struct wti_json *json, const char *name, const struct wti_doc *typed)
{
	const struct wti_doc *value = typed->type == WTI_DOC_TABLE ? typed->first : NULL;

	if (!name || !value || value->type == WTI_DOC_TABLE)
		return;
	wti_json_key(json, name);
	wti_doc_write(json, value);
}

/* What it was made with, and what autocast takes where it is not said. */
static uint32_t made_with(struct wti_tc_row *row, const char *class_name)
{
	const struct wti_doc *args = wti_doc_get(row->doc, "args");
	const struct wti_doc *kwargs = wti_doc_get(row->doc, "kwargs");
	const struct wti_doc *bound = wti_doc_get(row->doc, "is_bound_method");
	bool is_bound = bound && bound->type == WTI_DOC_BOOL && bound->boolean;
	bool says_enabled = wti_doc_get(kwargs, "enabled");
	struct wti_json json;
	struct wti_buf text;
	uint32_t id;

	wti_buf_init(&text, TEXT_MAX);
	wti_json_init(&json, &text, false);
	wti_json_object(&json);
	for (const struct wti_doc *a = args ? args->first : NULL; a && a->key; a = a->next) {
		const char *name = argument_name(class_name, a, is_bound);

		says_enabled = says_enabled || (name && !strcmp(name, "enabled"));
		write_argument(&json, name, a);
	}
	for (const struct wti_doc *a = kwargs ? kwargs->first : NULL; a && a->key; a = a->next)
		write_argument(&json, a->key, a);
	if (!says_enabled && strstr(class_name, "autocast")) {
		wti_json_key(&json, "enabled");
		wti_json_bool(&json, true);
	}
	wti_json_object_end(&json);
	id = wti_tc_string(row, wti_buf_status(&text) ? "{}" : wti_buf_cstr(&text));
	wti_buf_release(&text);
	return id;
}

static uint64_t *slot_of(struct wti_tc_row *row, const char *what, const char *class_name,
			 int64_t id)
{
	char key[KEY_BYTES + 64];

	snprintf(key, sizeof(key), "%s %lld %u %s", what, (long long)id, row->track->id,
		 class_name);
	return wti_map_text(&row->process->managers, key, strlen(key));
}

static void report_active(struct wti_tc_row *row, const char *class_name, uint64_t id)
{
	const struct wti_map *strings = &row->process->strings;
	char key[KEY_BYTES + 32];

	snprintf(key, sizeof(key), "context_managers.%s", class_name);
	report_context(row, key, id ? WT_VALUE_TYPE_TEXT : WT_VALUE_TYPE_NONE, 0,
		       id && id <= strings->count ? strings->entries[id - 1].text : "");
}

/* Inner ones hide outer ones of the same class, which come back when the inner ones end. */
static void enter_or_exit(struct wti_tc_row *row, const char *class_name, int64_t object,
			  bool is_enter)
{
	const uint64_t *made = slot_of(row, "made", class_name, object);
	uint64_t made_id = made ? *made : 0;
	uint64_t *around = made_id ? slot_of(row, "around", class_name, object) : NULL;
	uint64_t was = around ? *around : 0;
	uint64_t *active = around ? slot_of(row, "active", class_name, 0) : NULL;

	if (!active)
		return;
	if (is_enter) {
		was = *active;
		*active = made_id;
		around = slot_of(row, "around", class_name, object);
		if (around)
			*around = was;
	} else {
		*active = was;
	}
	active = slot_of(row, "active", class_name, 0);
	report_active(row, class_name, active ? *active : 0);
}

void wti_tc_manager(struct wti_tc_row *row, const char *function, bool is_begin)
{
	const char *method = strrchr(function, '.');
	int64_t object = wti_tc_number(row->doc, "obj_id", 0);
	char class_name[KEY_BYTES];
	uint64_t *made;
	uint32_t id;

	if (!method || !object || strstr(function, "torch.autograd.grad_mode") ||
	    strstr(function, "torch.autograd.profiler.record_function"))
		return;
	snprintf(class_name, sizeof(class_name), "%.*s", (int)(method - function), function);
	if (!strcmp(method, ".__init__") && is_begin) {
		id = made_with(row, class_name);
		made = slot_of(row, "made", class_name, object);
		if (made)
			*made = id;
	} else if (!strcmp(method, ".__enter__") && !is_begin) {
		enter_or_exit(row, class_name, object, true);
	} else if (!strcmp(method, ".__exit__") && is_begin) {
		enter_or_exit(row, class_name, object, false);
	}
}
