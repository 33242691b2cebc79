/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GGUF: keys with values, then a list of tensors, then their elements. Lengths and counts are
 * compared with what is left of the file before anything is done with them; arrays in arrays,
 * which would need recursion, are refused, as no writer makes them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/err.h"
#include "model/cursor.h"

#define MAGIC "GGUF"
#define ALIGNMENT_KEY "general.alignment"
#define ALIGNMENT_DEFAULT 32u
#define ALIGNMENT_MAX 65536u
#define DIMENSIONS_MAX 4u
#define TEXT_MAX ((uint64_t)1 << 20) /* of a value that is kept; longer ones are passed over */
#define ENTRIES_MAX ((uint64_t)1 << 20)

/* ---- Types ---------------------------------------------------------------------------------- */

static const struct type {
	const char *word; /* NULL: was never used, or was removed */
	uint32_t dtype;
	uint32_t block; /* elements that are kept together */
	uint32_t bytes; /* of those */
} types[] = {
	[0] = {"F32", WT_DTYPE_F32, 1, 4},
	[1] = {"F16", WT_DTYPE_F16, 1, 2},
	[2] = {"Q4_0", WT_DTYPE_OTHER, 32, 18},
	[3] = {"Q4_1", WT_DTYPE_OTHER, 32, 20},
	[6] = {"Q5_0", WT_DTYPE_OTHER, 32, 22},
	[7] = {"Q5_1", WT_DTYPE_OTHER, 32, 24},
	[8] = {"Q8_0", WT_DTYPE_OTHER, 32, 34},
	[9] = {"Q8_1", WT_DTYPE_OTHER, 32, 36},
	[10] = {"Q2_K", WT_DTYPE_OTHER, 256, 84},
	[11] = {"Q3_K", WT_DTYPE_OTHER, 256, 110},
	[12] = {"Q4_K", WT_DTYPE_OTHER, 256, 144},
	[13] = {"Q5_K", WT_DTYPE_OTHER, 256, 176},
	[14] = {"Q6_K", WT_DTYPE_OTHER, 256, 210},
	[15] = {"Q8_K", WT_DTYPE_OTHER, 256, 292},
	[16] = {"IQ2_XXS", WT_DTYPE_OTHER, 256, 66},
	[17] = {"IQ2_XS", WT_DTYPE_OTHER, 256, 74},
	[18] = {"IQ3_XXS", WT_DTYPE_OTHER, 256, 98},
	[19] = {"IQ1_S", WT_DTYPE_OTHER, 256, 50},
	[20] = {"IQ4_NL", WT_DTYPE_OTHER, 32, 18},
	[21] = {"IQ3_S", WT_DTYPE_OTHER, 256, 110},
	[22] = {"IQ2_S", WT_DTYPE_OTHER, 256, 82},
	[23] = {"IQ4_XS", WT_DTYPE_OTHER, 256, 136},
	[24] = {"I8", WT_DTYPE_I8, 1, 1},
	[25] = {"I16", WT_DTYPE_I16, 1, 2},
	[26] = {"I32", WT_DTYPE_I32, 1, 4},
	[27] = {"I64", WT_DTYPE_I64, 1, 8},
	[28] = {"F64", WT_DTYPE_F64, 1, 8},
	[29] = {"IQ1_M", WT_DTYPE_OTHER, 256, 56},
	[30] = {"BF16", WT_DTYPE_BF16, 1, 2},
	[34] = {"TQ1_0", WT_DTYPE_OTHER, 256, 54},
	[35] = {"TQ2_0", WT_DTYPE_OTHER, 256, 66},
	[39] = {"MXFP4", WT_DTYPE_OTHER, 32, 17},
	[40] = {"NVFP4", WT_DTYPE_OTHER, 64, 36},
	[41] = {"Q1_0", WT_DTYPE_OTHER, 128, 18},
};

/* ---- Values --------------------------------------------------------------------------------- */

enum value_type {
	VALUE_U8,
	VALUE_I8,
	VALUE_U16,
	VALUE_I16,
	VALUE_U32,
	VALUE_I32,
	VALUE_F32,
	VALUE_BOOL,
	VALUE_STRING,
	VALUE_ARRAY,
	VALUE_U64,
	VALUE_I64,
	VALUE_F64,
	VALUE_TYPES,
};

static const uint8_t value_bytes[VALUE_TYPES] = {
	[VALUE_U8] = 1,  [VALUE_I8] = 1,  [VALUE_U16] = 2, [VALUE_I16] = 2,
	[VALUE_U32] = 4, [VALUE_I32] = 4, [VALUE_F32] = 4, [VALUE_BOOL] = 1,
	[VALUE_U64] = 8, [VALUE_I64] = 8, [VALUE_F64] = 8,
};

/* A number of that type, in its bytes, as text. */
static void number_text(uint32_t type, const uint8_t *bytes, char *out, size_t out_bytes)
{
	uint64_t bits = 0;
	double number;
	float narrow;

	memcpy(&bits, bytes, value_bytes[type]);
	memcpy(&number, bytes, sizeof(number));
	memcpy(&narrow, bytes, sizeof(narrow));
	switch (type) {
	case VALUE_I8:
		snprintf(out, out_bytes, "%d", (int8_t)bits);
		break;
	case VALUE_I16:
		snprintf(out, out_bytes, "%d", (int16_t)bits);
		break;
	case VALUE_I32:
		snprintf(out, out_bytes, "%d", (int32_t)bits);
		break;
	case VALUE_I64:
		snprintf(out, out_bytes, "%lld", (long long)bits);
		break;
	case VALUE_F32:
		snprintf(out, out_bytes, "%.9g", (double)narrow);
		break;
	case VALUE_F64:
		snprintf(out, out_bytes, "%.17g", number);
		break;
	case VALUE_BOOL:
		snprintf(out, out_bytes, "%s", bits ? "true" : "false");
		break;
	default:
		snprintf(out, out_bytes, "%llu", (unsigned long long)bits);
	}
}

/* A text as it is, or its length where it is too long to be kept. */
static int add_string(struct wti_model_cursor *in, const char *key)
{
	uint64_t bytes = wti_cursor_u64(in);
	char length[64];
	char *text = NULL;

	if (bytes > TEXT_MAX) {
		wti_cursor_skip(in, bytes);
		snprintf(length, sizeof(length), "(%llu bytes)", (unsigned long long)bytes);
		text = length;
	} else {
		text = wti_cursor_text(in, bytes, TEXT_MAX);
	}
	return in->code ? in->code : wti_model_add_entry(in->model, key, text, in->err);
}

/* Passed over: how many there are is what is kept. */
static int add_array(struct wti_model_cursor *in, const char *key)
{
	uint32_t type = wti_cursor_u32(in);
	uint64_t count = wti_cursor_u64(in);
	char text[64];

	if (in->code)
		return in->code;
	if (type >= VALUE_TYPES || type == VALUE_ARRAY)
		return wti_cursor_bad(in, "an array has elements of an unknown type");
	if (type != VALUE_STRING) {
		if (count > wti_cursor_left(in) / value_bytes[type])
			return wti_cursor_bad(in, "an array is longer than the file");
		wti_cursor_skip(in, count * value_bytes[type]);
	} else if (count > wti_cursor_left(in) / 8) {
		return wti_cursor_bad(in, "an array is longer than the file");
	}
	for (uint64_t i = 0; type == VALUE_STRING && i < count && !in->code; i++)
		wti_cursor_skip(in, wti_cursor_u64(in));
	snprintf(text, sizeof(text), "(%llu values)", (unsigned long long)count);
	return in->code ? in->code : wti_model_add_entry(in->model, key, text, in->err);
}

struct file {
	struct wti_model_cursor *in;
	uint64_t tensors, values;
	uint32_t alignment;
	uint64_t (*places)[2]; /* of each tensor in its number: begin and end */
};

static int read_value(struct file *file)
{
	struct wti_model_cursor *in = file->in;
	char *key = wti_cursor_text(in, wti_cursor_u64(in), WTI_MODEL_NAME_MAX);
	uint32_t type = wti_cursor_u32(in);
	uint8_t bytes[8] = {0};
	char text[64];

	if (in->code)
		return in->code;
	if (type >= VALUE_TYPES)
		return wti_cursor_bad(in, "a value has an unknown type");
	if (!strcmp(key, ALIGNMENT_KEY) && wti_model_entry_value(in->model, key))
		return wti_cursor_bad(in, "the alignment is given twice");
	if (type == VALUE_STRING)
		return add_string(in, key);
	if (type == VALUE_ARRAY)
		return add_array(in, key);
	wti_cursor_take(in, bytes, value_bytes[type]);
	if (in->code)
		return in->code;
	if (type == VALUE_BOOL && bytes[0] > 1)
		return wti_cursor_bad(in, "a truth value is neither 0 nor 1");
	if (!strcmp(key, ALIGNMENT_KEY)) {
		file->alignment = wti_get32(bytes);
		if (type != VALUE_U32 || !file->alignment || file->alignment > ALIGNMENT_MAX ||
		    file->alignment & (file->alignment - 1))
			return wti_cursor_bad(in, "the alignment is not a power of two");
	}
	number_text(type, bytes, text, sizeof(text));
	return wti_model_add_entry(in->model, key, text, in->err);
}

/* ---- Tensors -------------------------------------------------------------------------------- */

/* What the list says of a tensor. Where its elements begin is relative, so it is added later. */
struct listed {
	const char *name;
	const struct type *type;
	uint32_t rank;
	uint64_t shape[DIMENSIONS_MAX];
	uint64_t bytes;
	uint64_t offset;
};

static bool size_of(struct listed *tensor, uint64_t row)
{
	uint64_t bytes;

	if (row % tensor->type->block ||
	    __builtin_mul_overflow(row / tensor->type->block, tensor->type->bytes, &bytes))
		return false;
	for (uint32_t i = 0; i + 1 < tensor->rank; i++) {
		if (__builtin_mul_overflow(bytes, tensor->shape[i], &bytes))
			return false;
	}
	tensor->bytes = bytes;
	return true;
}

static int read_listed(struct file *file, struct listed *ret)
{
	struct wti_model_cursor *in = file->in;
	uint32_t type;

	ret->name = wti_cursor_text(in, wti_cursor_u64(in), WTI_MODEL_NAME_MAX);
	ret->rank = wti_cursor_u32(in);
	if (!in->code && ret->rank > DIMENSIONS_MAX)
		return wti_cursor_bad(in, "a tensor has more than four dimensions");
	for (uint32_t i = ret->rank; i-- > 0 && !in->code;) /* the fastest comes first */
		ret->shape[i] = wti_cursor_u64(in);
	type = wti_cursor_u32(in);
	ret->offset = wti_cursor_u64(in);
	if (in->code)
		return in->code;
	if (type >= WTI_COUNT(types) || !types[type].word)
		return wti_cursor_bad(in, "a tensor has an unknown type");
	ret->type = &types[type];
	if (!size_of(ret, ret->rank ? ret->shape[ret->rank - 1] : 1))
		return wti_cursor_bad(in, "a tensor's shape does not fit its type");
	if (ret->offset % file->alignment)
		return wti_cursor_bad(in, "a tensor does not begin at a multiple of the alignment");
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	if (one[0] != other[0])
		return one[0] < other[0] ? -1 : 1;
	return one[1] < other[1] ? -1 : one[1] > other[1];
}

/* From the first byte on, each belongs to one tensor or fills up to the alignment. */
static int check_places(struct file *file, uint64_t begin)
{
	uint64_t at = 0, all = file->in->end - begin;

	if (file->tensors)
		qsort(file->places, file->tensors, sizeof(*file->places), by_place);
	for (uint64_t i = 0; i < file->tensors; i++) {
		file->in->at = begin + at;
		if (file->places[i][0] < at)
			return wti_cursor_bad(file->in, "two tensors overlap here: refused");
		if (file->places[i][0] - at >= file->alignment)
			return wti_cursor_bad(file->in, "bytes here belong to no tensor: refused");
		at = file->places[i][1];
	}
	file->in->at = begin + at;
	if (at > all || all - at >= file->alignment)
		return wti_cursor_bad(file->in, "bytes behind the last tensor belong to none");
	return 0;
}

static int add_tensors(struct file *file, const struct listed *listed, struct wt_err *err)
{
	uint64_t begin = (file->in->at + file->alignment - 1) / file->alignment * file->alignment;

	if (begin > file->in->end && file->tensors)
		return wti_cursor_bad(file->in, "the file ends before its tensors: it was cut");
	for (uint64_t i = 0; i < file->tensors; i++) {
		struct wti_model_tensor tensor = {.name = listed[i].name,
						  .dtype = listed[i].type->dtype,
						  .type = listed[i].type->word,
						  .rank = listed[i].rank,
						  .shape = listed[i].shape,
						  .bytes = listed[i].bytes,
						  .offset = begin};
		int r;

		if (__builtin_add_overflow(begin, listed[i].offset, &tensor.offset))
			return wti_cursor_bad(file->in, "a tensor begins beyond any file");
		r = wti_model_add(file->in->model, &tensor, err);
		if (r)
			return r;
		file->places[i][0] = listed[i].offset;
		file->places[i][1] = listed[i].offset + listed[i].bytes;
	}
	return begin > file->in->end ? 0 : check_places(file, begin);
}

/* ---- The file ------------------------------------------------------------------------------- */

static int read_start(struct file *file)
{
	struct wti_model_cursor *in = file->in;
	uint32_t version;

	wti_cursor_skip(in, 4);
	version = wti_cursor_u32(in);
	file->tensors = wti_cursor_u64(in);
	file->values = wti_cursor_u64(in);
	if (in->code)
		return in->code;
	if (version == 1 || version > 3)
		return wti_cursor_bad(in, version >> 24
						  ? "a file for big-endian machines: such are "
						    "not read"
						  : "only versions 2 and 3 are read: convert "
						    "it with llama.cpp");
	/* A value has 13 bytes at least, an entry of the list of tensors 24. */
	if (file->values > wti_cursor_left(in) / 13 || file->values > ENTRIES_MAX ||
	    file->tensors > wti_cursor_left(in) / 24 || file->tensors > WTI_MODEL_TENSORS_MAX)
		return wti_cursor_bad(in, "there are more entries than the file has room for");
	return 0;
}

static int read_all(struct file *file, struct wt_err *err)
{
	struct listed *listed;
	int r = read_start(file);

	for (uint64_t i = 0; i < file->values && !r; i++)
		r = read_value(file);
	if (r)
		return r;
	listed = calloc(file->tensors + 1, sizeof(*listed));
	file->places = calloc(file->tensors + 1, sizeof(*file->places));
	if (!listed || !file->places)
		r = wti_err(err, WT_E_NOMEM, "out of memory");
	for (uint64_t i = 0; i < file->tensors && !r; i++)
		r = read_listed(file, &listed[i]);
	r = r ? r : add_tensors(file, listed, err);
	free(listed);
	free(file->places);
	return r;
}

static int read_one(struct wti_model *model, struct wt_err *err)
{
	struct file file = {.in = wti_cursor_new(model, 0, err), .alignment = ALIGNMENT_DEFAULT};
	int r = file.in ? read_all(&file, err) : WT_E_NOMEM;

	free(file.in);
	return r;
}

static bool is_one(const struct wti_model_probe *probe)
{
	return probe->head_bytes >= 4 && !memcmp(probe->head, MAGIC, 4);
}

const struct wti_model_format wti_model_gguf = {
	.name = "gguf",
	.title = "GGUF",
	.suffixes = "",
	.is_one = is_one,
	.read = read_one,
};
