/* SPDX-License-Identifier: Apache-2.0 */
/* Files of torch.save() before 1.6. */
#include "fuzz_model.h"
#include "model/torch/torch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	return fuzz_format(&wti_model_torch_legacy, data, bytes);
}
