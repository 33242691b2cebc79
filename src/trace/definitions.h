/* SPDX-License-Identifier: Apache-2.0 */
/* What the events of a stream refer to by number, as a reader holds it. */
#ifndef WTI_TRACE_DEFINITIONS_H
#define WTI_TRACE_DEFINITIONS_H

#include <wheeltap/trace.h>

#include "base/arena.h"
#include "base/map.h"

#define WTI_DEFINITION_TYPES 6 /* types are below this */

struct wti_definitions {
	struct wti_arena arena;
	struct wti_map ids[WTI_DEFINITION_TYPES]; /* id -> pointer to what it means */
	uint32_t string_count;                    /* ids of strings are below this */
};

struct wti_stack {
	size_t count;
	uint64_t frames[];
};

void wti_definitions_init(struct wti_definitions *definitions);
/* Those of a file, which can hold so many. To be called again when it has grown. */
void wti_definitions_bound(struct wti_definitions *definitions, uint64_t file_bytes);
void wti_definitions_release(struct wti_definitions *definitions);
/* Takes in the content of a definitions block. */
int wti_definitions_read(struct wti_definitions *definitions, const uint8_t *content, size_t bytes,
			 uint32_t rows);
/* Takes in one. */
int wti_definitions_add(struct wti_definitions *definitions, unsigned type, uint32_t id,
			const uint8_t *payload, size_t bytes);
/* What `id` of that type means, or NULL. */
const void *wti_definition(const struct wti_definitions *definitions, unsigned type, uint32_t id);
/* The same by position, in order of definition. */
size_t wti_definition_count(const struct wti_definitions *definitions, unsigned type);
const void *wti_definition_at(const struct wti_definitions *definitions, unsigned type,
			      size_t index);

#endif
