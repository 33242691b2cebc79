/* SPDX-License-Identifier: Apache-2.0 */
/* Hides the chunks: each twice as large as the one before, up to CHUNK_MAX. */
#include "arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/err.h>

#define CHUNK_MIN 1024
#define CHUNK_MAX (256 * 1024)
#define ALIGNMENT alignof(max_align_t)

struct wti_arena_chunk {
	struct wti_arena_chunk *before;
	size_t used;
	size_t capacity;
	alignas(max_align_t) uint8_t data[];
};

void wti_arena_init(struct wti_arena *arena, size_t ceiling)
{
	*arena = (struct wti_arena){.ceiling = ceiling};
}

void wti_arena_release(struct wti_arena *arena)
{
	struct wti_arena_chunk *before;

	if (!arena)
		return;
	for (struct wti_arena_chunk *chunk = arena->chunk; chunk; chunk = before) {
		before = chunk->before;
		free(chunk);
	}
	wti_arena_init(arena, arena->ceiling);
}

static int add_chunk(struct wti_arena *arena, size_t bytes)
{
	size_t capacity = arena->chunk ? arena->chunk->capacity * 2 : CHUNK_MIN;
	struct wti_arena_chunk *chunk;

	if (capacity > CHUNK_MAX)
		capacity = CHUNK_MAX;
	if (capacity < bytes)
		capacity = bytes;
	chunk = calloc(1, sizeof(*chunk) + capacity);
	if (!chunk)
		return arena->status = WT_E_NOMEM;
	chunk->capacity = capacity;
	chunk->before = arena->chunk;
	arena->chunk = chunk;
	return 0;
}

void *wti_arena_alloc(struct wti_arena *arena, size_t bytes)
{
	size_t rounded = (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	struct wti_arena_chunk *chunk = arena->chunk;
	void *piece;

	if (rounded < bytes || rounded > arena->ceiling - arena->bytes ||
	    rounded > SIZE_MAX - sizeof(*chunk)) {
		arena->status = WT_E_LIMIT;
		return NULL;
	}
	if (!chunk || rounded > chunk->capacity - chunk->used) {
		if (add_chunk(arena, rounded))
			return NULL;
		chunk = arena->chunk;
	}
	piece = chunk->data + chunk->used;
	chunk->used += rounded;
	arena->bytes += rounded;
	return piece;
}

char *wti_arena_text(struct wti_arena *arena, const void *text, size_t bytes)
{
	/* With SIZE_MAX itself, which no arena can hold, the sum would be small. */
	char *copy = wti_arena_alloc(arena, bytes < SIZE_MAX ? bytes + 1 : bytes);

	if (copy && bytes)
		memcpy(copy, text, bytes);
	return copy;
}
