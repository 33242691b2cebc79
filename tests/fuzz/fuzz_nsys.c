/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite of Nsight Systems. */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	return fuzz_import("nsys", data, bytes);
}
