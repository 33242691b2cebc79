/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are saved and loaded: a call with its path, and a value for each tensor and number in
 * the file, as agents of frameworks emit it.
 */
#include "client.h"

#include <string.h>

#include "common/text.h"
#include "emit.h"

enum {
	CONTENT = 0,   /* position of what is saved */
	PATH = 1,      /* and of where */
	RETURNED = -1, /* of what is loaded */
};

static struct wt_name *callee_of(bool is_load)
{
	return is_load ? WT_NAME("wt_load") : WT_NAME("wt_save");
}

static void emit_path(struct wti_here here, uint32_t call, const char *path)
{
	struct wti_record_argument argument = {.call = call,
					       .position = PATH,
					       .name = wti_name(here, WT_NAME("path")),
					       .type = WT_VALUE_TYPE_TEXT};
	struct wti_kept_text kept;

	wti_keep_text(&kept, path);
	wti_emit_argument(here, &argument, &kept);
}

static struct wt_transfer begin(const char *path, bool is_load)
{
	const struct wti_here here = wti_here();
	struct wti_record_call_begin record;

	if (!here.ring)
		return (struct wt_transfer){.is_load = is_load};
	record = (struct wti_record_call_begin){
		.callee = wti_name(here, callee_of(is_load)),
		.module = wti_name(here, WT_NAME("wheeltap")),
		.action = is_load ? WT_ACTION_LOAD : WT_ACTION_SAVE,
	};
	if (!wti_emit_call_begin(here, &record))
		return (struct wt_transfer){.is_load = is_load};
	if (path)
		emit_path(here, record.record.seq, path);
	return (struct wt_transfer){
		.call = record.record.seq, .is_load = is_load, .is_recorded = true};
}

struct wt_transfer wt_save_begin(const char *path)
{
	return begin(path, false);
}

struct wt_transfer wt_load_begin(const char *path)
{
	return begin(path, true);
}

bool wt_transfer_tensor(const struct wt_transfer *transfer, struct wt_name *name, const void *data,
			uint32_t dtype, uint32_t rank, const size_t *extents)
{
	const struct wti_client_tensor tensor = {.name = name,
						 .data = data,
						 .dtype = dtype,
						 .rank = rank,
						 .extents = extents,
						 .call = transfer->call,
						 .position =
							 transfer->is_load ? RETURNED : CONTENT};

	return transfer->is_recorded && wti_client_tensor_emit(&tensor);
}

bool wt_transfer_int(const struct wt_transfer *transfer, struct wt_name *name, int64_t value)
{
	const struct wti_here here = wti_here();
	struct wti_record_argument argument;

	if (!here.ring || !transfer->is_recorded)
		return false;
	argument = (struct wti_record_argument){.call = transfer->call,
						.position = transfer->is_load ? RETURNED : CONTENT,
						.name = wti_name(here, name),
						.type = WT_VALUE_TYPE_INT,
						.value = (uint64_t)value};
	return wti_emit_argument(here, &argument, NULL);
}

bool wt_transfer_end(struct wt_transfer *transfer, bool succeeded)
{
	const struct wti_here here = wti_here();
	struct wti_record_call_end record;

	if (!here.ring || !transfer->is_recorded)
		return false;
	transfer->is_recorded = false;
	record = (struct wti_record_call_end){
		.callee = wti_name(here, callee_of(transfer->is_load)),
		.exception = succeeded ? 0 : wti_name(here, WT_NAME("failed")),
	};
	return wti_emit_call_end(here, &record);
}
