/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state dict as torch.save() writes it: tensors by name, flat. torch.load(weights_only=True)
 * of 1.13 and later reads it. What a file has besides tensors goes to an attribute of the
 * dictionary, where load_state_dict() does not look for parameters. Tensors that share their
 * elements still do.
 */
#include "model/torch/write.h"

#include <stdio.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/err.h"
#include "digest/digest.h"
#include "model/torch/pickle.h"
#include "model/zip_write.h"

/* The names of types: a storage where 1.13 has one, otherwise the type of elements. */
static const struct {
	uint32_t dtype;
	const char *storage;
	const char *type;
} types[] = {
	{WT_DTYPE_F32, "FloatStorage", NULL},
	{WT_DTYPE_F64, "DoubleStorage", NULL},
	{WT_DTYPE_F16, "HalfStorage", NULL},
	{WT_DTYPE_BF16, "BFloat16Storage", NULL},
	{WT_DTYPE_I64, "LongStorage", NULL},
	{WT_DTYPE_I32, "IntStorage", NULL},
	{WT_DTYPE_I16, "ShortStorage", NULL},
	{WT_DTYPE_I8, "CharStorage", NULL},
	{WT_DTYPE_U8, "ByteStorage", NULL},
	{WT_DTYPE_BOOL, "BoolStorage", NULL},
	{WT_DTYPE_C64, "ComplexFloatStorage", NULL},
	{WT_DTYPE_C128, "ComplexDoubleStorage", NULL},
	{WT_DTYPE_U16, NULL, "uint16"},
	{WT_DTYPE_U32, NULL, "uint32"},
	{WT_DTYPE_U64, NULL, "uint64"},
	{WT_DTYPE_C32, NULL, "complex32"},
	{WT_DTYPE_F8E4M3, NULL, "float8_e4m3fn"},
	{WT_DTYPE_F8E5M2, NULL, "float8_e5m2"},
	{WT_DTYPE_F8E4M3FNUZ, NULL, "float8_e4m3fnuz"},
	{WT_DTYPE_F8E5M2FNUZ, NULL, "float8_e5m2fnuz"},
	{WT_DTYPE_F8E8M0, NULL, "float8_e8m0fnu"},
};

static size_t find_type(uint32_t dtype)
{
	size_t i = 0;

	while (i < WTI_COUNT(types) && types[i].dtype != dtype)
		i++;
	return i;
}

/* ---- Pickle, protocol 2 --------------------------------------------------------------------- */

static void put_text(struct wti_buf *out, const char *text)
{
	uint8_t length[4];

	wti_put32(length, (uint32_t)strlen(text));
	wti_buf_byte(out, 'X');
	wti_buf_append(out, length, sizeof(length));
	wti_buf_text(out, text);
}

static void put_number(struct wti_buf *out, uint64_t number)
{
	uint8_t bytes[9] = {0};

	wti_put64(bytes, number);
	if (number <= INT32_MAX) {
		wti_buf_byte(out, 'J');
		wti_buf_append(out, bytes, 4);
	} else {
		wti_buf_append(out, "\x8a\x09", 2); /* with a byte for the sign */
		wti_buf_append(out, bytes, 9);
	}
}

static void put_shape(struct wti_buf *out, const struct wti_model_tensor *tensor)
{
	uint64_t step = 1;

	wti_buf_byte(out, '(');
	for (uint32_t i = 0; i < tensor->rank; i++)
		put_number(out, tensor->shape[i]);
	wti_buf_text(out, "t(");
	for (uint32_t i = 0; i < tensor->rank; i++) {
		step = 1;
		for (uint32_t j = i + 1; j < tensor->rank; j++)
			step *= tensor->shape[j] ? tensor->shape[j] : 1;
		put_number(out, step);
	}
	wti_buf_byte(out, 't');
}

static void put_tensor(struct wti_buf *out, const struct wti_model_tensor *tensor, size_t key)
{
	size_t type = find_type(tensor->dtype);
	const char *storage = types[type].storage;
	char text[32];

	snprintf(text, sizeof(text), "%zu", key);
	wti_buf_printf(out, "ctorch._utils\n_rebuild_tensor_v%d\n((", storage ? 2 : 3);
	put_text(out, "storage");
	wti_buf_printf(out, "ctorch%s\n%s\n", storage ? "" : ".storage",
		       storage ? storage : "UntypedStorage");
	put_text(out, text);
	put_text(out, "cpu");
	put_number(out, storage ? tensor->count : tensor->bytes);
	wti_buf_text(out, "tQ");
	put_number(out, 0);
	put_shape(out, tensor);
	wti_buf_byte(out, 0x89); /* requires no gradient */
	wti_buf_text(out, "ccollections\nOrderedDict\n)R");
	if (!storage)
		wti_buf_printf(out, "ctorch\n%s\n", types[type].type);
	wti_buf_text(out, "tR");
}

/* As the state of the dictionary. */
static void put_entries(struct wti_buf *out, const struct wti_model *model)
{
	if (!model->entry_count)
		return;
	wti_buf_text(out, "}");
	put_text(out, "wheeltap_entries");
	wti_buf_text(out, "}(");
	for (size_t i = 0; i < model->entry_count; i++) {
		put_text(out, model->entries[i].key);
		put_text(out, model->entries[i].value);
	}
	wti_buf_text(out, "usb");
}

/* ---- Storages ------------------------------------------------------------------------------- */

/* Where a tensor's elements lie, to find others that are the same. */
struct place {
	uint64_t source, offset, count, dtype, first_extent, first_stride;
};

/* The number of its storage: that of an earlier tensor with the same elements, or the next. */
static int number_storages(const struct wti_model *model, struct wti_map *places, size_t *keys,
			   struct wt_err *err)
{
	size_t next = 0;

	for (size_t i = 0; i < model->tensor_count; i++) {
		const struct wti_model_tensor *tensor = &model->tensors[i];
		struct place place = {tensor->source,
				      tensor->offset,
				      tensor->count,
				      tensor->dtype,
				      tensor->strides ? tensor->shape[0] : 0,
				      tensor->strides ? (uint64_t)tensor->strides[0] : 0};
		uint64_t *key;

		/* With strides the same begin may be another view: those are written apart. */
		if (tensor->strides)
			place.count = UINT64_MAX - i;
		key = wti_map_text(places, (const char *)&place, sizeof(place));
		if (!key)
			return wti_map_failed(places, err, "tensors");
		if (!*key)
			*key = ++next;
		keys[i] = (size_t)*key - 1;
	}
	return 0;
}

static int write_storages(struct wti_zip_writer *writer, struct wti_model *model,
			  const size_t *keys, struct wt_err *err)
{
	size_t next = 0;
	char name[64];

	for (size_t i = 0; i < model->tensor_count; i++) {
		int r;

		if (keys[i] != next)
			continue;
		snprintf(name, sizeof(name), "archive/data/%zu", next++);
		r = wti_zip_put_tensor(writer, name, NULL, model, &model->tensors[i], err);
		if (r)
			return r;
	}
	return 0;
}

static int write_pickle(struct wti_zip_writer *writer, const struct wti_model *model,
			const size_t *keys, struct wt_err *err)
{
	struct wti_buf out;
	int r;

	wti_buf_init(&out, WTI_PICKLE_BYTES_MAX);
	wti_buf_append(&out, "\x80\x02", 2);
	wti_buf_text(&out, "ccollections\nOrderedDict\n)R(");
	for (size_t i = 0; i < model->tensor_count; i++) {
		put_text(&out, model->tensors[i].name);
		put_tensor(&out, &model->tensors[i], keys[i]);
	}
	wti_buf_byte(&out, 'u');
	put_entries(&out, model);
	wti_buf_byte(&out, '.');
	r = wti_buf_status(&out)
		    ? wti_err(err, wti_buf_status(&out), "'%s' has too many names for a pickle",
			      model->path)
		    : wti_zip_put(writer, "archive/data.pkl", out.data, out.bytes, err);
	wti_buf_release(&out);
	return r;
}

static int write_all(struct wti_zip_writer *writer, struct wti_model *model, size_t *keys,
		     struct wt_err *err)
{
	struct wti_map places;
	int r;

	wti_map_init(&places, WTI_MODEL_TENSORS_MAX);
	r = number_storages(model, &places, keys, err);
	wti_map_release(&places);
	r = r ? r : write_pickle(writer, model, keys, err);
	r = r ? r : wti_zip_put(writer, "archive/byteorder", "little", 6, err);
	r = r ? r : write_storages(writer, model, keys, err);
	r = r ? r : wti_zip_put(writer, "archive/version", "3\n", 2, err);
	return r ? r : wti_zip_finish(writer, err);
}

int wti_torch_write(struct wti_model *model, int fd, struct wt_err *err)
{
	struct wti_zip_writer writer;
	size_t *keys;
	int r;

	for (size_t i = 0; i < model->tensor_count; i++)
		if (find_type(model->tensors[i].dtype) == WTI_COUNT(types))
			return wti_err(err, WT_E_ARG,
				       "PyTorch has no type for tensor '%.200s' (%s): convert it "
				       "before, or leave it out",
				       model->tensors[i].name, model->tensors[i].type);
	keys = wti_arena_alloc(&model->arena, (model->tensor_count + 1) * sizeof(*keys));
	if (!keys)
		return wti_err(err, model->arena.status, "out of memory");
	wti_zip_writer_init(&writer, fd);
	r = write_all(&writer, model, keys, err);
	wti_zip_writer_release(&writer);
	return r;
}
