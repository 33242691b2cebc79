/* SPDX-License-Identifier: Apache-2.0 */
/* The names of tensors, types and whole models that do not depend on the format. */
#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "base/err.h"
#include "model/examine.h"
#include "model/format.h"

/* Changes when the definition does: digests of two definitions never agree by chance. */
static const char definition[] = "wheeltap model digest 1\n";

static const char *const dtype_words[] = {
	[WT_DTYPE_BOOL] = "bool",
	[WT_DTYPE_U8] = "u8",
	[WT_DTYPE_I8] = "i8",
	[WT_DTYPE_U16] = "u16",
	[WT_DTYPE_I16] = "i16",
	[WT_DTYPE_U32] = "u32",
	[WT_DTYPE_I32] = "i32",
	[WT_DTYPE_U64] = "u64",
	[WT_DTYPE_I64] = "i64",
	[WT_DTYPE_F16] = "f16",
	[WT_DTYPE_BF16] = "bf16",
	[WT_DTYPE_F32] = "f32",
	[WT_DTYPE_F64] = "f64",
	[WT_DTYPE_C32] = "c32",
	[WT_DTYPE_C64] = "c64",
	[WT_DTYPE_C128] = "c128",
	[WT_DTYPE_F8E4M3] = "f8e4m3",
	[WT_DTYPE_F8E5M2] = "f8e5m2",
	[WT_DTYPE_F8E4M3FNUZ] = "f8e4m3fnuz",
	[WT_DTYPE_F8E5M2FNUZ] = "f8e5m2fnuz",
	[WT_DTYPE_F8E8M0] = "f8e8m0",
};

const char *wti_model_dtype_word(const struct wti_model_tensor *tensor)
{
	const char *word =
		tensor->dtype < WTI_COUNT(dtype_words) ? dtype_words[tensor->dtype] : NULL;

	return word ? word : tensor->type;
}

uint32_t wti_model_dtype_by_word(const char *word)
{
	for (uint32_t i = 0; i < WTI_COUNT(dtype_words); i++) {
		if (dtype_words[i] && !strcmp(dtype_words[i], word))
			return i;
	}
	return WT_DTYPE_OTHER;
}

/* ---- Order ---------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b, void *cookie)
{
	const struct wti_model *model = cookie;

	return strcmp(model->tensors[*(const size_t *)a].name,
		      model->tensors[*(const size_t *)b].name);
}

size_t *wti_model_by_name(const struct wti_model *model)
{
	size_t *order = malloc((model->tensor_count + 1) * sizeof(*order));

	if (!order)
		return NULL;
	for (size_t i = 0; i < model->tensor_count; i++)
		order[i] = i;
	qsort_r(order, model->tensor_count, sizeof(*order), by_name,
		(void *)(uintptr_t)(const void *)model);
	return order;
}

/* ---- The digest ----------------------------------------------------------------------------- */

static void add_u64(struct wti_sha *sha, uint64_t value)
{
	uint8_t bytes[8];

	wti_put64(bytes, value);
	wti_sha_add(sha, bytes, sizeof(bytes));
}

static void add_text(struct wti_sha *sha, const char *text)
{
	add_u64(sha, strlen(text));
	wti_sha_add(sha, text, strlen(text));
}

int wti_model_canonical(const struct wti_model *model, const struct wti_model_examined *examined,
			uint8_t ret_digest[WTI_SHA256_BYTES], struct wt_err *err)
{
	size_t *order = wti_model_by_name(model);
	struct wti_sha sha;

	if (!order)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	wti_sha_init(&sha, true);
	wti_sha_add(&sha, definition, sizeof(definition) - 1);
	add_u64(&sha, model->tensor_count);
	for (size_t i = 0; i < model->tensor_count; i++) {
		const struct wti_model_tensor *tensor = &model->tensors[order[i]];

		add_text(&sha, tensor->name);
		add_text(&sha, wti_model_dtype_word(tensor));
		add_u64(&sha, tensor->rank);
		for (uint32_t k = 0; k < tensor->rank; k++)
			add_u64(&sha, tensor->shape[k]);
		add_u64(&sha, tensor->bytes);
		wti_sha_add(&sha, examined[order[i]].sha, WTI_SHA256_BYTES);
	}
	wti_sha_end(&sha, ret_digest);
	free(order);
	return 0;
}

int wti_model_file_sha(struct wti_model *model, uint32_t source,
		       const struct wti_model_watch *watch, uint8_t ret_sha[WTI_SHA256_BYTES],
		       struct wt_err *err)
{
	uint64_t all = wti_model_source_bytes(model, source);
	uint8_t *block = malloc(WTI_MODEL_BLOCK_BYTES);
	struct wti_sha sha;
	int r = block ? 0 : wti_err(err, WT_E_NOMEM, "out of memory");

	wti_sha_init(&sha, true);
	for (uint64_t at = 0; at < all && !r;) {
		size_t bytes = all - at < WTI_MODEL_BLOCK_BYTES ? (size_t)(all - at)
								: WTI_MODEL_BLOCK_BYTES;

		r = wti_model_read(model, source, at, block, bytes, err);
		if (!r)
			wti_sha_add(&sha, block, bytes);
		at += bytes;
		if (watch && watch->progress)
			watch->progress(watch->cookie, (double)at / (double)all);
	}
	if (!r)
		wti_sha_end(&sha, ret_sha);
	free(block);
	return r;
}
