/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that are to be kept, handed over to the recorder as memory of their own: the program opens
 * no file of the trace and waits for nobody. What there is no room for (in the run, or on the way
 * to a recorder that does not keep up) is not kept, and that is said.
 */
#include "blob.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "agent.h"

enum {
	KNOWN = 1 << 14, /* a power of two; what has been handed over, as far as we remember */
	NEAR = 8,        /* places that one hash may take */
};

/* Kept over a fork: what the parent has handed over is in the run. */
static _Atomic uint64_t known[KNOWN];

static bool is_known(uint64_t hash)
{
	for (size_t i = 0; i < NEAR; i++)
		if (atomic_load_explicit(&known[(hash + i) % KNOWN], memory_order_relaxed) == hash)
			return true;
	return false;
}

/* The newest takes the place of one that was there: at worst that one is handed over again. */
static void remember(uint64_t hash)
{
	for (size_t i = 0; i < NEAR; i++) {
		uint64_t free_place = 0;

		if (atomic_compare_exchange_strong(&known[(hash + i) % KNOWN], &free_place, hash))
			return;
	}
	atomic_store_explicit(&known[hash % KNOWN], hash, memory_order_relaxed);
}

static bool quota_take(uint64_t bytes)
{
	struct wti_control *control = wti_agent.control;

	if (bytes > WTI_BLOB_BYTES_MAX)
		return false;
	if (atomic_fetch_add(&control->blobs_waiting_bytes, bytes) + bytes <= WTI_BLOB_BYTES_MAX) {
		if (atomic_fetch_add(&control->blobs_bytes_used, bytes) + bytes <=
		    control->blobs_bytes_max)
			return true;
		atomic_fetch_sub(&control->blobs_bytes_used, bytes);
	}
	atomic_fetch_sub(&control->blobs_waiting_bytes, bytes);
	return false;
}

static void quota_give_back(uint64_t bytes)
{
	atomic_fetch_sub(&wti_agent.control->blobs_waiting_bytes, bytes);
	atomic_fetch_sub(&wti_agent.control->blobs_bytes_used, bytes);
}

static bool put(void *self, const void *data, size_t bytes)
{
	const int *fd = self;
	const char *at = data;

	while (bytes) {
		ssize_t n = write(*fd, at, bytes);

		if (n <= 0)
			return false;
		at += n;
		bytes -= (size_t)n;
	}
	return true;
}

static bool hand_over(const struct wti_blob *blob, int fd)
{
	struct wti_agent_process *process = wti_agent.process;
	struct wti_guard guard;
	bool done = blob->give(blob->self, put, &fd);

	wti_guard_begin(&guard);
	wti_lock(process);
	done = done && atomic_load(&process->state) == WTI_PROCESS_JOINED &&
	       wti_send(process, WTI_MSG_BLOB, 0, 0, fd);
	wti_unlock(process);
	wti_guard_end(&guard);
	return done;
}

bool wti_blob_keep(const struct wti_blob *blob)
{
	int saved_errno = errno;
	bool done = false;
	int fd;

	if (!wti_agent.control || !blob->bytes)
		return false;
	if (is_known(blob->hash))
		return true;
	if (!quota_take(blob->bytes))
		return false;
	fd = wti_memory_make("wheeltap-blob", blob->bytes);
	if (fd >= 0) {
		done = hand_over(blob, fd);
		close(fd);
	}
	if (done)
		remember(blob->hash);
	else
		quota_give_back(blob->bytes);
	errno = saved_errno;
	return done;
}
