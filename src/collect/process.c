/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how to take over memory from a program that nobody should trust: the memfd must have the
 * size that it says, and must be sealed against shrinking, as reading past its end would be a
 * SIGBUS.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "process.h"

/* The size of a memfd that cannot shrink any more, or 0. */
static size_t sealed_bytes(int fd, size_t ceiling)
{
	struct stat st;
	int seals;

	fcntl(fd, F_ADD_SEALS,
	      F_SEAL_SHRINK); /* done already, or it is the look below that fails */
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return 0;
	if (fstat(fd, &st) || st.st_size <= 0 || (uint64_t)st.st_size > ceiling)
		return 0;
	return (size_t)st.st_size;
}

int wti_process_add_chunk(struct wti_process *process, uint32_t index, int fd)
{
	struct wti_chunk_view view = {.at = sizeof(struct wti_chunk)};
	const struct wti_chunk *chunk;

	if (index >= WTI_CHUNKS_MAX || (index < process->chunk_count && process->chunks[index].map))
		return WT_E_FORMAT;
	view.bytes = sealed_bytes(fd, WTI_CHUNK_BYTES);
	if (view.bytes < sizeof(struct wti_chunk))
		return WT_E_FORMAT;
	view.map = mmap(NULL, view.bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (view.map == MAP_FAILED)
		return WT_E_NOMEM;
	chunk = (const void *)view.map;
	if (chunk->magic != WTI_CHUNK_MAGIC ||
	    wti_grow_zeroed(&process->chunks, index + 1, &process->chunk_capacity,
			    WTI_CHUNKS_MAX)) {
		munmap((void *)view.map, view.bytes);
		return WT_E_FORMAT;
	}
	process->chunks[index] = view;
	if (index >= process->chunk_count)
		process->chunk_count = index + 1;
	return 0;
}

static bool ring_is_sane(const struct wti_ring_view *view)
{
	uint32_t bytes = view->data_bytes;

	return view->ring->magic == WTI_RING_MAGIC && bytes >= WTI_RING_MIN_BYTES &&
	       bytes <= WTI_RING_MAX_BYTES && !(bytes & (bytes - 1)) &&
	       bytes + (size_t)WTI_RING_HEADER_BYTES == view->map_bytes;
}

int wti_process_add_ring(struct wti_process *process, const struct wti_message *message, int fd)
{
	struct wti_ring_view view = {.track = message->track};

	if (process->ring_count >= WTI_RINGS_MAX)
		return WT_E_LIMIT;
	view.map_bytes = sealed_bytes(fd, WTI_RING_HEADER_BYTES + (size_t)WTI_RING_MAX_BYTES);
	if (view.map_bytes <= WTI_RING_HEADER_BYTES)
		return WT_E_FORMAT;
	view.ring = mmap(NULL, view.map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (view.ring == MAP_FAILED)
		return WT_E_NOMEM;
	view.data_bytes = *(volatile uint32_t *)&view.ring->data_bytes;
	view.flags = *(volatile uint64_t *)&view.ring->flags;
	view.last_ticks = *(volatile uint64_t *)&view.ring->born_ticks;
	if (!ring_is_sane(&view) || wti_grow(&process->rings, process->ring_count + 1,
					     &process->ring_capacity, WTI_RINGS_MAX)) {
		munmap(view.ring, view.map_bytes);
		return WT_E_FORMAT;
	}
	process->rings[process->ring_count++] = view;
	return 0;
}

void wti_process_remove_ring(struct wti_process *process, size_t index)
{
	munmap(process->rings[index].ring, process->rings[index].map_bytes);
	process->rings[index] = process->rings[--process->ring_count];
}

/* Who it was stays known: a later hello may be the same process after an exec. */
void wti_process_release(struct wti_process *process)
{
	while (process->ring_count)
		wti_process_remove_ring(process, process->ring_count - 1);
	for (size_t i = 0; i < process->chunk_count; i++)
		if (process->chunks[i].map)
			munmap((void *)process->chunks[i].map, process->chunks[i].bytes);
	free(process->rings);
	free(process->chunks);
	if (process->pidfd >= 0)
		close(process->pidfd);
	process->rings = NULL;
	process->chunks = NULL;
	process->ring_capacity = process->chunk_capacity = process->chunk_count = 0;
	process->pidfd = -1;
	process->ended = true;
}
