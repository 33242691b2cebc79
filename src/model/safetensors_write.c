/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing safetensors as the reference library does, to the byte: tensors by type, the widest
 * first, then by name, the header filled up with spaces to 8 bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/map.h"
#include "model/safetensors.h"
#include "model/write.h"

struct placed {
	const struct wti_model_tensor *tensor;
	const struct wti_safetensors_type *type;
};

static int by_type_and_name(const void *a, const void *b)
{
	const struct placed *one = a, *other = b;

	if (one->type != other->type) /* the rows are in the order of that library */
		return one->type > other->type ? -1 : 1;
	return strcmp(one->tensor->name, other->tensor->name);
}

static int place_all(const struct wti_model *model, struct placed *placed, struct wt_err *err)
{
	for (size_t i = 0; i < model->tensor_count; i++) {
		placed[i].tensor = &model->tensors[i];
		placed[i].type = wti_safetensors_type_of(&model->tensors[i]);
		if (!placed[i].type)
			return wti_err(err, WT_E_ARG,
				       "safetensors has no type for tensor '%.200s' (%s): convert "
				       "it before, or leave it out",
				       model->tensors[i].name, model->tensors[i].type);
		if (!strcmp(model->tensors[i].name, "__metadata__"))
			return wti_err(err, WT_E_ARG,
				       "no tensor of safetensors may be called '__metadata__'");
	}
	if (model->tensor_count)
		qsort(placed, model->tensor_count, sizeof(*placed), by_type_and_name);
	return 0;
}

static void put_tensor(struct wti_json *json, const struct placed *placed, uint64_t *offset)
{
	const struct wti_model_tensor *tensor = placed->tensor;

	wti_json_key(json, tensor->name);
	wti_json_object(json);
	wti_json_key(json, "dtype");
	wti_json_text(json, placed->type->word);
	wti_json_key(json, "shape");
	wti_json_array(json);
	for (uint32_t i = 0; i < tensor->rank; i++)
		wti_json_u64(json, tensor->shape[i]);
	wti_json_array_end(json);
	wti_json_key(json, "data_offsets");
	wti_json_array(json);
	wti_json_u64(json, *offset);
	*offset += tensor->bytes;
	wti_json_u64(json, *offset);
	wti_json_array_end(json);
	wti_json_object_end(json);
}

/* Keys are unique there, so of several entries of a key the first is written. */
static bool is_first(struct wti_map *written, const char *key)
{
	uint64_t *slot = wti_map_text(written, key, strlen(key));

	return slot && !(*slot)++;
}

static int put_metadata(struct wti_json *json, const struct wti_model *model)
{
	struct wti_map written;
	bool failed;

	if (!model->entry_count)
		return 0;
	wti_map_init(&written, WTI_NO_CEILING);
	wti_json_key(json, "__metadata__");
	wti_json_object(json);
	for (size_t i = 0; i < model->entry_count; i++) {
		if (!is_first(&written, model->entries[i].key))
			continue;
		wti_json_key(json, model->entries[i].key);
		wti_json_text(json, model->entries[i].value);
	}
	wti_json_object_end(json);
	failed = written.failed;
	wti_map_release(&written);
	return failed ? WT_E_NOMEM : 0;
}

static int write_header(const struct wti_model *model, const struct placed *placed, int fd,
			struct wt_err *err)
{
	struct wti_buf header;
	struct wti_json json;
	uint64_t offset = 0;
	uint8_t length[8] = {0};
	int r;

	wti_buf_init(&header, WTI_MODEL_HEADER_MAX + sizeof(length));
	wti_buf_append(&header, length, sizeof(length));
	wti_json_init(&json, &header, false);
	wti_json_object(&json);
	r = put_metadata(&json, model);
	for (size_t i = 0; i < model->tensor_count; i++)
		put_tensor(&json, &placed[i], &offset);
	wti_json_object_end(&json);
	while (header.bytes % 8 && !wti_buf_status(&header))
		wti_buf_byte(&header, ' ');
	r = r ? r : wti_buf_status(&header);
	if (r) {
		wti_buf_release(&header);
		return wti_err(err, r, "the header of '%s' would be too large for safetensors",
			       model->path);
	}
	wti_put64(header.data, header.bytes - sizeof(length));
	r = wti_model_put(fd, header.data, header.bytes, err);
	wti_buf_release(&header);
	return r;
}

int wti_safetensors_write(struct wti_model *model, int fd, struct wt_err *err)
{
	struct placed *placed = calloc(model->tensor_count + 1, sizeof(*placed));
	int r;

	if (!placed)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	r = place_all(model, placed, err);
	r = r ? r : write_header(model, placed, fd, err);
	for (size_t i = 0; i < model->tensor_count && !r; i++)
		r = wti_model_put_tensor(model, placed[i].tensor, fd, err);
	free(placed);
	return r;
}
