/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-1 and SHA-256, as git names what it stores. For names only: SHA-1 proves nothing any more. */
#ifndef WTI_BASE_SHA_H
#define WTI_BASE_SHA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WTI_SHA1_BYTES 20
#define WTI_SHA256_BYTES 32

struct wti_sha {
	bool is_256;
	bool has_instructions; /* the processor's own, for SHA-256; a test may clear it */
	uint32_t state[8];
	uint64_t bytes;
	uint8_t block[64]; /* the beginning of one that is not whole yet */
};

void wti_sha_init(struct wti_sha *sha, bool is_256);
void wti_sha_add(struct wti_sha *sha, const void *data, size_t bytes);
/* 20 or 32 bytes. */
void wti_sha_end(struct wti_sha *sha, uint8_t ret_hash[WTI_SHA256_BYTES]);

#endif
