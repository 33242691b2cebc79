/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of numpy: one in a file (.npy), or several in a zip file (.npz). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/text.h"
#include "digest/digest.h"
#include "model/npy_header.h"
#include "model/write.h"
#include "model/zip.h"
#include "model/zip_write.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6u
#define HEADER_MAX 65536u    /* numpy's own limit is less */
#define HEADER_ALIGNMENT 64u /* of what we write, as numpy does */
#define ARRAY_NAME "array"   /* of the one that has no name */
#define TEXT_BYTES 4u        /* of a character of type U */

/* ---- Types ---------------------------------------------------------------------------------- */

static const struct {
	const char *word;
	uint32_t dtype;
} types[] = {
	{"b1", WT_DTYPE_BOOL}, {"u1", WT_DTYPE_U8},    {"i1", WT_DTYPE_I8},  {"u2", WT_DTYPE_U16},
	{"i2", WT_DTYPE_I16},  {"u4", WT_DTYPE_U32},   {"i4", WT_DTYPE_I32}, {"u8", WT_DTYPE_U64},
	{"i8", WT_DTYPE_I64},  {"f2", WT_DTYPE_F16},   {"f4", WT_DTYPE_F32}, {"f8", WT_DTYPE_F64},
	{"c8", WT_DTYPE_C64},  {"c16", WT_DTYPE_C128},
};

static uint32_t dtype_of(const char *word)
{
	for (size_t i = 0; i < WTI_COUNT(types); i++) {
		if (!strcmp(types[i].word, word))
			return types[i].dtype;
	}
	return WT_DTYPE_OTHER;
}

/* Bytes of an element that is no number for us: text, raw bytes, long doubles. 0: it has none. */
static uint64_t bytes_of(const char *word)
{
	uint64_t number;

	if (!*word || !strchr("SaUVfcMm", *word) || !wti_parse_u64(word + 1, &number) ||
	    number > UINT32_MAX)
		return 0;
	return *word == 'U' ? number * TEXT_BYTES : number;
}

/* ---- One array ------------------------------------------------------------------------------ */

static void set_strides(const struct wti_npy_header *header, int64_t *strides)
{
	int64_t stride = 1;

	for (uint32_t i = 0; i < header->rank; i++) {
		strides[i] = stride;
		if (__builtin_mul_overflow(stride, (int64_t)header->shape[i], &stride))
			stride = INT64_MAX;
	}
}

static uint64_t product(const struct wti_npy_header *header, uint64_t first)
{
	for (uint32_t i = 0; i < header->rank; i++) {
		if (__builtin_mul_overflow(first, header->shape[i], &first))
			return UINT64_MAX;
	}
	return first;
}

static int add_array(struct wti_model *model, const struct wti_npy_header *header,
		     struct wti_model_tensor *tensor, uint64_t left, struct wt_err *err)
{
	int64_t strides[WTI_MODEL_RANK_MAX];
	const char *word = header->descr + 1;
	uint64_t item;

	if (!*header->descr || !strchr("<>|=", *header->descr))
		return wti_model_bad(model, tensor->source, tensor->offset, err,
				     "array '%.100s' has the unknown type '%s'", tensor->name,
				     header->descr);
	if (*word == 'O')
		return wti_model_bad(model, tensor->source, tensor->offset, err,
				     "array '%.100s' has Python objects, which only executing them "
				     "could read: refused",
				     tensor->name);
	tensor->dtype = dtype_of(word);
	tensor->type = header->descr;
	tensor->rank = header->rank;
	tensor->shape = header->shape;
	tensor->is_big_endian = *header->descr == '>';
	item = tensor->dtype == WT_DTYPE_OTHER ? bytes_of(word) : wti_dtype_bytes(tensor->dtype);
	if (!item)
		return wti_model_bad(model, tensor->source, tensor->offset, err,
				     "array '%.100s' has the unknown type '%s'", tensor->name,
				     header->descr);
	tensor->bytes = product(header, item);
	if (tensor->bytes != left)
		return wti_model_bad(
			model, tensor->source, tensor->offset, err,
			"array '%.100s' has %llu bytes of elements; its shape and type "
			"ask for %llu",
			tensor->name, (unsigned long long)left, (unsigned long long)tensor->bytes);
	if (header->is_fortran && header->rank > 1 && tensor->dtype != WT_DTYPE_OTHER) {
		set_strides(header, strides);
		tensor->strides = strides;
	} else if (header->is_fortran && header->rank > 1) {
		return wti_model_bad(model, tensor->source, tensor->offset, err,
				     "array '%.100s' of type '%s' is in Fortran order, which is "
				     "read of numbers only",
				     tensor->name, header->descr);
	}
	return wti_model_add(model, tensor, err);
}

/* How long the header is, and where it begins. */
static int read_start(struct wti_model *model, uint32_t source, uint64_t offset, uint64_t bytes,
		      uint64_t *ret_text, uint64_t *ret_bytes, struct wt_err *err)
{
	uint8_t start[12] = {0};
	uint64_t some = bytes < sizeof(start) ? bytes : sizeof(start);
	int r = wti_model_read(model, source, offset, start, (size_t)some, err);
	bool is_first = start[6] == 1;

	if (r)
		return r;
	if (memcmp(start, MAGIC, MAGIC_BYTES) != 0 || start[6] < 1 || start[6] > 3 || start[7])
		return wti_model_bad(model, source, offset, err,
				     "not an array of numpy, or of a version that is not known");
	*ret_text = is_first ? 10 : 12;
	*ret_bytes = is_first ? wti_get16(start + 8) : wti_get32(start + 8);
	if (*ret_bytes > HEADER_MAX || *ret_text > bytes || *ret_bytes > bytes - *ret_text)
		return wti_model_bad(model, source, offset, err,
				     "the header of the array is too long, or the file was cut");
	return 0;
}

int wti_npy_add(struct wti_model *model, uint32_t source, uint64_t offset, uint64_t bytes,
		const char *name, struct wt_err *err)
{
	struct wti_model_tensor tensor = {.name = name, .source = source};
	struct wti_npy_header header;
	uint64_t text_at = 0, text_bytes = 0;
	const char *wrong;
	struct wti_buf text;
	int r = read_start(model, source, offset, bytes, &text_at, &text_bytes, err);

	if (r)
		return r;
	wti_buf_init(&text, HEADER_MAX);
	r = wti_model_read_buf(model, source, offset + text_at, text_bytes, &text, err);
	wrong = r ? NULL : wti_npy_parse((const char *)text.data, text.bytes, &header);
	wti_buf_release(&text);
	if (wrong)
		r = wti_model_bad(model, source, offset + text_at, err, "%s", wrong);
	if (r)
		return r;
	tensor.offset = offset + text_at + text_bytes;
	return add_array(model, &header, &tensor, bytes - text_at - text_bytes, err);
}

/* ---- .npy ----------------------------------------------------------------------------------- */

static bool is_npy(const struct wti_model_probe *probe)
{
	return probe->head_bytes >= MAGIC_BYTES && !memcmp(probe->head, MAGIC, MAGIC_BYTES);
}

static int read_npy(struct wti_model *model, struct wt_err *err)
{
	return wti_npy_add(model, 0, 0, wti_model_source_bytes(model, 0), ARRAY_NAME, err);
}

static const char *word_of(uint32_t dtype)
{
	for (size_t i = 0; i < WTI_COUNT(types); i++) {
		if (types[i].dtype == dtype)
			return types[i].word;
	}
	return NULL;
}

static void put_header(struct wti_buf *out, const struct wti_model_tensor *tensor, const char *word)
{
	wti_buf_append(out, MAGIC "\1\0\0\0", MAGIC_BYTES + 4);
	wti_buf_printf(out, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
		       wti_dtype_bytes(tensor->dtype) == 1 ? '|' : '<', word);
	for (uint32_t i = 0; i < tensor->rank; i++)
		wti_buf_printf(out, i ? " %llu," : "%llu,", (unsigned long long)tensor->shape[i]);
	if (tensor->rank > 1 && !wti_buf_status(out))
		out->bytes--;
	wti_buf_text(out, "), }");
	while ((out->bytes + 1) % HEADER_ALIGNMENT && !wti_buf_status(out))
		wti_buf_byte(out, ' ');
	wti_buf_byte(out, '\n');
	if (!wti_buf_status(out))
		wti_put16(out->data + MAGIC_BYTES + 2, (uint16_t)(out->bytes - MAGIC_BYTES - 4));
}

static int make_header(struct wti_buf *ret, const struct wti_model_tensor *tensor,
		       struct wt_err *err)
{
	const char *word = word_of(tensor->dtype);

	if (!word)
		return wti_err(err, WT_E_ARG, "numpy has no type for tensor '%.200s' (%s)",
			       tensor->name, tensor->type);
	put_header(ret, tensor, word);
	return wti_buf_status(ret) ? wti_err(err, wti_buf_status(ret), "the header does not fit")
				   : 0;
}

static int write_npy(struct wti_model *model, int fd, struct wt_err *err)
{
	struct wti_buf header;
	int r;

	if (model->tensor_count != 1)
		return wti_err(err, WT_E_ARG,
			       "a .npy file has one array, and '%s' has %zu tensors: write .npz",
			       model->path, model->tensor_count);
	wti_buf_init(&header, HEADER_MAX);
	r = make_header(&header, model->tensors, err);
	r = r ? r : wti_model_put(fd, header.data, header.bytes, err);
	wti_buf_release(&header);
	return r ? r : wti_model_put_tensor(model, model->tensors, fd, err);
}

const struct wti_model_format wti_model_npy = {
	.name = "npy",
	.title = "array of numpy (.npy)",
	.suffixes = "npy",
	.is_one = is_npy,
	.read = read_npy,
	.write = write_npy,
};

/* ---- .npz ----------------------------------------------------------------------------------- */

/* A zip file whose first entry is an array. */
static bool is_npz(const struct wti_model_probe *probe)
{
	size_t bytes = probe->head_bytes < 30 ? 0 : wti_get16(probe->head + 26);

	return bytes >= 4 && bytes <= probe->head_bytes - 30 &&
	       wti_get32(probe->head) == 0x04034b50u &&
	       !memcmp(probe->head + 30 + bytes - 4, ".npy", 4);
}

static int add_entry(struct wti_model *model, struct wti_zip *zip,
		     const struct wti_zip_entry *entry, struct wt_err *err)
{
	size_t bytes = strlen(entry->name);
	struct wti_buf unpacked;
	uint32_t source;
	char *name;
	int r;

	if (bytes < 5 || strcmp(entry->name + bytes - 4, ".npy") != 0)
		return wti_model_bad(model, 0, entry->header, err,
				     "entry '%.120s' is not an array (.npy)", entry->name);
	name = wti_arena_text(&model->arena, entry->name, bytes - 4);
	if (!name)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	if (entry->method == WTI_ZIP_STORED) {
		r = wti_zip_check(zip, entry, err);
		return r ? r : wti_npy_add(model, 0, entry->offset, entry->bytes, name, err);
	}
	wti_buf_init(&unpacked, WTI_MODEL_UNPACKED_MAX);
	r = wti_zip_read(zip, entry, &unpacked, err);
	r = r ? r : wti_model_add_memory(model, &unpacked, &source, err);
	wti_buf_release(&unpacked);
	return r ? r : wti_npy_add(model, source, 0, entry->bytes, name, err);
}

static int read_npz(struct wti_model *model, struct wt_err *err)
{
	struct wti_zip *zip;
	int r = wti_zip_open(model, 0, &zip, err);

	if (r)
		return r;
	for (size_t i = 0; i < zip->count && !r; i++)
		r = add_entry(model, zip, &zip->entries[i], err);
	wti_zip_free(zip);
	return r;
}

static int write_entry(struct wti_zip_writer *writer, struct wti_model *model,
		       const struct wti_model_tensor *tensor, struct wt_err *err)
{
	struct wti_buf header, name;
	int r;

	wti_buf_init(&header, HEADER_MAX);
	wti_buf_init(&name, WTI_MODEL_NAME_MAX + sizeof(".npy"));
	wti_buf_printf(&name, "%s.npy", tensor->name);
	r = make_header(&header, tensor, err);
	if (!r && wti_buf_status(&name))
		r = wti_err(err, wti_buf_status(&name), "out of memory");
	r = r ? r : wti_zip_put_tensor(writer, wti_buf_cstr(&name), &header, model, tensor, err);
	wti_buf_release(&header);
	wti_buf_release(&name);
	return r;
}

/* As numpy.savez() does. What is not a tensor has no place there. */
static int write_npz(struct wti_model *model, int fd, struct wt_err *err)
{
	struct wti_zip_writer writer;
	int r = 0;

	wti_zip_writer_init(&writer, fd);
	for (size_t i = 0; i < model->tensor_count && !r; i++)
		r = write_entry(&writer, model, &model->tensors[i], err);
	r = r ? r : wti_zip_finish(&writer, err);
	wti_zip_writer_release(&writer);
	return r;
}

const struct wti_model_format wti_model_npz = {
	.name = "npz",
	.title = "arrays of numpy (.npz)",
	.suffixes = "npz",
	.is_one = is_npz,
	.read = read_npz,
	.write = write_npz,
};
