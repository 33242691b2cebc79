/* SPDX-License-Identifier: Apache-2.0 */
/* Knows that what is mapped anew covers what was there. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "spaces.h"

#define PROCESSES_MAX (1u << 22) /* as many numbers as there are */
#define MAPPINGS_MAX 65536u      /* of a process; the kernel's own limit */

void wti_spaces_init(struct wti_spaces *spaces)
{
	*spaces = (struct wti_spaces){0};
	wti_codes_init(&spaces->codes);
	wti_map_init(&spaces->by_pid, PROCESSES_MAX);
}

static void free_space(struct wti_space *space)
{
	if (!space)
		return;
	free(space->mappings);
	free(space);
}

void wti_spaces_release(struct wti_spaces *spaces)
{
	for (size_t i = 0; i < spaces->by_pid.count; i++)
		free_space((void *)(uintptr_t)spaces->by_pid.entries[i].value);
	wti_map_release(&spaces->by_pid);
	wti_codes_release(&spaces->codes);
}

static struct wti_space *space_of(const struct wti_spaces *spaces, uint32_t pid)
{
	const uint64_t *slot = wti_map_find_number(&spaces->by_pid, pid);

	return slot ? (void *)(uintptr_t)*slot : NULL;
}

const struct wti_space *wti_spaces_of(const struct wti_spaces *spaces, uint32_t pid)
{
	return space_of(spaces, pid);
}

/* Empty, if it is new; NULL: no memory. */
static struct wti_space *make(struct wti_spaces *spaces, uint32_t pid)
{
	uint64_t *slot = wti_map_number(&spaces->by_pid, pid);

	if (slot && !*slot)
		*slot = (uint64_t)(uintptr_t)calloc(1, sizeof(struct wti_space));
	return slot ? (void *)(uintptr_t)*slot : NULL;
}

void wti_spaces_begin(struct wti_spaces *spaces, uint32_t pid)
{
	struct wti_space *space = make(spaces, pid);

	if (space)
		space->count = 0;
}

static void end(struct wti_spaces *spaces, uint32_t pid)
{
	uint64_t *slot = wti_map_number(&spaces->by_pid, pid);

	if (!slot)
		return;
	free_space((void *)(uintptr_t)*slot);
	*slot = 0;
}

/* ---- Mappings -------------------------------------------------------------------------------- */

/* The first mapping that ends behind `address`. */
static size_t first_behind(const struct wti_space *space, uint64_t address)
{
	size_t low = 0, high = space->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void insert(struct wti_space *space, size_t at, struct wti_mapping mapping)
{
	memmove(&space->mappings[at + 1], &space->mappings[at],
		(space->count - at) * sizeof(mapping));
	space->mappings[at] = mapping;
	space->count++;
}

/* Takes away whatever stands in a range, whole or in part. */
static void clear(struct wti_space *space, uint64_t begin, uint64_t until)
{
	size_t at = first_behind(space, begin), last;

	if (at < space->count && space->mappings[at].begin < begin) {
		struct wti_mapping rest = space->mappings[at];

		space->mappings[at++].end = begin;
		if (rest.end > until) { /* it is cut in two */
			rest.offset += until - rest.begin;
			rest.begin = until;
			insert(space, at, rest);
			return;
		}
	}
	for (last = at; last < space->count && space->mappings[last].end <= until; last++)
		;
	memmove(&space->mappings[at], &space->mappings[last],
		(space->count - last) * sizeof(*space->mappings));
	space->count -= last - at;
	if (at < space->count && space->mappings[at].begin < until) {
		space->mappings[at].offset += until - space->mappings[at].begin;
		space->mappings[at].begin = until;
	}
}

static void add(struct wti_spaces *spaces, struct wti_space *space, const struct wti_raw_map *raw)
{
	uint32_t code;

	if (!raw->bytes || raw->bytes > UINT64_MAX - raw->address)
		return;
	if (wti_grow(&space->mappings, space->count + 2, &space->capacity, MAPPINGS_MAX)) {
		spaces->left_out++;
		return;
	}
	clear(space, raw->address, raw->address + raw->bytes);
	if (!raw->path_bytes) /* code that was made on the spot */
		return;
	code = wti_codes_find(&spaces->codes, (const char *)(raw + 1), raw->path_bytes);
	if (!code) {
		spaces->left_out++;
		return;
	}
	insert(space, first_behind(space, raw->address),
	       (struct wti_mapping){raw->address, raw->address + raw->bytes, raw->offset, code});
}

static void copy(struct wti_spaces *spaces, uint32_t pid, uint32_t parent)
{
	const struct wti_space *from = wti_spaces_of(spaces, parent);
	struct wti_space *to = from && pid != parent ? make(spaces, pid) : NULL;

	if (!to)
		return;
	to->count = 0;
	if (wti_grow(&to->mappings, from->count, &to->capacity, MAPPINGS_MAX)) {
		spaces->left_out += from->count;
		return;
	}
	if (from->count)
		memcpy(to->mappings, from->mappings, from->count * sizeof(*from->mappings));
	to->count = from->count;
}

void wti_spaces_change(struct wti_spaces *spaces, const struct wti_raw_map *raw)
{
	struct wti_space *space = space_of(spaces, raw->pid);

	switch (raw->change) {
	case WTI_MAP_BEGIN:
		wti_spaces_begin(spaces, raw->pid);
		break;
	case WTI_MAP_ADD:
		if (space)
			add(spaces, space, raw);
		break;
	case WTI_MAP_CLEAR:
		if (space)
			space->count = 0;
		break;
	case WTI_MAP_COPY:
		copy(spaces, raw->pid, raw->parent);
		break;
	case WTI_MAP_END:
		if (space)
			end(spaces, raw->pid);
		break;
	}
}

uint32_t wti_spaces_place(const struct wti_spaces *spaces, const struct wti_space *space,
			  uint64_t address, uint64_t *ret_address)
{
	size_t at = first_behind(space, address);
	const struct wti_mapping *mapping = &space->mappings[at];
	const struct wti_mapped_code *code;
	uint64_t offset;

	if (at == space->count || mapping->begin > address)
		return 0;
	offset = address - mapping->begin + mapping->offset;
	code = wti_codes_at(&spaces->codes, mapping->code);
	if (!code->is_elf) {
		*ret_address = offset;
		return mapping->code;
	}
	return wti_cfi_address(&code->cfi, offset, ret_address) ? mapping->code : 0;
}
