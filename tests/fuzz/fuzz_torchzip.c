/* SPDX-License-Identifier: Apache-2.0 */
/* Zip archives of torch.save(). */
#include "fuzz_model.h"
#include "model/torch/torch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	return fuzz_format(&wti_model_torch_zip, data, bytes);
}
