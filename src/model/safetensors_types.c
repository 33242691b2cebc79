/* SPDX-License-Identifier: Apache-2.0 */
/* The words of safetensors for types of elements. */
#include "model/safetensors.h"

#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"

/* clang-format off */
static const struct wti_safetensors_type types[] = {
	{"BOOL", WT_DTYPE_BOOL, 8},
	{"F4", WT_DTYPE_OTHER, 4},
	{"F6_E2M3", WT_DTYPE_OTHER, 6},
	{"F6_E3M2", WT_DTYPE_OTHER, 6},
	{"U8", WT_DTYPE_U8, 8},
	{"I8", WT_DTYPE_I8, 8},
	{"F8_E5M2", WT_DTYPE_F8E5M2, 8},
	{"F8_E4M3", WT_DTYPE_F8E4M3, 8},
	{"F8_E8M0", WT_DTYPE_F8E8M0, 8},
	{"F8_E4M3FNUZ", WT_DTYPE_F8E4M3FNUZ, 8},
	{"F8_E5M2FNUZ", WT_DTYPE_F8E5M2FNUZ, 8},
	{"I16", WT_DTYPE_I16, 16},
	{"U16", WT_DTYPE_U16, 16},
	{"F16", WT_DTYPE_F16, 16},
	{"BF16", WT_DTYPE_BF16, 16},
	{"I32", WT_DTYPE_I32, 32},
	{"U32", WT_DTYPE_U32, 32},
	{"F32", WT_DTYPE_F32, 32},
	{"C64", WT_DTYPE_C64, 64},
	{"F64", WT_DTYPE_F64, 64},
	{"I64", WT_DTYPE_I64, 64},
	{"U64", WT_DTYPE_U64, 64},
};
/* clang-format on */

const struct wti_safetensors_type *wti_safetensors_type_by_word(const char *word)
{
	for (size_t i = 0; i < WTI_COUNT(types); i++) {
		if (!strcmp(types[i].word, word))
			return &types[i];
	}
	return NULL;
}

const struct wti_safetensors_type *wti_safetensors_type_of(const struct wti_model_tensor *tensor)
{
	for (size_t i = 0; i < WTI_COUNT(types); i++) {
		if (tensor->dtype == WT_DTYPE_OTHER ? !strcmp(types[i].word, tensor->type)
						    : types[i].dtype == tensor->dtype)
			return &types[i];
	}
	return NULL;
}
