/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Burn record with names: {"metadata": {...}, "item": module, "_b": nothing}. A module is a map
 * of fields; a map that begins with "id" is a parameter, one that begins with "bytes" (before 0.14:
 * "value") is its tensor. A map shows what it is by its first entry alone, so it stays undecided
 * until then: a module may have a field of any of these names, but not such a value in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/burn/frames.h"

#define RECORD_MAX ((size_t)64 << 20)

int wti_burn_bad(const struct wti_burn_record *record, const struct wti_burn_event *event,
		 struct wt_err *err, const char *what)
{
	return wti_err_at(err, WT_E_FORMAT, (int64_t)event->at,
			  "'%s' is not a Burn record: %s at byte %llu", record->model->path, what,
			  (unsigned long long)event->at);
}

int wti_burn_no_memory(struct wt_err *err)
{
	return wti_err(err, WT_E_NOMEM, "out of memory for a model");
}

int wti_burn_push(struct wti_burn_record *record, const struct wti_burn_event *event,
		  enum wti_burn_frame_kind kind, struct wt_err *err)
{
	if (record->depth == WTI_BURN_FRAMES_MAX)
		return wti_burn_bad(record, event, err, "nested too deeply");
	record->frames[record->depth++] =
		(struct wti_burn_frame){.kind = kind,
					.is_map = event->type == WTI_BURN_MAP,
					.path_bytes = record->path.bytes};
	return 0;
}

void wti_burn_put_scalar(struct wti_json *json, const struct wti_burn_event *event)
{
	char text[40];

	switch (event->type) {
	case WTI_BURN_COUNT:
		snprintf(text, sizeof(text), "u%llu", (unsigned long long)event->number);
		if (event->number > INT64_MAX)
			wti_json_text(json, text);
		else
			wti_json_u64(json, event->number);
		break;
	case WTI_BURN_NEGATIVE:
		wti_json_i64(json, event->negative);
		break;
	case WTI_BURN_BOOL:
		wti_json_bool(json, event->number);
		break;
	case WTI_BURN_F32:
	case WTI_BURN_F64:
		snprintf(text, sizeof(text), "%s%0*llx", event->type == WTI_BURN_F32 ? "f" : "d",
			 event->type == WTI_BURN_F32 ? 8 : 16, (unsigned long long)event->number);
		wti_json_text(json, text);
		break;
	default:
		wti_json_null(json);
	}
}

static struct wti_burn_frame *top_of(struct wti_burn_record *record)
{
	return record->depth ? &record->frames[record->depth - 1] : NULL;
}

/* ---- Paths --------------------------------------------------------------------------------- */

static void set_path(struct wti_burn_record *record, const struct wti_burn_frame *frame,
		     const char *word)
{
	record->path.bytes = frame->path_bytes;
	if (frame->path_bytes)
		wti_buf_byte(&record->path, '.');
	wti_buf_text(&record->path, word);
}

static void set_index_path(struct wti_burn_record *record, const struct wti_burn_frame *frame)
{
	char word[24];

	snprintf(word, sizeof(word), "%llu", (unsigned long long)frame->entries);
	set_path(record, frame, word);
}

/* ---- Values of modules --------------------------------------------------------------------- */

static int put_text(struct wti_burn_record *record, struct wti_json *json,
		    const struct wti_burn_event *event, struct wt_err *err)
{
	struct wti_buf text;

	wti_buf_init(&text, WTI_MODEL_NAME_MAX + 2);
	wti_buf_byte(&text, '=');
	wti_buf_append(&text, event->text, event->bytes);
	if (wti_buf_status(&text)) {
		wti_buf_release(&text);
		return wti_burn_bad(record, event, err, "a text that is too long");
	}
	wti_json_text_n(json, (const char *)text.data, text.bytes);
	wti_buf_release(&text);
	return 0;
}

/* A field of a module, or an item of a list. */
static int take_value(struct wti_burn_record *record, const struct wti_burn_event *event,
		      struct wt_err *err)
{
	switch (event->type) {
	case WTI_BURN_MAP:
		if (record->depth >= WTI_BURN_DEPTH_MAX)
			return wti_burn_bad(record, event, err, "nested too deeply");
		return wti_burn_push(record, event, WTI_FRAME_UNDECIDED, err);
	case WTI_BURN_LIST:
		if (record->depth >= WTI_BURN_DEPTH_MAX)
			return wti_burn_bad(record, event, err, "nested too deeply");
		wti_json_array(&record->json);
		return wti_burn_push(record, event, WTI_FRAME_MODULES, err);
	case WTI_BURN_BYTES:
		return wti_burn_bad(record, event, err, "bytes that belong to no tensor");
	case WTI_BURN_TEXT:
		return put_text(record, &record->json, event, err);
	default:
		wti_burn_put_scalar(&record->json, event);
		return 0;
	}
}

/* The first value of a map has come: what is the map? */
static int decide(struct wti_burn_record *record, struct wti_burn_frame *frame,
		  const struct wti_burn_event *event, struct wt_err *err)
{
	bool untyped = record->meta.minor <= WTI_BURN_LAST_UNTYPED;
	bool list = event->type == WTI_BURN_LIST;
	size_t begin;

	if (!strcmp(frame->key, "id") && event->type == WTI_BURN_TEXT) {
		if (record->now.id[0] ||
		    !wti_burn_id_valid(record->meta.minor, event->text, event->bytes))
			return wti_burn_bad(record, event, err, "a bad id of a parameter");
		frame->kind = WTI_FRAME_PARAM;
		memcpy(record->now.id, event->text, event->bytes);
		record->path.bytes = frame->path_bytes;
		return 0;
	}
	if (!strcmp(frame->key, untyped ? "value" : "bytes") &&
	    (list || (!untyped && event->type == WTI_BURN_BYTES))) {
		frame->kind = WTI_FRAME_TENSOR;
		record->path.bytes = frame->path_bytes;
		record->now.type = untyped ? wti_burn_dtype_untyped(&record->meta) : NULL;
		if (untyped && !record->now.type)
			return wti_burn_bad(record, event, err,
					    "elements of a type that is not supported before 0.14");
		return wti_burn_take_data(record, event, err);
	}
	frame->kind = WTI_FRAME_MODULE;
	wti_json_object(&record->json);
	begin = frame->path_bytes + (frame->path_bytes ? 1 : 0);
	wti_json_key_n(&record->json, (const char *)record->path.data + begin,
		       record->path.bytes - begin);
	return take_value(record, event, err);
}

static int take_top(struct wti_burn_record *record, const struct wti_burn_frame *frame,
		    const struct wti_burn_event *event, struct wt_err *err)
{
	record->path.bytes = 0;
	if (frame->entries == 0 && !strcmp(frame->key, "metadata") && event->type == WTI_BURN_MAP)
		return wti_burn_push(record, event, WTI_FRAME_META, err);
	if (frame->entries == 1 && !strcmp(frame->key, "item"))
		return take_value(record, event, err);
	if (frame->entries == 2 && !strcmp(frame->key, "_b")) {
		if (event->type == WTI_BURN_NIL)
			return 0;
		if (event->type == WTI_BURN_LIST)
			return wti_burn_push(record, event, WTI_FRAME_NOTHING, err);
	}
	return wti_burn_bad(record, event, err, "not metadata, item and _b");
}

static int take_meta(struct wti_burn_record *record, const struct wti_burn_frame *frame,
		     const struct wti_burn_event *event, struct wt_err *err)
{
	if (frame->entries >= WTI_BURN_FIELDS || event->type != WTI_BURN_TEXT ||
	    event->bytes > WTI_BURN_TEXT_MAX || strcmp(frame->key, wti_burn_fields[frame->entries]))
		return wti_burn_bad(record, event, err, "unknown metadata");
	memcpy(record->meta.fields[frame->entries], event->text, event->bytes);
	return 0;
}

static int dispatch(struct wti_burn_record *record, struct wti_burn_frame *frame,
		    const struct wti_burn_event *event, struct wt_err *err)
{
	switch (frame->kind) {
	case WTI_FRAME_TOP:
		return take_top(record, frame, event, err);
	case WTI_FRAME_META:
		return take_meta(record, frame, event, err);
	case WTI_FRAME_UNDECIDED:
		return decide(record, frame, event, err);
	case WTI_FRAME_MODULES:
		set_index_path(record, frame);
		return take_value(record, event, err);
	case WTI_FRAME_MODULE:
		return take_value(record, event, err);
	case WTI_FRAME_PARAM:
		if (strcmp(frame->key, "param") || frame->entries != 1 ||
		    event->type != WTI_BURN_MAP)
			return wti_burn_bad(record, event, err,
					    "a parameter that is not an id and a tensor");
		return wti_burn_push(record, event, WTI_FRAME_UNDECIDED, err);
	case WTI_FRAME_TENSOR:
		return wti_burn_take_tensor(record, frame, event, err);
	case WTI_FRAME_BYTE_LIST:
	case WTI_FRAME_NUMBER_LIST:
	case WTI_FRAME_SHAPE:
		return wti_burn_take_element(record, frame, event, err);
	case WTI_FRAME_DTYPE:
	case WTI_FRAME_DTYPE_INSIDE:
		return wti_burn_take_dtype_inside(record, frame, event, err);
	case WTI_FRAME_NOTHING:
		break;
	}
	return wti_burn_bad(record, event, err, "something where nothing should be");
}

/* ---- Keys and ends ------------------------------------------------------------------------- */

static int take_key(struct wti_burn_record *record, struct wti_burn_frame *frame,
		    const struct wti_burn_event *event, struct wt_err *err)
{
	if (event->type != WTI_BURN_TEXT || memchr(event->text, 0, event->bytes) ||
	    event->bytes > WTI_MODEL_NAME_MAX)
		return wti_burn_bad(record, event, err, "a key that is not a text");
	snprintf(frame->key, sizeof(frame->key), "%s", event->text);
	frame->has_key = true;
	if (frame->kind == WTI_FRAME_MODULE || frame->kind == WTI_FRAME_UNDECIDED)
		set_path(record, frame, event->text);
	if (frame->kind == WTI_FRAME_MODULE)
		wti_json_key(&record->json, event->text);
	if (frame->kind == WTI_FRAME_DTYPE || frame->kind == WTI_FRAME_DTYPE_INSIDE)
		wti_json_key(&record->dtype_json, event->text);
	return wti_buf_status(&record->path)
		       ? wti_burn_bad(record, event, err, "a name that is too long")
		       : 0;
}

static int end_frame(struct wti_burn_record *record, const struct wti_burn_event *event,
		     struct wt_err *err)
{
	struct wti_burn_frame frame = *top_of(record);

	record->depth--;
	record->path.bytes = frame.path_bytes;
	switch (frame.kind) {
	case WTI_FRAME_TOP:
		record->done = frame.entries == 3;
		return record->done ? 0
				    : wti_burn_bad(record, event, err, "not metadata, item and _b");
	case WTI_FRAME_META:
		if (frame.entries != WTI_BURN_FIELDS)
			return wti_burn_bad(record, event, err, "metadata are missing");
		return wti_burn_meta_check(&record->meta, err);
	case WTI_FRAME_UNDECIDED: /* a module without fields */
		wti_json_object(&record->json);
		wti_json_object_end(&record->json);
		return 0;
	case WTI_FRAME_MODULE:
		wti_json_object_end(&record->json);
		return 0;
	case WTI_FRAME_MODULES:
		wti_json_array_end(&record->json);
		return 0;
	case WTI_FRAME_PARAM:
		return frame.entries == 2 && !record->now.id[0]
			       ? 0
			       : wti_burn_bad(record, event, err, "a parameter without a tensor");
	case WTI_FRAME_TENSOR:
		return wti_burn_keep_tensor(record, event, err);
	case WTI_FRAME_DTYPE:
		return wti_burn_end_dtype(record, event, err);
	case WTI_FRAME_DTYPE_INSIDE:
		if (frame.is_map)
			wti_json_object_end(&record->dtype_json);
		else
			wti_json_array_end(&record->dtype_json);
		return 0;
	default:
		return 0;
	}
}

int wti_burn_record_take(void *self, const struct wti_burn_event *event, struct wt_err *err)
{
	struct wti_burn_record *record = self;
	struct wti_burn_frame *frame = top_of(record);
	int r;

	if (record->done)
		return wti_burn_bad(record, event, err, "more than one document");
	if (!frame)
		return event->type == WTI_BURN_MAP
			       ? wti_burn_push(record, event, WTI_FRAME_TOP, err)
			       : wti_burn_bad(record, event, err, "no map");
	if (event->type == WTI_BURN_END)
		return frame->has_key ? wti_burn_bad(record, event, err, "a key without a value")
				      : end_frame(record, event, err);
	if (frame->is_map && !frame->has_key)
		return take_key(record, frame, event, err);
	frame->has_key = false;
	r = dispatch(record, frame, event, err);
	frame->entries++;
	return r;
}

/* ---- The beginning and the end -------------------------------------------------------------- */

int wti_burn_record_open(struct wti_model *model, uint32_t source, struct wti_burn_record **ret,
			 struct wt_err *err)
{
	struct wti_burn_record *record = calloc(1, sizeof(*record));

	if (!record)
		return wti_burn_no_memory(err);
	record->model = model;
	record->source = source;
	wti_buf_init(&record->path, WTI_MODEL_NAME_MAX);
	wti_buf_init(&record->tree, RECORD_MAX);
	wti_buf_init(&record->dtype, 2 * WTI_BURN_DTYPE_MAX);
	wti_buf_init(&record->unpacked, WTI_MODEL_UNPACKED_MAX);
	wti_arena_init(&record->arena, (size_t)1 << 30);
	wti_json_init(&record->json, &record->tree, false);
	*ret = record;
	return 0;
}

void wti_burn_record_free(struct wti_burn_record *record)
{
	if (!record)
		return;
	wti_buf_release(&record->path);
	wti_buf_release(&record->tree);
	wti_buf_release(&record->dtype);
	wti_buf_release(&record->unpacked);
	wti_arena_release(&record->arena);
	free(record->found);
	free(record);
}

int wti_burn_record_end(struct wti_burn_record *record, struct wt_err *err)
{
	uint32_t unpacked = 0;
	int r = 0;

	if (!record->done || wti_buf_status(&record->tree))
		return wti_err(err, WT_E_FORMAT,
			       "'%s' ends before its record does: it is truncated",
			       record->model->path);
	if (!record->found_count)
		return wti_err(err, WT_E_FORMAT, "'%s' is a Burn record without a parameter",
			       record->model->path);
	if (record->unpacked.bytes)
		r = wti_model_add_memory(record->model, &record->unpacked, &unpacked, err);
	if (!r)
		r = wti_burn_meta_keep(record->model, &record->meta, err);
	for (size_t i = 0; !r && i < record->found_count; i++)
		r = wti_burn_add_found(record, &record->found[i], unpacked, err);
	return r ? r
		 : wti_model_add_entry(record->model, "burn.record", wti_buf_cstr(&record->tree),
				       err);
}
