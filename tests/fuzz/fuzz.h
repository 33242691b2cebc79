/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fuzz target is to libFuzzer, and to replay.c, which runs the same target over a corpus. A
 * target ends the process when a promise is broken; otherwise it returns 0.
 */
#ifndef WTT_FUZZ_H
#define WTT_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t bytes_max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t bytes_max);

#define PROMISE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__,         \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
