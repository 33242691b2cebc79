/* SPDX-License-Identifier: Apache-2.0 */
/* Making room; `items` may point to a pointer of any type, so it is read and written as bytes. */
#include "grow.h"

#include <stdlib.h>
#include <string.h>

#include <wheeltap/err.h>

/* Small, as some owners have a million arrays with one large item each. */
#define FIRST_BYTES 64

/* Doubled until it suffices; what cannot be doubled any more is all that may be had. */
static size_t next_capacity(size_t capacity, size_t wanted, size_t most)
{
	while (capacity < wanted && capacity <= most / 2)
		capacity *= 2;
	return capacity < wanted || capacity > most ? most : capacity;
}

int wti_grow_more(void *items, size_t item_bytes, size_t wanted, size_t *capacity, size_t ceiling,
		  bool zeroed)
{
	size_t most = PTRDIFF_MAX / item_bytes; /* no allocation is larger */
	size_t first = item_bytes < FIRST_BYTES ? FIRST_BYTES / item_bytes : 1;
	size_t next;
	char *memory;

	if (wanted <= *capacity) /* so that the function is right by itself, too */
		return 0;
	if (wanted > ceiling)
		return WT_E_LIMIT;
	if (wanted > most)
		return WT_E_NOMEM;
	next = next_capacity(*capacity ? *capacity : first, wanted,
			     most < ceiling ? most : ceiling);
	memcpy(&memory, items, sizeof(memory));
	memory = realloc(memory, next * item_bytes);
	if (!memory)
		return WT_E_NOMEM;
	if (zeroed)
		memset(memory + *capacity * item_bytes, 0, (next - *capacity) * item_bytes);
	memcpy(items, &memory, sizeof(memory));
	*capacity = next;
	return 0;
}
