/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which bytes of a content an operation has written, and what its elements are. */
#include "pass_compare.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"
#include "store.h"

const char *wti_replay_pass_type(struct wti_replay_session *session, uint32_t op, uint32_t object)
{
	const struct wti_replay_plan *plan = session->plan;

	for (uint32_t i = op + 1; i-- > 0;) {
		const struct wti_replay_plan_op *about = &plan->ops[i];
		const struct wti_replay_plan_access *code =
			about->call == WTI_CALL_KERNEL && !about->refusal
				? wti_replay_plan_access(plan, about, WT_ACCESS_MODE_CODE, false)
				: NULL;

		for (uint32_t k = 0; code && k < about->access_count; k++) {
			const struct wti_replay_plan_access *access =
				&plan->accesses[about->access_first + k];

			if (access->object == object && access->argument >= 0 &&
			    access->mode != WT_ACCESS_MODE_VALUE)
				return wti_replay_session_argument_type(session, code->object,
									access->argument);
		}
	}
	return "";
}

/* Rows that were written, of so many bytes each: linear unless it is a rectangle or an image. */
struct rows {
	size_t region[3]; /* bytes, rows, slices */
	uint64_t offset, row, slice;
};

static size_t element_of(const struct wti_replay_session *session,
			 const struct wti_replay_plan_op *op)
{
	const struct wti_replay_plan_access *from =
		wti_replay_plan_access(session->plan, op, WT_ACCESS_MODE_READ, false);
	size_t region[3], element = 0;

	wti_replay_session_extents(session, from->object, region, &element);
	return element;
}

static struct rows rows_of(struct wti_replay_session *session, const struct wti_replay_plan_op *op,
			   uint64_t bytes)
{
	const struct wti_replay_plan_access *value =
		wti_replay_plan_access(session->plan, op, WT_ACCESS_MODE_VALUE, true);
	struct rows rows = {{bytes, 1, 1}, 0, bytes, bytes};
	uint64_t n[13];

	if (!value || value->value_bytes > sizeof(n))
		return rows;
	memcpy(n, value->value, value->value_bytes);
	if (op->call == WTI_CALL_READ_RECT && value->value_bytes == sizeof(n))
		rows = (struct rows){
			{n[6], n[7], n[8]}, n[3] + n[4] * n[11] + n[5] * n[12], n[11], n[12]};
	if (op->call == WTI_CALL_READ_IMAGE && value->value_bytes == 88 && n[9])
		rows = (struct rows){{n[6] * element_of(session, op), n[7], n[8]},
				     0,
				     n[9],
				     n[10] ? n[10] : n[9] * n[7]};
	return rows;
}

/* The bytes that count, one after the other; NULL: out of memory, or they are not within. */
static uint8_t *pack(const struct rows *rows, const uint8_t *data, uint64_t bytes,
		     uint64_t *ret_bytes)
{
	uint64_t all = wti_replay_session_box_bytes(rows->region, 1, 0, 0);
	uint64_t box = wti_replay_session_box_bytes(rows->region, 1, rows->row, rows->slice);
	uint8_t *packed, *at;

	if (!all || all > bytes || !box || box > bytes || rows->offset > bytes - box)
		return NULL;
	packed = at = malloc(all);
	for (size_t z = 0; packed && z < rows->region[2]; z++)
		for (size_t y = 0; y < rows->region[1]; y++, at += rows->region[0])
			memcpy(at, data + rows->offset + y * rows->row + z * rows->slice,
			       rows->region[0]);
	*ret_bytes = all;
	return packed;
}

/* The memory that a read took its bytes from. */
static uint32_t source_of(const struct wti_replay_plan *plan, uint32_t op, uint32_t object)
{
	const struct wti_replay_plan_access *from =
		wti_replay_plan_access(plan, &plan->ops[op], WT_ACCESS_MODE_READ, false);

	return object == WTI_PLAN_NONE && from ? from->object : object;
}

static enum wti_replay_recorded compare_rows(struct wti_replay_session *session, uint32_t op,
					     const struct wti_replay_pass_content *content,
					     const struct wti_buf *recorded, const char **ret_type,
					     struct wti_replay_difference *ret_difference)
{
	const struct wti_replay_plan *plan = session->plan;
	const struct rows rows = rows_of(session, &plan->ops[op], content->bytes);
	uint32_t object = source_of(plan, op, content->object);
	uint64_t bytes = 0;
	uint8_t *left = pack(&rows, recorded->data, content->bytes, &bytes);
	uint8_t *right = pack(&rows, content->data, content->bytes, &bytes);
	enum wti_replay_recorded result = WTI_RECORDED_NOTHING;

	*ret_type = "";
	if (left && right && memcmp(left, right, bytes) && object != WTI_PLAN_NONE)
		*ret_type = wti_replay_pass_type(session, op, object);
	if (left && right)
		result = wti_replay_difference(left, right, bytes, wti_replay_element_of(*ret_type),
					       ret_difference)
				 ? WTI_RECORDED_DIFFERS
				 : WTI_RECORDED_SAME;
	free(left);
	free(right);
	return result;
}

enum wti_replay_recorded wti_replay_pass_compare(struct wti_replay_session *session, uint32_t op,
						 const struct wti_replay_pass_content *content,
						 const char **ret_type,
						 struct wti_replay_difference *ret_difference)
{
	enum wti_replay_recorded result;
	struct wti_buf recorded;

	wti_buf_init(&recorded, SIZE_MAX);
	if (wti_replay_store_read(session->store, content->hash, content->bytes, &recorded))
		result = WTI_RECORDED_NOTHING;
	else
		result = compare_rows(session, op, content, &recorded, ret_type, ret_difference);
	wti_buf_release(&recorded);
	return result;
}

const char *wti_replay_pass_restore(struct wti_replay_session *session,
				    const struct wti_replay_plan_access *access)
{
	struct wti_buf content;
	const char *why;
	void *handle;

	wti_buf_init(&content, SIZE_MAX);
	why = wti_replay_session_object(session, access->object, &handle);
	why = why ? why
		  : wti_replay_store_read(session->store, access->hash, access->bytes, &content);
	if (!why && access->bytes != wti_replay_session_bytes(session, access->object))
		why = "the content that was recorded is not all of it";
	why = why ? why : wti_replay_session_put(session, access->object, content.data);
	wti_buf_release(&content);
	return why;
}
