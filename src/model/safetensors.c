/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file of safetensors: 8 bytes with the length of the header, a header of JSON, elements. The
 * rules of the specification are checked here, all of them: what opens has every byte of its
 * elements in exactly one tensor.
 */
#include "model/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/json_members.h"

#define LENGTH_BYTES 8u

struct file {
	struct wti_model *model;
	uint32_t source;
	uint64_t begin;    /* of the elements in the file */
	uint64_t elements; /* bytes of them */
};

static int bad(const struct file *file, uint64_t offset, struct wt_err *err, const char *name,
	       const char *reason)
{
	return wti_model_bad(file->model, file->source, offset, err, "tensor '%.200s' %s", name,
			     reason);
}

/* ---- One tensor ----------------------------------------------------------------------------- */

/* Only what the specification has, each once: the reader of JSON refuses repeated keys of an entry,
 * and two tensors of one name are refused where they are added. */
static int check_keys(const struct file *file, const struct wti_doc *entry, struct wt_err *err)
{
	unsigned known = 0;

	if (entry->type != WTI_DOC_TABLE)
		return bad(file, LENGTH_BYTES, err, entry->key, "is not described by an object");
	for (const struct wti_doc *child = entry->first; child; child = child->next) {
		if (strcmp(child->key, "dtype") && strcmp(child->key, "shape") &&
		    strcmp(child->key, "data_offsets"))
			return wti_model_bad(file->model, file->source, LENGTH_BYTES, err,
					     "tensor '%.160s' has the unknown key '%.60s'",
					     entry->key, child->key);
		known++;
	}
	if (known < 3)
		return bad(file, LENGTH_BYTES, err, entry->key,
			   "needs dtype, shape and data_offsets");
	return 0;
}

/* Whole numbers that are not negative; false also if there are too many. */
static bool read_numbers(const struct wti_doc *list, uint64_t *numbers, size_t max, size_t *count)
{
	*count = 0;
	if (list->type != WTI_DOC_ARRAY)
		return false;
	for (const struct wti_doc *item = list->first; item; item = item->next) {
		if (item->type != WTI_DOC_INT || item->integer < 0 || *count == max)
			return false;
		numbers[(*count)++] = (uint64_t)item->integer;
	}
	return true;
}

/* The bytes that shape and type ask for. */
static bool size_of(const uint64_t *shape, size_t rank, unsigned bits, uint64_t *ret_bytes)
{
	uint64_t total = bits;

	for (size_t i = 0; i < rank; i++) {
		if (__builtin_mul_overflow(total, shape[i], &total))
			return false;
	}
	*ret_bytes = total / 8;
	return total % 8 == 0;
}

static int add_tensor(const struct file *file, const struct wti_doc *entry, uint64_t ret_range[2],
		      struct wt_err *err)
{
	const struct wti_doc *word = wti_doc_get(entry, "dtype");
	const struct wti_safetensors_type *type =
		wti_doc_is_text(word, WTI_MODEL_NAME_MAX)
			? wti_safetensors_type_by_word(word->string.data)
			: NULL;
	uint64_t shape[WTI_MODEL_RANK_MAX], offsets[2], bytes;
	size_t rank, count;
	struct wti_model_tensor tensor;

	if (!type)
		return bad(file, LENGTH_BYTES, err, entry->key, "has an unknown dtype");
	if (!read_numbers(wti_doc_get(entry, "shape"), shape, WTI_MODEL_RANK_MAX, &rank))
		return bad(file, LENGTH_BYTES, err, entry->key,
			   "has a shape that is not a list of whole numbers");
	if (!read_numbers(wti_doc_get(entry, "data_offsets"), offsets, 2, &count) || count != 2)
		return bad(file, LENGTH_BYTES, err, entry->key,
			   "has data_offsets that are not two whole numbers");
	if (offsets[0] > offsets[1] || offsets[1] > file->elements)
		return bad(file, LENGTH_BYTES, err, entry->key,
			   "has data_offsets outside of the file: it was cut, or is damaged");
	if (!size_of(shape, rank, type->bits, &bytes))
		return bad(file, file->begin + offsets[0], err, entry->key,
			   "has a shape whose size is no number of bytes");
	if (bytes != offsets[1] - offsets[0])
		return bad(file, file->begin + offsets[0], err, entry->key,
			   "has another size than its shape and dtype ask for");
	tensor = (struct wti_model_tensor){.name = entry->key,
					   .dtype = type->dtype,
					   .type = type->word,
					   .rank = (uint32_t)rank,
					   .shape = shape,
					   .bytes = bytes,
					   .source = file->source,
					   .offset = file->begin + offsets[0]};
	memcpy(ret_range, offsets, sizeof(offsets));
	return wti_model_add(file->model, &tensor, err);
}

/* ---- All of them ---------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	if (one[0] != other[0])
		return one[0] < other[0] ? -1 : 1;
	return one[1] < other[1] ? -1 : one[1] > other[1];
}

/* Each byte belongs to one tensor: no hole, no overlap, nothing behind the last one. */
static int check_ranges(const struct file *file, uint64_t (*ranges)[2], size_t count,
			struct wt_err *err)
{
	uint64_t at = 0;

	if (count) /* it may be NULL otherwise */
		qsort(ranges, count, sizeof(*ranges), by_place);
	for (size_t i = 0; i < count; i++) {
		if (ranges[i][0] < at)
			return wti_model_bad(file->model, file->source, file->begin + ranges[i][0],
					     err, "two tensors overlap here: refused");
		if (ranges[i][0] > at)
			return wti_model_bad(file->model, file->source, file->begin + at, err,
					     "bytes here belong to no tensor: refused");
		at = ranges[i][1];
	}
	if (at != file->elements)
		return wti_model_bad(file->model, file->source, file->begin + at, err,
				     "%llu bytes behind the last tensor belong to none: refused",
				     (unsigned long long)(file->elements - at));
	return 0;
}

static int add_metadata(const struct file *file, const struct wti_doc *table, struct wt_err *err)
{
	if (table->type != WTI_DOC_TABLE)
		return wti_model_bad(file->model, file->source, LENGTH_BYTES, err,
				     "__metadata__ is not an object");
	for (const struct wti_doc *entry = table->first; entry; entry = entry->next) {
		int r;

		if (!wti_doc_is_text(entry, WTI_DOC_TEXT_MAX))
			return wti_model_bad(file->model, file->source, LENGTH_BYTES, err,
					     "__metadata__ '%.100s' is not a text", entry->key);
		r = wti_model_add_entry(file->model, entry->key, entry->string.data, err);
		if (r)
			return r;
	}
	return 0;
}

/* What the entries of a header have added so far. */
struct added {
	const struct file *file;
	uint64_t (*ranges)[2];
	size_t count, capacity;
	bool has_metadata;
};

static int make_room(struct added *added, struct wt_err *err)
{
	size_t capacity = added->capacity ? 2 * added->capacity : 64;
	uint64_t(*ranges)[2];

	if (added->count < added->capacity)
		return 0;
	ranges = reallocarray(added->ranges, capacity, sizeof(*ranges));
	if (!ranges)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	added->ranges = ranges;
	added->capacity = capacity;
	return 0;
}

static int add_entry(void *self, const struct wti_doc *entry, struct wt_err *err)
{
	struct added *added = self;
	const struct file *file = added->file;
	int r;

	if (!strcmp(entry->key, "__metadata__")) {
		if (added->has_metadata)
			return wti_model_bad(file->model, file->source, LENGTH_BYTES, err,
					     "__metadata__ is given twice");
		added->has_metadata = true;
		return add_metadata(file, entry, err);
	}
	r = check_keys(file, entry, err);
	r = r ? r : make_room(added, err);
	return r ? r : add_tensor(file, entry, added->ranges[added->count++], err);
}

/* ---- The file ------------------------------------------------------------------------------- */

static int parse_header(const struct file *file, const struct wti_buf *header, struct wt_err *err)
{
	const char *path = wti_model_source_path(file->model, file->source);
	struct added added = {.file = file};
	int r;

	if (!header->bytes || header->data[0] != '{')
		return wti_model_bad(file->model, file->source, LENGTH_BYTES, err,
				     "the header does not begin with '{'");
	r = wti_json_members(path, (const char *)header->data, header->bytes, add_entry, &added,
			     err);
	r = r ? r : check_ranges(file, added.ranges, added.count, err);
	free(added.ranges);
	return r;
}

int wti_safetensors_read_file(struct wti_model *model, uint32_t source, struct wt_err *err)
{
	uint64_t all = wti_model_source_bytes(model, source);
	struct file file = {.model = model, .source = source};
	uint8_t length[LENGTH_BYTES];
	struct wti_buf header;
	int r = wti_model_read(model, source, 0, length, sizeof(length), err);

	if (r)
		return r;
	if (wti_get64(length) > WTI_MODEL_HEADER_MAX)
		return wti_model_bad(model, source, 0, err,
				     "the header has %llu bytes; more than %zu are not allowed",
				     (unsigned long long)wti_get64(length), WTI_MODEL_HEADER_MAX);
	if (wti_get64(length) > all - LENGTH_BYTES)
		return wti_model_bad(model, source, all, err,
				     "the file ends inside its header: it was cut; copy or "
				     "download it again");
	file.begin = LENGTH_BYTES + wti_get64(length);
	file.elements = all - file.begin;
	wti_buf_init(&header, WTI_MODEL_HEADER_MAX);
	r = wti_model_read_buf(model, source, LENGTH_BYTES, wti_get64(length), &header, err);
	r = r ? r : parse_header(&file, &header, err);
	wti_buf_release(&header);
	return r;
}

/* A file of any other kind does not begin with a small number and a brace. */
static bool is_one(const struct wti_model_probe *probe)
{
	return !probe->is_folder && probe->head_bytes > LENGTH_BYTES &&
	       probe->head[LENGTH_BYTES] == '{' && wti_get64(probe->head) <= WTI_MODEL_HEADER_MAX;
}

static int read_one(struct wti_model *model, struct wt_err *err)
{
	return wti_safetensors_read_file(model, 0, err);
}

const struct wti_model_format wti_model_safetensors = {
	.name = "safetensors",
	.title = "safetensors",
	.suffixes = "safetensors",
	.is_one = is_one,
	.read = read_one,
	.write = wti_safetensors_write,
};
