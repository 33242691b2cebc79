/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that are to be kept as they are, by the recorder, in the run's folder. */
#ifndef WTI_AGENTS_BLOB_H
#define WTI_AGENTS_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef bool wti_blob_put(void *self, const void *data, size_t bytes);

struct wti_blob {
	uint64_t hash;
	uint64_t bytes;
	/* Puts all bytes, in order. False: they cannot be had any more. */
	bool (*give)(void *self, wti_blob_put *put, void *with);
	void *self;
};

/* False: it is not kept. Needs no lock, never waits. */
bool wti_blob_keep(const struct wti_blob *blob);

#endif
