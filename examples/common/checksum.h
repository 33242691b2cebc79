/* SPDX-License-Identifier: Apache-2.0 */
/* FNV-1a over bytes, in pieces if need be: checksum(checksum(CHECKSUM_START, a, n), b, m). */
#ifndef EXAMPLES_CHECKSUM_H
#define EXAMPLES_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define CHECKSUM_START 0xcbf29ce484222325u

static inline uint64_t checksum(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *byte = data;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3u;
	return hash;
}

#endif
