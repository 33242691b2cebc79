/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the extent of boxes and which regions are mapped; hides the table of mappings. */
#include "transfer.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAPPINGS_MAX = 1 << 16,
	PATTERN_MAX = 128, /* of a fill: sizeof(long16) */
};

struct mapping {
	const void *mem, *address;
	uint64_t offset, bytes;
	cl_map_flags flags;
};

static struct {
	struct mapping *all;
	size_t count, capacity;
} mappings;

struct wti_cl_box wti_cl_box(const size_t *origin, const size_t *region, size_t row, size_t slice)
{
	struct wti_cl_box box = {.row = row, .slice = slice};

	for (int i = 0; i < 3; i++) {
		box.origin[i] = origin ? origin[i] : 0;
		box.region[i] = region ? region[i] : 0;
	}
	if (!box.row)
		box.row = box.region[0];
	if (!box.slice)
		box.slice = box.row * box.region[1];
	box.content = box.region[0] * box.region[1] * box.region[2];
	if (!box.content)
		return box;
	box.offset = box.origin[0] + box.origin[1] * box.row + box.origin[2] * box.slice;
	box.bytes = (box.region[2] - 1) * box.slice + (box.region[1] - 1) * box.row + box.region[0];
	return box;
}

void wti_cl_gives(struct wti_cl_command *c, const void *value, uint64_t bytes)
{
	if (!wti_cl.replayable || !c->object || !value || bytes > WTI_TEXT_MAX)
		return;
	wti_cl_command_access(c,
			      &(struct wti_record_device_access){.mode = WT_ACCESS_MODE_VALUE,
								 .argument = -1,
								 .bytes = bytes,
								 .value_bytes = (uint32_t)bytes},
			      value);
}

void wti_cl_boxes(struct wti_cl_command *c, const struct wti_cl_box *first,
		  const struct wti_cl_box *second)
{
	const uint64_t value[] = {
		first->origin[0],  first->origin[1],  first->origin[2], second->origin[0],
		second->origin[1], second->origin[2], first->region[0], first->region[1],
		first->region[2],  first->row,        first->slice,     second->row,
		second->slice,
	};

	wti_cl_gives(c, value, sizeof(value));
}

void wti_cl_from_host(struct wti_cl_command *c, const void *host, uint64_t bytes)
{
	if (!wti_cl.replayable || !c->object)
		return;
	wti_cl_command_touch(c, &(struct wti_cl_touch){.mode = WT_ACCESS_MODE_READ,
						       .argument = -1,
						       .bytes = bytes,
						       .hash = wti_cl_content(host, bytes)});
}

void wti_cl_pattern(struct wti_cl_command *c, const void *pattern, uint64_t bytes)
{
	if (bytes <= PATTERN_MAX)
		wti_cl_gives(c, pattern, bytes);
}

bool wti_cl_has(cl_mem mem, uint64_t offset, uint64_t bytes)
{
	struct wti_cl_object *object = wti_cl.replayable ? wti_cl_object_get(mem) : NULL;
	bool has = object && offset <= object->bytes && bytes <= object->bytes - offset;

	wti_cl_object_put(object);
	return has;
}

void wti_cl_to_host(struct wti_cl_command *c, const void *host, uint64_t bytes)
{
	c->host = host;
	c->host_bytes = bytes;
}

uint64_t wti_cl_whole(struct wti_cl_command *c, uint32_t mode, const void *mem)
{
	struct wti_cl_object *object = c->object ? wti_cl_object_get(mem) : NULL;
	uint64_t bytes = object ? object->bytes : 0;

	if (object)
		wti_cl_command_touch(
			c, &(struct wti_cl_touch){
				   .mode = mode, .argument = -1, .mem = mem, .bytes = bytes});
	wti_cl_object_put(object);
	return bytes;
}

/* ---- Mappings -------------------------------------------------------------------------------- */

void wti_cl_maps(struct wti_cl_command *c, const void *mem, uint64_t offset, uint64_t bytes,
		 cl_map_flags flags)
{
	const uint32_t mode =
		flags & CL_MAP_READ || !flags ? WT_ACCESS_MODE_READ : WT_ACCESS_MODE_NONE;

	wti_cl_command_touch(c, &(struct wti_cl_touch){.mode = mode,
						       .argument = -1,
						       .mem = mem,
						       .offset = offset,
						       .bytes = bytes});
	wti_cl_gives(c, &flags, sizeof(flags));
}

void wti_cl_mapped(const void *mem, const void *address, uint64_t offset, uint64_t bytes,
		   cl_map_flags flags)
{
	const struct mapping mapping = {mem, address, offset, bytes, flags};

	wti_cl_lock(WTI_CL_LOCK_MAPPINGS);
	if (mappings.count == mappings.capacity && mappings.capacity < MAPPINGS_MAX) {
		size_t capacity = mappings.capacity ? 2 * mappings.capacity : 16;
		struct mapping *more = realloc(mappings.all, capacity * sizeof(*more));

		if (more) {
			mappings.all = more;
			mappings.capacity = capacity;
		}
	}
	if (mappings.count < mappings.capacity)
		mappings.all[mappings.count++] = mapping;
	wti_cl_unlock(WTI_CL_LOCK_MAPPINGS);
}

/* The newest of this address; the same one may be mapped several times. */
static bool take_mapping(const void *mem, const void *address, struct mapping *ret)
{
	bool found = false;

	wti_cl_lock(WTI_CL_LOCK_MAPPINGS);
	for (size_t i = mappings.count; i-- && !found;) {
		if (mappings.all[i].mem != mem || mappings.all[i].address != address)
			continue;
		*ret = mappings.all[i];
		mappings.all[i] = mappings.all[--mappings.count];
		found = true;
	}
	wti_cl_unlock(WTI_CL_LOCK_MAPPINGS);
	return found;
}

void wti_cl_unmaps(struct wti_cl_command *c, const void *mem, const void *address)
{
	struct mapping mapping;

	if (!c->object || !take_mapping(mem, address, &mapping))
		return;
	if (!(mapping.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION))) {
		wti_cl_command_touch(c, &(struct wti_cl_touch){.mode = WT_ACCESS_MODE_NONE,
							       .argument = -1,
							       .mem = mem,
							       .offset = mapping.offset,
							       .bytes = mapping.bytes});
		return;
	}
	c->bytes = mapping.bytes;
	wti_cl_command_touch(
		c, &(struct wti_cl_touch){.mode = WT_ACCESS_MODE_WRITE,
					  .argument = -1,
					  .mem = mem,
					  .offset = mapping.offset,
					  .bytes = mapping.bytes,
					  .hash = wti_cl_content(address, mapping.bytes)});
}
