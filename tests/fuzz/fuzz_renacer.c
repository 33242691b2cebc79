/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of renacer. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	return fuzz_import("renacer", data, bytes);
}
