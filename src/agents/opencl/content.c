/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that a replay needs, kept in the run's folder under their hash: what was kept once costs a
 * hash from then on. Whoever asks for a recording that can be replayed accepts that the program
 * waits here for a recorder that is slower.
 */
#include "own.h"

#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
	WAIT_NS = 5000000,
	WAITS_MAX = 400, /* two seconds; then it is not kept, which the trace shows */
};

struct bytes {
	const void *data;
	size_t bytes;
};

static bool give(void *self, wti_blob_put *put, void *with)
{
	const struct bytes *all = self;

	return put(with, all->data, all->bytes);
}

uint64_t wti_cl_content(const void *data, size_t bytes)
{
	const struct timespec nap = {.tv_nsec = WAIT_NS};
	struct bytes all = {data, bytes};
	struct wti_blob blob = {.bytes = bytes, .give = give, .self = &all};
	bool kept;

	if (!wti_cl.replayable || !data || !bytes)
		return 0;
	blob.hash = XXH3_64bits(data, bytes);
	kept = wti_blob_keep(&blob);
	for (int i = 0; !kept && bytes <= WTI_BLOB_BYTES_MAX && i < WAITS_MAX; i++) {
		nanosleep(&nap, NULL);
		kept = wti_blob_keep(&blob);
	}
	return kept ? blob.hash : 0;
}
