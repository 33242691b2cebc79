/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of Perfetto. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	return fuzz_import("perfetto", data, bytes);
}
