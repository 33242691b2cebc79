/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kind of work an operation is. HolisticTraceAnalysis asks its name alone; here what the trace
 * says comes first (a copy is memory, a collective communication, whatever they are called), then
 * the name. docs/devices.md has the differences.
 */
#include <string.h>

#include "work.h"

static bool begins(const char *name, const char *word)
{
	return !strncmp(name, word, strlen(word));
}

static bool is_communication(const char *name)
{
	return begins(name, "nccl") || begins(name, "rccl") || begins(name, "hccl") ||
	       strstr(name, "ncclKernel") || strstr(name, "ncclDevKernel");
}

static bool is_memory(const char *name)
{
	if (begins(name, "hip"))
		name += 3;
	return begins(name, "Memcpy") || begins(name, "Memset") || begins(name, "dma");
}

/* Bookkeeping that some sources show on the rows of a device. */
static bool is_other(const char *name)
{
	return strstr(name, "Memcpy") || strstr(name, "Memset") || strstr(name, "Sync") ||
	       begins(name, "Stream Wait Event");
}

enum wti_kernel_type wti_kernel_type(uint8_t op, const char *name)
{
	switch (op) {
	case WT_OP_COLLECTIVE:
		return WTI_KERNEL_COMMUNICATION;
	case WT_OP_COPY:
	case WT_OP_FILL:
		return WTI_KERNEL_MEMORY;
	case WT_OP_KERNEL:
	case WT_OP_OTHER:
		break;
	default:
		return WTI_KERNEL_OTHER;
	}
	if (is_communication(name))
		return WTI_KERNEL_COMMUNICATION;
	if (is_memory(name))
		return WTI_KERNEL_MEMORY;
	return is_other(name) ? WTI_KERNEL_OTHER : WTI_KERNEL_COMPUTE;
}

const char *wti_kernel_type_word(enum wti_kernel_type type)
{
	static const char *const words[WTI_KERNEL_TYPES] = {"compute", "communication", "memory",
							    "other"};

	return words[type];
}
