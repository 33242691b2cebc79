/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of words, by CUPTI's numbers. */
#include "words.h"

#include <stdio.h>

#define PICK(table, number)                                                                        \
	((number) < sizeof(table) / sizeof((table)[0]) && (table)[number] ? (table)[number]        \
									  : "unknown")

static const char *const copies[] = {"unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
				     "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
static const char *const memories[] = {"Unknown", "Pageable", "Pinned",        "Device",
				       "Array",   "Managed",  "Device Static", "Managed Static"};
static const char *const synchronizations[] = {"Unknown Sync", "Event Sync", "Stream Wait Event",
					       "Stream Sync", "Context Sync"};
static const char *const pools[] = {"unknown", "create", "destroy", "trim"};
static const char *const jits[] = {"unknown", "cache load", "cache store", "compile"};
/* In the upper 16 bits; the lower have the driver's compiler. */
static const char *const overheads[] = {
	"compiler",     "buffer flush",        "instrumentation", "resource",      "module loading",
	"lazy loading", "command buffer full", "buffer request",  "unified memory"};

static int words_of_memory(const struct wti_cuda_record *record, char *out, size_t bytes)
{
	const char *memory = PICK(memories, record->to_memory);

	switch (record->kind) {
	case WTI_CUDA_MEMSET:
		return snprintf(out, bytes, "Memset (%s)", memory);
	case WTI_CUDA_MEMORY2:
		return snprintf(out, bytes, "%s (%s)", record->what == 1 ? "Alloc" : "Free",
				memory);
	case WTI_CUDA_MEMORY:
		return snprintf(out, bytes, "Alloc (%s)", memory);
	default:
		return snprintf(out, bytes, "Memcpy %s (%s -> %s)", PICK(copies, record->what),
				PICK(memories, record->from_memory), memory);
	}
}

size_t wti_cuda_words(const struct wti_cuda_record *record, char out[WTI_CUDA_WORDS_BYTES])
{
	const size_t room = WTI_CUDA_WORDS_BYTES;
	int bytes;

	switch (record->kind) {
	case WTI_CUDA_MEMCPY:
	case WTI_CUDA_MEMCPY2:
	case WTI_CUDA_MEMSET:
	case WTI_CUDA_MEMORY:
	case WTI_CUDA_MEMORY2:
		bytes = words_of_memory(record, out, room);
		break;
	case WTI_CUDA_SYNCHRONIZATION:
		bytes = snprintf(out, room, "%s", PICK(synchronizations, record->what));
		break;
	case WTI_CUDA_EVENT:
		bytes = snprintf(out, room, "Event Record");
		break;
	case WTI_CUDA_MEMORY_POOL:
		bytes = snprintf(out, room, "Pool %s", PICK(pools, record->what));
		break;
	case WTI_CUDA_GRAPH_TRACE:
		bytes = snprintf(out, room, "Graph %u", record->graph);
		break;
	case WTI_CUDA_JIT:
		bytes = snprintf(out, room, "JIT %s", PICK(jits, record->what));
		break;
	case WTI_CUDA_OVERHEAD:
		bytes = snprintf(out, room, "CUPTI %s", PICK(overheads, record->what >> 16));
		break;
	default:
		bytes = snprintf(out, room, "cbid %u", record->what);
	}
	return (size_t)bytes < room ? (size_t)bytes : room - 1;
}

size_t wti_cuda_geometry(const struct wti_cuda_record *record, char out[WTI_CUDA_WORDS_BYTES])
{
	const uint32_t *grid = record->grid, *block = record->block;

	if (!grid[0])
		return 0;
	return (size_t)snprintf(out, WTI_CUDA_WORDS_BYTES, "%ux%ux%u/%ux%ux%u", grid[0], grid[1],
				grid[2], block[0], block[1], block[2]);
}
