/* SPDX-License-Identifier: Apache-2.0 */
/* Burn's records in gzip. */
#include "fuzz_burn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	return burn_try(&wti_model_burn_gz, data, bytes);
}
