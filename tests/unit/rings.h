/* SPDX-License-Identifier: Apache-2.0 */
/* Rings and definitions as an agent would make them, for tests of what the recorder does with them.
 */
#ifndef WTI_TESTS_RINGS_H
#define WTI_TESTS_RINGS_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/process.h"
#include "records.h"

/* A ring that is handed to `process`; ours to write. */
static inline struct wti_ring *rings_make(struct wti_process *process, uint32_t track,
					  uint32_t data_bytes)
{
	size_t bytes = WTI_RING_HEADER_BYTES + (size_t)data_bytes;
	struct wti_message message = {.type = WTI_MSG_RING, .track = track};
	int fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	uint8_t *base;

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		abort();
	base = mmap(NULL, bytes + data_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		    MAP_FAILED ||
	    mmap(base + bytes, data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		 WTI_RING_HEADER_BYTES) == MAP_FAILED)
		abort();
	*(struct wti_ring *)base = (struct wti_ring){
		.magic = WTI_RING_MAGIC, .data_bytes = data_bytes, .track = track};
	if (wti_process_add_ring(process, &message, fd))
		abort();
	close(fd);
	return (struct wti_ring *)base;
}

static inline void rings_free(struct wti_ring *ring)
{
	munmap(ring, WTI_RING_HEADER_BYTES + 2 * (size_t)ring->data_bytes);
}

/* A mark, or a loss where there is no room. */
static inline bool rings_emit(struct wti_ring *ring, uint64_t value)
{
	const uint32_t bytes = sizeof(struct wti_record_mark);
	struct wti_record_mark *mark;

	if (!wti_ring_enter(ring))
		return false;
	if (!wti_ring_has_room(ring, bytes)) {
		wti_ring_drop(ring);
		return false;
	}
	mark = wti_ring_reserve(ring, WT_KIND_MARK, bytes);
	mark->name = 1;
	mark->flags = 0;
	mark->value = value;
	wti_ring_commit(ring, bytes);
	return true;
}

#endif
