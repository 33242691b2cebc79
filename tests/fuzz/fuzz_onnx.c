/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX models. */
#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	return fuzz_format(&wti_model_onnx, data, bytes);
}
