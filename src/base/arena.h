/* SPDX-License-Identifier: Apache-2.0 */
/* Memory handed out in small pieces and given back as a whole, with a ceiling. */
#ifndef WTI_BASE_ARENA_H
#define WTI_BASE_ARENA_H

#include <stddef.h>

struct wti_arena_chunk;

struct wti_arena {
	struct wti_arena_chunk *chunk; /* the one being filled; it knows the one before */
	size_t bytes;                  /* handed out so far */
	size_t ceiling;
	int status; /* of the last failure: WT_E_NOMEM, or WT_E_LIMIT at the ceiling */
};

void wti_arena_init(struct wti_arena *arena, size_t ceiling);
void wti_arena_release(struct wti_arena *arena);
/* Zeroed and aligned for any type; NULL at the ceiling or out of memory, and `status` says which.
 */
void *wti_arena_alloc(struct wti_arena *arena, size_t bytes);
/* A copy that ends with NUL. */
char *wti_arena_text(struct wti_arena *arena, const void *text, size_t bytes);

#endif
