/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making rings: memory that is there in full before the first record, mapped twice in a row, and
 * paid for out of what the run allows.
 */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "private.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
	POPULATE_BYTES_MAX =
		1 << 20, /* touched at once: page faults are not for the first events */
};

int wti_memory_make(const char *name, uint64_t bytes)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd;

	if (!wti_room_file(bytes))
		return -1;
	fd = (int)syscall(SYS_memfd_create, name, flags | MFD_NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL)
		fd = (int)syscall(SYS_memfd_create, name, flags);
	if (fd < 0)
		return -1;
	if (fallocate(fd, 0, 0, (off_t)bytes) != 0) {
		close(fd);
		return -1;
	}
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	return fd;
}

static struct wti_ring *map_twice(int fd, uint64_t data_bytes)
{
	const uint64_t once = WTI_RING_HEADER_BYTES + data_bytes;
	const int both = PROT_READ | PROT_WRITE;
	uint8_t *base = mmap(NULL, once + data_bytes, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return NULL;
	if (mmap(base, once, both, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED ||
	    mmap(base + once, data_bytes, both, MAP_SHARED | MAP_FIXED, fd,
		 WTI_RING_HEADER_BYTES) == MAP_FAILED) {
		munmap(base, once + data_bytes);
		return NULL;
	}
	madvise(base, once + data_bytes, MADV_DONTFORK);
	madvise(base,
		WTI_RING_HEADER_BYTES +
			(data_bytes < POPULATE_BYTES_MAX ? data_bytes : POPULATE_BYTES_MAX),
		MADV_POPULATE_WRITE);
	return (struct wti_ring *)base;
}

static uint64_t mapped_bytes(uint64_t data_bytes)
{
	return WTI_RING_HEADER_BYTES + 2 * data_bytes;
}

void wti_ring_unmap(struct wti_ring *ring, uint64_t data_bytes)
{
	munmap(ring, mapped_bytes(data_bytes));
	wti_room_give(wti_agent.process, mapped_bytes(data_bytes));
}

static bool quota_take(uint64_t bytes, bool count_refusal)
{
	struct wti_control *control = wti_agent.control;

	if (atomic_fetch_add(&control->rings_bytes_used, bytes) + bytes <= control->rings_bytes_max)
		return true;
	atomic_fetch_sub(&control->rings_bytes_used, bytes);
	if (count_refusal)
		atomic_fetch_add(&control->refused_count, 1);
	return false;
}

/* Masked if it has to be. */
static void thread_name(char name[16])
{
	if (prctl(PR_GET_NAME, name) != 0)
		name[0] = 0;
	name[15] = 0;
	if (!wti_agent.control->strings_keep)
		name[wti_secret_mask(name, strlen(name))] = 0;
}

static uint32_t define_thread(struct wti_agent_process *process, uint32_t tid, const char *name)
{
	struct {
		struct wti_track_definition track;
		char name[16];
	} definition = {.track = {.type = WTI_TRACK_THREAD, .tid = tid}};
	uint32_t id;

	memcpy(definition.name, name, strlen(name));
	wti_lock(process);
	id = wti_define_new(process, WTI_DEF_TRACK, &definition,
			    sizeof(definition.track) + strlen(name));
	wti_unlock(process);
	return id;
}

static void write_process(struct wti_ring *ring, const struct wti_agent_process *process)
{
	const uint32_t bytes = sizeof(struct wti_record_process) + 16;
	struct wti_record_process *record;
	char command[16] = {0};

	wti_command(command);
	wti_ring_enter(ring);
	record = wti_ring_reserve(ring, WT_KIND_PROCESS, bytes);
	record->pid = process->pid;
	record->ppid = (uint32_t)syscall(SYS_getppid);
	record->exec = 0;
	record->flags = 0;
	record->command_bytes = (uint32_t)strlen(command);
	memcpy(record + 1, command, sizeof(command));
	wti_ring_commit(ring, bytes);
}

static void write_thread(struct wti_ring *ring, const char name[16])
{
	const uint32_t bytes = sizeof(struct wti_record_thread) + 16;
	struct wti_record_thread *record;

	wti_ring_enter(ring);
	record = wti_ring_reserve(ring, WT_KIND_THREAD, bytes);
	record->tid = ring->tid;
	record->phase = WT_PHASE_BEGIN;
	record->name_bytes = (uint32_t)strlen(name);
	memcpy(record + 1, name, 16);
	wti_ring_commit(ring, bytes);
}

static struct wti_ring *ring_map(const struct wti_slot *slot, int fd, uint32_t data_bytes)
{
	struct wti_ring *ring = map_twice(fd, data_bytes);

	if (!ring)
		return NULL;
	ring->magic = WTI_RING_MAGIC;
	ring->data_bytes = data_bytes;
	ring->tid = slot->tid;
	ring->flags = wti_agent.ring_flags | (wti_agent.process->fenced ? 2 : 0);
	ring->born_ticks = wti_ticks(ring->flags);
	return ring;
}

/* Fills in who it belongs to, with the first records, and hands it over. */
static bool ring_hand_over(struct wti_agent_process *process, struct wti_slot *slot,
			   struct wti_ring *ring, int fd)
{
	char *name = slot->name;
	bool first;

	thread_name(name);
	ring->track = define_thread(process, ring->tid, name);
	first = atomic_exchange(&process->announced, 1) == 0;
	if (first)
		write_process(ring, process);
	write_thread(ring, name);
	if (wti_send(process, WTI_MSG_RING, ring->tid, ring->track, fd))
		return true;
	if (first)
		atomic_store(&process->announced, 0);
	return false;
}

bool wti_ring_make(struct wti_agent_process *process, struct wti_slot *slot)
{
	const uint32_t data_bytes = wti_agent.ring_bytes;
	const uint64_t bytes = WTI_RING_HEADER_BYTES + (uint64_t)data_bytes;
	struct wti_ring *ring = NULL;
	int fd;

	if (!wti_room_take(process, mapped_bytes(data_bytes)))
		return false;
	if (!quota_take(bytes, slot->retry_ns == 0)) {
		wti_room_give(process, mapped_bytes(data_bytes));
		return false;
	}
	fd = wti_memory_make("wheeltap-ring", bytes);
	if (fd >= 0)
		ring = ring_map(slot, fd, data_bytes);
	if (ring && !ring_hand_over(process, slot, ring, fd)) {
		munmap(ring, mapped_bytes(data_bytes));
		ring = NULL;
	}
	if (fd >= 0)
		close(fd);
	if (!ring) {
		wti_room_give(process, mapped_bytes(data_bytes));
		atomic_fetch_sub(&wti_agent.control->rings_bytes_used, bytes);
		return false;
	}
	slot->ring_bytes = data_bytes;
	slot->ring = ring;
	slot->fast_ring = wti_agent.ring_flags == 0 ? ring : NULL;
	return true;
}
