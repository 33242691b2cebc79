/* SPDX-License-Identifier: Apache-2.0 */
/* Files of safetensors. What opens has no byte outside of its tensors. */
#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	return fuzz_format(&wti_model_safetensors, data, bytes);
}
