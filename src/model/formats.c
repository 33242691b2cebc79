/* SPDX-License-Identifier: Apache-2.0 */
/* All formats, in the order in which a file is tried: those with a mark of their own first. */
#include <string.h>

#include "model/format.h"
#include "model/torch/torch.h"

/* clang-format off */
const struct wti_model_format *const wti_model_formats[] = {
	&wti_model_gguf,
	&wti_model_npy,
	&wti_model_npz,
	&wti_model_safetensors,
	&wti_model_safetensors_index,
	&wti_model_burnpack,
	&wti_model_burn_mpk,
	&wti_model_burn_gz,
	&wti_model_burn_json,
	&wti_model_burn_bin,
	&wti_model_torch_zip,
	&wti_model_torch_legacy,
	&wti_model_dcp,
	&wti_model_pickle,
	&wti_model_onnx,
	NULL,
};
/* clang-format on */

const struct wti_model_format *wti_model_format_by_name(const char *name)
{
	for (size_t i = 0; wti_model_formats[i]; i++) {
		if (!strcmp(wti_model_formats[i]->name, name))
			return wti_model_formats[i];
	}
	return NULL;
}
