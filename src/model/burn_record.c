/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Burn record with names: {"metadata": {...}, "item": module, "_b": nothing}. A module is a map of
 * fields; a map that begins with "id" is a parameter, one that begins with "bytes" (before 0.14:
 * "value") is its tensor. A map shows what it is by its first entry alone, so it stays undecided
 * until then: a module may have a field of any of these names, but not such a value in it.
 */
#include "model/burn_record.h"

#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/json.h"

#define FRAMES_MAX (WTI_DOC_DEPTH_MAX + 2u)
#define RECORD_MAX ((size_t)64 << 20)
#define DTYPE_MAX 4096u

enum frame_kind {
	TOP,
	META,
	NOTHING,   /* "_b" as an empty list */
	UNDECIDED, /* a map before its first value */
	MODULE,
	MODULES, /* a list of anything */
	PARAM,
	TENSOR,
	BYTE_LIST,   /* the elements as numbers 0 to 255 */
	NUMBER_LIST, /* the elements as floats */
	SHAPE,
	DTYPE, /* a type with more than a name */
	DTYPE_INSIDE,
};

struct frame {
	enum frame_kind kind;
	bool is_map;
	bool has_key;      /* the value of `key` comes next */
	char key[64];      /* as far as it matters: fields of modules go to the path */
	uint64_t entries;  /* so far */
	size_t path_bytes; /* of the path of this map or list itself */
};

/* A tensor that is known; it is added when all of its source is there. */
struct found {
	char *name;
	char *dtype_json;
	char id[WTI_BURN_ID_MAX + 1];
	const struct wti_burn_dtype *type;
	uint64_t shape[WTI_MODEL_RANK_MAX];
	uint64_t *kept_shape;
	uint32_t rank;
	bool is_unpacked;
	bool has_data;
	bool has_shape;
	uint64_t at;
	uint64_t bytes;
};

struct wti_burn_record {
	struct wti_model *model;
	uint32_t source;
	struct wti_burn_meta meta;
	struct frame frames[FRAMES_MAX];
	unsigned depth;
	bool done;
	struct wti_buf path;
	struct wti_buf tree;
	struct wti_json json;
	struct wti_buf dtype;
	struct wti_json dtype_json;
	struct wti_buf unpacked;
	struct found now;
	struct found *found;
	size_t found_count;
	size_t found_capacity;
	struct wti_arena arena;
};

static int bad(const struct wti_burn_record *record, const struct wti_burn_event *event,
	       struct wt_err *err, const char *what)
{
	return wti_err_at(err, WT_E_FORMAT, (int64_t)event->at,
			  "'%s' is not a Burn record: %s at byte %llu", record->model->path, what,
			  (unsigned long long)event->at);
}

static int no_memory(struct wt_err *err)
{
	return wti_err(err, WT_E_NOMEM, "out of memory for a model");
}

static struct frame *top_of(struct wti_burn_record *record)
{
	return record->depth ? &record->frames[record->depth - 1] : NULL;
}

static int push(struct wti_burn_record *record, const struct wti_burn_event *event,
		enum frame_kind kind, struct wt_err *err)
{
	if (record->depth == FRAMES_MAX)
		return bad(record, event, err, "nested too deeply");
	record->frames[record->depth++] = (struct frame){.kind = kind,
							 .is_map = event->type == WTI_BURN_MAP,
							 .path_bytes = record->path.bytes};
	return 0;
}

/* ---- Paths --------------------------------------------------------------------------------- */

static void set_path(struct wti_burn_record *record, const struct frame *frame, const char *word)
{
	record->path.bytes = frame->path_bytes;
	if (frame->path_bytes)
		wti_buf_byte(&record->path, '.');
	wti_buf_text(&record->path, word);
}

static void set_index_path(struct wti_burn_record *record, const struct frame *frame)
{
	char word[24];

	snprintf(word, sizeof(word), "%llu", (unsigned long long)frame->entries);
	set_path(record, frame, word);
}

/* ---- Tensors ------------------------------------------------------------------------------- */

static unsigned element_bytes(const struct found *found)
{
	bool wide = found->dtype_json && strstr(found->dtype_json, "\"U32\"");

	return found->type->dtype == WT_DTYPE_BOOL && wide ? 4 : found->type->bytes;
}

static bool fits(const struct found *found)
{
	uint64_t bytes = element_bytes(found);

	for (uint32_t i = 0; i < found->rank; i++) {
		if (__builtin_mul_overflow(bytes, found->shape[i], &bytes))
			return false;
	}
	return !found->type->bytes || bytes == found->bytes;
}

/* The tensor's map has ended: everything about it is known. */
static int keep_tensor(struct wti_burn_record *record, const struct wti_burn_event *event,
		       struct wt_err *err)
{
	struct found *now = &record->now;

	if (!now->has_data || !now->has_shape || !now->type)
		return bad(record, event, err, "a tensor without elements, shape or type");
	if (!fits(now))
		return bad(record, event, err, "a tensor whose elements do not fit its shape");
	if (wti_grow(&record->found, record->found_count + 1, &record->found_capacity,
		     WTI_MODEL_TENSORS_MAX))
		return wti_err(err, WT_E_LIMIT, "'%s' has too many tensors", record->model->path);
	now->name = wti_arena_text(&record->arena, record->path.data, record->path.bytes);
	now->kept_shape = wti_arena_alloc(&record->arena, sizeof(uint64_t) * (now->rank + 1));
	if (!now->name || !now->kept_shape)
		return no_memory(err);
	memcpy(now->kept_shape, now->shape, sizeof(uint64_t) * now->rank);
	record->found[record->found_count++] = *now;
	wti_json_text(&record->json, now->id[0] ? "@" : "#");
	memset(now, 0, sizeof(*now));
	return 0;
}

static int take_data(struct wti_burn_record *record, const struct wti_burn_event *event,
		     struct wt_err *err)
{
	struct found *now = &record->now;

	now->has_data = true;
	if (event->type == WTI_BURN_BYTES) {
		now->at = event->at;
		now->bytes = event->number;
		return 0;
	}
	now->is_unpacked = true;
	now->at = record->unpacked.bytes;
	return push(record, event, record->now.type ? NUMBER_LIST : BYTE_LIST, err);
}

static int take_dtype(struct wti_burn_record *record, const struct wti_burn_event *event,
		      struct wt_err *err)
{
	if (event->type == WTI_BURN_MAP) {
		wti_buf_clear(&record->dtype);
		wti_json_init(&record->dtype_json, &record->dtype, false);
		wti_json_object(&record->dtype_json);
		return push(record, event, DTYPE, err);
	}
	if (event->type == WTI_BURN_TEXT)
		record->now.type = wti_burn_dtype_named(event->text, event->bytes);
	return record->now.type ? 0 : bad(record, event, err, "an unknown type of elements");
}

static int take_tensor(struct wti_burn_record *record, struct frame *frame,
		       const struct wti_burn_event *event, struct wt_err *err)
{
	bool untyped = record->meta.minor <= WTI_BURN_LAST_UNTYPED;

	if (!strcmp(frame->key, "shape") && frame->entries == 1 && event->type == WTI_BURN_LIST) {
		record->now.has_shape = true;
		return push(record, event, SHAPE, err);
	}
	if (!strcmp(frame->key, "dtype") && frame->entries == 2 && !untyped)
		return take_dtype(record, event, err);
	return bad(record, event, err, "an unknown field of a tensor");
}

static void put_number(struct wti_burn_record *record, const struct wti_burn_event *event)
{
	double real = event->type == WTI_BURN_F64     ? event->real
		      : event->type == WTI_BURN_COUNT ? (double)event->number
						      : (double)event->negative;
	uint32_t bits = (uint32_t)event->number;
	float single = (float)real;

	if (event->type == WTI_BURN_F32)
		memcpy(&single, &bits, sizeof(single));
	if (record->now.type->bytes == sizeof(double) && event->type != WTI_BURN_F32)
		wti_buf_append(&record->unpacked, &real, sizeof(real));
	else
		wti_buf_append(&record->unpacked, &single, sizeof(single));
}

/* An element of one of the lists that a tensor has. */
static int take_element(struct wti_burn_record *record, const struct frame *frame,
			const struct wti_burn_event *event, struct wt_err *err)
{
	struct found *now = &record->now;
	bool count = event->type == WTI_BURN_COUNT;

	if (frame->kind == SHAPE) {
		if (!count || now->rank == WTI_MODEL_RANK_MAX)
			return bad(record, event, err, "a bad shape");
		now->shape[now->rank++] = event->number;
		return 0;
	}
	if (frame->kind == BYTE_LIST) {
		if (!count || event->number > UINT8_MAX)
			return bad(record, event, err, "something that is not a byte");
		wti_buf_byte(&record->unpacked, (uint8_t)event->number);
	} else {
		if (!count && event->type != WTI_BURN_F32 && event->type != WTI_BURN_F64 &&
		    event->type != WTI_BURN_NEGATIVE)
			return bad(record, event, err, "an element that is not a number");
		put_number(record, event);
	}
	now->bytes = record->unpacked.bytes - now->at;
	return wti_buf_status(&record->unpacked)
		       ? wti_err(err, wti_buf_status(&record->unpacked),
				 "'%s' is too large to be unpacked", record->model->path)
		       : 0;
}

/* ---- Values of modules --------------------------------------------------------------------- */

static void put_scalar(struct wti_json *json, const struct wti_burn_event *event)
{
	char text[40];

	switch (event->type) {
	case WTI_BURN_COUNT:
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

static int put_text(struct wti_burn_record *record, struct wti_json *json,
		    const struct wti_burn_event *event, struct wt_err *err)
{
	struct wti_buf text;

	wti_buf_init(&text, WTI_MODEL_NAME_MAX + 2);
	wti_buf_byte(&text, '=');
	wti_buf_append(&text, event->text, event->bytes);
	if (wti_buf_status(&text)) {
		wti_buf_release(&text);
		return bad(record, event, err, "a text that is too long");
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
			return bad(record, event, err, "nested too deeply");
		return push(record, event, UNDECIDED, err);
	case WTI_BURN_LIST:
		if (record->depth >= WTI_BURN_DEPTH_MAX)
			return bad(record, event, err, "nested too deeply");
		wti_json_array(&record->json);
		return push(record, event, MODULES, err);
	case WTI_BURN_BYTES:
		return bad(record, event, err, "bytes that belong to no tensor");
	case WTI_BURN_TEXT:
		return put_text(record, &record->json, event, err);
	default:
		put_scalar(&record->json, event);
		return 0;
	}
}

/* The first value of a map has come: what is the map? */
static int decide(struct wti_burn_record *record, struct frame *frame,
		  const struct wti_burn_event *event, struct wt_err *err)
{
	bool untyped = record->meta.minor <= WTI_BURN_LAST_UNTYPED;
	bool list = event->type == WTI_BURN_LIST;
	size_t begin;

	if (!strcmp(frame->key, "id") && event->type == WTI_BURN_TEXT) {
		if (record->now.id[0] || !wti_burn_id_valid(record->meta.minor, event->text, event->bytes))
			return bad(record, event, err, "a bad id of a parameter");
		frame->kind = PARAM;
		memcpy(record->now.id, event->text, event->bytes);
		record->path.bytes = frame->path_bytes;
		return 0;
	}
	if (!strcmp(frame->key, untyped ? "value" : "bytes") &&
	    (list || (!untyped && event->type == WTI_BURN_BYTES))) {
		frame->kind = TENSOR;
		record->path.bytes = frame->path_bytes;
		record->now.type = untyped ? wti_burn_dtype_untyped(&record->meta) : NULL;
		if (untyped && !record->now.type)
			return bad(record, event, err,
				   "elements of a type that is not supported before 0.14");
		return take_data(record, event, err);
	}
	frame->kind = MODULE;
	wti_json_object(&record->json);
	begin = frame->path_bytes + (frame->path_bytes ? 1 : 0);
	wti_json_key_n(&record->json, (const char *)record->path.data + begin,
		       record->path.bytes - begin);
	return take_value(record, event, err);
}

static int take_top(struct wti_burn_record *record, const struct frame *frame,
		    const struct wti_burn_event *event, struct wt_err *err)
{
	record->path.bytes = 0;
	if (frame->entries == 0 && !strcmp(frame->key, "metadata") && event->type == WTI_BURN_MAP)
		return push(record, event, META, err);
	if (frame->entries == 1 && !strcmp(frame->key, "item"))
		return take_value(record, event, err);
	if (frame->entries == 2 && !strcmp(frame->key, "_b")) {
		if (event->type == WTI_BURN_NIL)
			return 0;
		if (event->type == WTI_BURN_LIST)
			return push(record, event, NOTHING, err);
	}
	return bad(record, event, err, "not metadata, item and _b");
}

static int take_meta(struct wti_burn_record *record, const struct frame *frame,
		     const struct wti_burn_event *event, struct wt_err *err)
{
	if (frame->entries >= WTI_BURN_FIELDS || event->type != WTI_BURN_TEXT ||
	    event->bytes > WTI_BURN_TEXT_MAX || strcmp(frame->key, wti_burn_fields[frame->entries]))
		return bad(record, event, err, "unknown metadata");
	memcpy(record->meta.fields[frame->entries], event->text, event->bytes);
	return 0;
}

/* What a type has besides its name: kept as it is. */
static int take_dtype_inside(struct wti_burn_record *record, struct frame *frame,
			     const struct wti_burn_event *event, struct wt_err *err)
{
	struct wti_json *json = &record->dtype_json;

	if (frame->kind == DTYPE && frame->entries == 0)
		record->now.type = wti_burn_dtype_named(frame->key, strlen(frame->key));
	if (record->dtype.bytes > DTYPE_MAX)
		return bad(record, event, err, "a type that is too long");
	if (event->type == WTI_BURN_MAP || event->type == WTI_BURN_LIST) {
		if (event->type == WTI_BURN_MAP)
			wti_json_object(json);
		else
			wti_json_array(json);
		return push(record, event, DTYPE_INSIDE, err);
	}
	if (event->type == WTI_BURN_TEXT)
		wti_json_text_n(json, event->text, event->bytes);
	else
		put_scalar(json, event);
	return 0;
}

static int dispatch(struct wti_burn_record *record, struct frame *frame,
		    const struct wti_burn_event *event, struct wt_err *err)
{
	switch (frame->kind) {
	case TOP:
		return take_top(record, frame, event, err);
	case META:
		return take_meta(record, frame, event, err);
	case UNDECIDED:
		return decide(record, frame, event, err);
	case MODULES:
		set_index_path(record, frame);
		return take_value(record, event, err);
	case MODULE:
		return take_value(record, event, err);
	case PARAM:
		if (strcmp(frame->key, "param") || frame->entries != 1 ||
		    event->type != WTI_BURN_MAP)
			return bad(record, event, err, "a parameter that is not an id and a tensor");
		return push(record, event, UNDECIDED, err);
	case TENSOR:
		return take_tensor(record, frame, event, err);
	case BYTE_LIST:
	case NUMBER_LIST:
	case SHAPE:
		return take_element(record, frame, event, err);
	case DTYPE:
	case DTYPE_INSIDE:
		return take_dtype_inside(record, frame, event, err);
	case NOTHING:
		break;
	}
	return bad(record, event, err, "something where nothing should be");
}

/* ---- Keys and ends ------------------------------------------------------------------------- */

static int take_key(struct wti_burn_record *record, struct frame *frame,
		    const struct wti_burn_event *event, struct wt_err *err)
{
	if (event->type != WTI_BURN_TEXT || memchr(event->text, 0, event->bytes) ||
	    event->bytes > WTI_MODEL_NAME_MAX)
		return bad(record, event, err, "a key that is not a text");
	snprintf(frame->key, sizeof(frame->key), "%s", event->text);
	frame->has_key = true;
	if (frame->kind == MODULE || frame->kind == UNDECIDED)
		set_path(record, frame, event->text);
	if (frame->kind == MODULE)
		wti_json_key(&record->json, event->text);
	if (frame->kind == DTYPE || frame->kind == DTYPE_INSIDE)
		wti_json_key(&record->dtype_json, event->text);
	return wti_buf_status(&record->path) ? bad(record, event, err, "a name that is too long")
					     : 0;
}

static int end_dtype(struct wti_burn_record *record, const struct wti_burn_event *event,
		     struct wt_err *err)
{
	wti_json_object_end(&record->dtype_json);
	if (!record->now.type || wti_buf_status(&record->dtype))
		return bad(record, event, err, "an unknown type of elements");
	record->now.dtype_json =
		wti_arena_text(&record->arena, record->dtype.data, record->dtype.bytes);
	return record->now.dtype_json ? 0 : no_memory(err);
}

static int end_frame(struct wti_burn_record *record, const struct wti_burn_event *event,
		     struct wt_err *err)
{
	struct frame frame = *top_of(record);

	record->depth--;
	record->path.bytes = frame.path_bytes;
	switch (frame.kind) {
	case TOP:
		record->done = frame.entries == 3;
		return record->done ? 0 : bad(record, event, err, "not metadata, item and _b");
	case META:
		if (frame.entries != WTI_BURN_FIELDS)
			return bad(record, event, err, "metadata are missing");
		return wti_burn_meta_check(&record->meta, err);
	case UNDECIDED: /* a module without fields */
		wti_json_object(&record->json);
		wti_json_object_end(&record->json);
		return 0;
	case MODULE:
		wti_json_object_end(&record->json);
		return 0;
	case MODULES:
		wti_json_array_end(&record->json);
		return 0;
	case PARAM:
		return frame.entries == 2 && !record->now.id[0]
			       ? 0
			       : bad(record, event, err, "a parameter without a tensor");
	case TENSOR:
		return keep_tensor(record, event, err);
	case DTYPE:
		return end_dtype(record, event, err);
	case DTYPE_INSIDE:
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
	struct frame *frame = top_of(record);
	int r;

	if (record->done)
		return bad(record, event, err, "more than one document");
	if (!frame)
		return event->type == WTI_BURN_MAP ? push(record, event, TOP, err)
						   : bad(record, event, err, "no map");
	if (event->type == WTI_BURN_END)
		return frame->has_key ? bad(record, event, err, "a key without a value")
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
		return no_memory(err);
	record->model = model;
	record->source = source;
	wti_buf_init(&record->path, WTI_MODEL_NAME_MAX);
	wti_buf_init(&record->tree, RECORD_MAX);
	wti_buf_init(&record->dtype, 2 * DTYPE_MAX);
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

static int keep_dtype(struct wti_burn_record *record, const struct found *found, struct wt_err *err)
{
	struct wti_buf key;
	int r;

	if (!found->dtype_json)
		return 0;
	wti_buf_init(&key, WTI_MODEL_NAME_MAX + 16);
	wti_buf_text(&key, "burn.dtype.");
	wti_buf_text(&key, found->name);
	r = wti_buf_status(&key) ? no_memory(err)
				 : wti_model_add_entry(record->model, wti_buf_cstr(&key),
						       found->dtype_json, err);
	wti_buf_release(&key);
	return r;
}

static int add_found(struct wti_burn_record *record, const struct found *found, uint32_t unpacked,
		     struct wt_err *err)
{
	bool wide = element_bytes(found) != found->type->bytes;
	struct wti_model_tensor tensor = {.name = found->name[0] ? found->name : "item",
					  .dtype = wide ? WT_DTYPE_U32 : found->type->dtype,
					  .type = found->type->name,
					  .rank = found->rank,
					  .shape = found->kept_shape,
					  .bytes = found->bytes,
					  .source = found->is_unpacked ? unpacked : record->source,
					  .offset = found->at};
	int r = wti_model_add(record->model, &tensor, err);

	if (!r && found->id[0])
		r = wti_burn_id_keep(record->model, tensor.name, found->id, err);
	return r ? r : keep_dtype(record, found, err);
}

int wti_burn_record_end(struct wti_burn_record *record, struct wt_err *err)
{
	uint32_t unpacked = 0;
	int r = 0;

	if (!record->done || wti_buf_status(&record->tree))
		return wti_err(err, WT_E_FORMAT, "'%s' ends before its record does: it is truncated",
			       record->model->path);
	if (!record->found_count)
		return wti_err(err, WT_E_FORMAT, "'%s' is a Burn record without a parameter",
			       record->model->path);
	if (record->unpacked.bytes)
		r = wti_model_add_memory(record->model, &record->unpacked, &unpacked, err);
	if (!r)
		r = wti_burn_meta_keep(record->model, &record->meta, err);
	for (size_t i = 0; !r && i < record->found_count; i++)
		r = add_found(record, &record->found[i], unpacked, err);
	return r ? r
		 : wti_model_add_entry(record->model, "burn.record", wti_buf_cstr(&record->tree),
				       err);
}

/* ---- Ends of maps and lists that have a count ------------------------------------------------ */

static int close_full(struct wti_burn_nest *nest, uint64_t at, struct wt_err *err)
{
	struct wti_burn_event end = {.type = WTI_BURN_END, .at = at};
	int r = 0;

	while (!r && nest->depth && !nest->left[nest->depth - 1]) {
		r = nest->take(nest->self, &end, err);
		nest->depth--;
		if (nest->depth)
			nest->left[nest->depth - 1]--;
	}
	return r;
}

int wti_burn_nest_take(struct wti_burn_nest *nest, const struct wti_burn_event *event,
		       uint64_t entries, bool *ret_done, struct wt_err *err)
{
	int r = nest->take(nest->self, event, err);

	if (r)
		return r;
	if (event->type == WTI_BURN_MAP || event->type == WTI_BURN_LIST) {
		if (nest->depth == WTI_DOC_DEPTH_MAX)
			return wti_err_at(err, WT_E_FORMAT, (int64_t)event->at,
					  "nested too deeply at byte %llu",
					  (unsigned long long)event->at);
		nest->left[nest->depth++] = event->type == WTI_BURN_MAP ? 2 * entries : entries;
	} else if (nest->depth) {
		nest->left[nest->depth - 1]--;
	}
	r = close_full(nest, event->at, err);
	*ret_done = !nest->depth;
	return r;
}
