/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors of a Burn record with names: elements, shape and type, which come one after the
 * other. */
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/err.h"
#include "base/grow.h"
#include "model/burn/frames.h"

static unsigned element_bytes(const struct wti_burn_found *found)
{
	bool wide = found->dtype_json && strstr(found->dtype_json, "\"U32\"");

	return found->type->dtype == WT_DTYPE_BOOL && wide ? 4 : found->type->bytes;
}

static bool fits(const struct wti_burn_found *found)
{
	uint64_t bytes = element_bytes(found);

	for (uint32_t i = 0; i < found->rank; i++) {
		if (__builtin_mul_overflow(bytes, found->shape[i], &bytes))
			return false;
	}
	return !found->type->bytes || bytes == found->bytes;
}

/* The tensor's map has ended: everything about it is known. */
int wti_burn_keep_tensor(struct wti_burn_record *record, const struct wti_burn_event *event,
			 struct wt_err *err)
{
	struct wti_burn_found *now = &record->now;

	if (!now->has_data || !now->has_shape || !now->type)
		return wti_burn_bad(record, event, err, "a tensor without elements, shape or type");
	if (!fits(now))
		return wti_burn_bad(record, event, err,
				    "a tensor whose elements do not fit its shape");
	if (wti_grow(&record->found, record->found_count + 1, &record->found_capacity,
		     WTI_MODEL_TENSORS_MAX))
		return wti_err(err, WT_E_LIMIT, "'%s' has too many tensors", record->model->path);
	now->name = wti_arena_text(&record->arena, record->path.data, record->path.bytes);
	now->kept_shape = wti_arena_alloc(&record->arena, sizeof(uint64_t) * (now->rank + 1));
	if (!now->name || !now->kept_shape)
		return wti_burn_no_memory(err);
	memcpy(now->kept_shape, now->shape, sizeof(uint64_t) * now->rank);
	record->found[record->found_count++] = *now;
	wti_json_text(&record->json, now->id[0] ? "@" : "#");
	memset(now, 0, sizeof(*now));
	return 0;
}

int wti_burn_take_data(struct wti_burn_record *record, const struct wti_burn_event *event,
		       struct wt_err *err)
{
	struct wti_burn_found *now = &record->now;

	now->has_data = true;
	if (event->type == WTI_BURN_BYTES) {
		now->at = event->at;
		now->bytes = event->number;
		return 0;
	}
	now->is_unpacked = true;
	now->at = record->unpacked.bytes;
	return wti_burn_push(record, event,
			     record->now.type ? WTI_FRAME_NUMBER_LIST : WTI_FRAME_BYTE_LIST, err);
}

static int take_dtype(struct wti_burn_record *record, const struct wti_burn_event *event,
		      struct wt_err *err)
{
	if (event->type == WTI_BURN_MAP) {
		wti_buf_clear(&record->dtype);
		wti_json_init(&record->dtype_json, &record->dtype, false);
		wti_json_object(&record->dtype_json);
		return wti_burn_push(record, event, WTI_FRAME_DTYPE, err);
	}
	if (event->type == WTI_BURN_TEXT)
		record->now.type = wti_burn_dtype_named(event->text, event->bytes);
	return record->now.type ? 0
				: wti_burn_bad(record, event, err, "an unknown type of elements");
}

int wti_burn_take_tensor(struct wti_burn_record *record, struct wti_burn_frame *frame,
			 const struct wti_burn_event *event, struct wt_err *err)
{
	bool untyped = record->meta.minor <= WTI_BURN_LAST_UNTYPED;

	if (!strcmp(frame->key, "shape") && frame->entries == 1 && event->type == WTI_BURN_LIST) {
		record->now.has_shape = true;
		return wti_burn_push(record, event, WTI_FRAME_SHAPE, err);
	}
	if (!strcmp(frame->key, "dtype") && frame->entries == 2 && !untyped)
		return take_dtype(record, event, err);
	return wti_burn_bad(record, event, err, "an unknown field of a tensor");
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
int wti_burn_take_element(struct wti_burn_record *record, const struct wti_burn_frame *frame,
			  const struct wti_burn_event *event, struct wt_err *err)
{
	struct wti_burn_found *now = &record->now;
	bool count = event->type == WTI_BURN_COUNT;

	if (frame->kind == WTI_FRAME_SHAPE) {
		if (!count || now->rank == WTI_MODEL_RANK_MAX)
			return wti_burn_bad(record, event, err, "a bad shape");
		now->shape[now->rank++] = event->number;
		return 0;
	}
	if (frame->kind == WTI_FRAME_BYTE_LIST) {
		if (!count || event->number > UINT8_MAX)
			return wti_burn_bad(record, event, err, "something that is not a byte");
		wti_buf_byte(&record->unpacked, (uint8_t)event->number);
	} else {
		if (!count && event->type != WTI_BURN_F32 && event->type != WTI_BURN_F64 &&
		    event->type != WTI_BURN_NEGATIVE)
			return wti_burn_bad(record, event, err, "an element that is not a number");
		put_number(record, event);
	}
	now->bytes = record->unpacked.bytes - now->at;
	return wti_buf_status(&record->unpacked)
		       ? wti_err(err, wti_buf_status(&record->unpacked),
				 "'%s' is too large to be unpacked", record->model->path)
		       : 0;
}

/* What a type has besides its name: kept as it is. */
int wti_burn_take_dtype_inside(struct wti_burn_record *record, struct wti_burn_frame *frame,
			       const struct wti_burn_event *event, struct wt_err *err)
{
	struct wti_json *json = &record->dtype_json;

	if (frame->kind == WTI_FRAME_DTYPE && frame->entries == 0)
		record->now.type = wti_burn_dtype_named(frame->key, strlen(frame->key));
	if (record->dtype.bytes > WTI_BURN_DTYPE_MAX)
		return wti_burn_bad(record, event, err, "a type that is too long");
	if (event->type == WTI_BURN_MAP || event->type == WTI_BURN_LIST) {
		if (event->type == WTI_BURN_MAP)
			wti_json_object(json);
		else
			wti_json_array(json);
		return wti_burn_push(record, event, WTI_FRAME_DTYPE_INSIDE, err);
	}
	if (event->type == WTI_BURN_TEXT)
		wti_json_text_n(json, event->text, event->bytes);
	else
		wti_burn_put_scalar(json, event);
	return 0;
}

int wti_burn_end_dtype(struct wti_burn_record *record, const struct wti_burn_event *event,
		       struct wt_err *err)
{
	wti_json_object_end(&record->dtype_json);
	if (!record->now.type || wti_buf_status(&record->dtype))
		return wti_burn_bad(record, event, err, "an unknown type of elements");
	record->now.dtype_json =
		wti_arena_text(&record->arena, record->dtype.data, record->dtype.bytes);
	return record->now.dtype_json ? 0 : wti_burn_no_memory(err);
}

/* ---- All of them, at the end -------------------------------------------------------------- */

static int keep_dtype(struct wti_burn_record *record, const struct wti_burn_found *found,
		      struct wt_err *err)
{
	struct wti_buf key;
	int r;

	if (!found->dtype_json)
		return 0;
	wti_buf_init(&key, WTI_MODEL_NAME_MAX + 16);
	wti_buf_text(&key, "burn.dtype.");
	wti_buf_text(&key, found->name);
	r = wti_buf_status(&key) ? wti_burn_no_memory(err)
				 : wti_model_add_entry(record->model, wti_buf_cstr(&key),
						       found->dtype_json, err);
	wti_buf_release(&key);
	return r;
}

int wti_burn_add_found(struct wti_burn_record *record, const struct wti_burn_found *found,
		       uint32_t unpacked, struct wt_err *err)
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
