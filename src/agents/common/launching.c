/* SPDX-License-Identifier: Apache-2.0 */
/* The words, which CUDA and HIP share. */
#include "launching.h"

#include <stddef.h>
#include <string.h>

bool wti_launching(const char *name)
{
	static const char *const words[] = {"Launch",      "Memcpy",    "Memset", "Synchronize",
					    "EventRecord", "WaitEvent", "Malloc", "MemAlloc",
					    "Free",        "Prefetch"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}
