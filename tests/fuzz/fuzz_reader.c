/* SPDX-License-Identifier: Apache-2.0 */
/* Whole traces. Most mutations get their checksums made right, or nothing behind them would be
 * seen. */
#include <unistd.h>

#include "exercise.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char path[64];
	int fd = wtt_memory_file(data, bytes, path);

	wtt_exercise(path);
	close(fd);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t bytes_max, unsigned seed)
{
	bytes = LLVMFuzzerMutate(data, bytes, bytes_max);
	if (seed % 8)
		wtt_repair(data, bytes);
	return bytes;
}
