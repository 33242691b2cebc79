/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks made buffers with a real libcupti and with our own table, and compares where each record is
 * and what is read of it. usage: standin_walkers LIBRARY. Prints how many were compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/activity.h"
#include "cuda/cupti.h"

enum { BUFFERS = 200, BUFFER_BYTES = 1 << 16 };

static const uint32_t kinds[] = {1,  2,  4,  5,  8,  9,  10, 11, 12, 13, 17,
				 22, 36, 37, 38, 39, 45, 48, 49, 50, 51, 52};

static uint64_t seed = 1;

static uint32_t chance(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33);
}

/* Records in any order, with anything in their fields. */
static size_t fill(uint8_t *buffer, uint32_t version)
{
	size_t bytes = 0;

	for (;;) {
		const uint32_t kind = kinds[chance() % (sizeof(kinds) / sizeof(kinds[0]))];
		const size_t length = wti_cuda_record_bytes(version, kind);

		if (!length)
			continue;
		if (bytes + length > BUFFER_BYTES)
			return bytes;
		for (size_t i = 0; i < length; i++)
			buffer[bytes + i] = (uint8_t)chance();
		memcpy(buffer + bytes, &kind, sizeof(kind));
		bytes += length;
	}
}

/* How many records both have, the same; -1: they differ. */
static long compare(const struct wti_cupti *cupti, uint8_t *buffer, size_t bytes)
{
	struct wti_cuda_walk theirs, ours;
	long count = 0;

	wti_cuda_walk_init(&theirs, buffer, bytes, cupti->next_record, cupti->version);
	wti_cuda_walk_init(&ours, buffer, bytes, NULL, cupti->version);
	while (wti_cuda_walk_next(&theirs)) {
		struct wti_cuda_record a, b;

		if (!wti_cuda_walk_next(&ours) || ours.at != theirs.at ||
		    ours.record_bytes != theirs.record_bytes ||
		    !wti_cuda_decode(buffer + ours.at, ours.record_bytes, &a) ||
		    !wti_cuda_decode(buffer + theirs.at, theirs.record_bytes, &b) ||
		    memcmp(&a, &b, sizeof(a)) != 0) {
			fprintf(stderr,
				"record %ld of kind %u at %zu, %zu bytes; ours at %zu, %zu\n",
				count, buffer[theirs.at], theirs.at, theirs.record_bytes, ours.at,
				ours.record_bytes);
			return -1;
		}
		count++;
	}
	return wti_cuda_walk_next(&ours) ? -1 : count;
}

int main(int argc, char **argv)
{
	uint8_t *buffer = calloc(1, BUFFER_BYTES);
	struct wti_cupti cupti;
	long total = 0;
	char why[160];

	if (argc != 2 || !buffer || !wti_cupti_load(&cupti, argv[1], why, sizeof(why))) {
		fprintf(stderr, "%s\n", argc == 2 ? why : "usage: standin_walkers LIBRARY");
		return 2;
	}
	for (int i = 0; i < BUFFERS; i++) {
		const long count = compare(&cupti, buffer, fill(buffer, cupti.version));

		if (count < 0)
			return 1;
		total += count;
	}
	printf("version %u: %ld records\n", cupti.version, total);
	free(buffer);
	return 0;
}
