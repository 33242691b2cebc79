/* SPDX-License-Identifier: Apache-2.0 */
/* One function a type of definition; every length is checked against what is there. */
#include "definitions.h"

#include <string.h>

#include "base/bytes.h"
#include "protocol.h"

#define DEFINITIONS_BYTES_MAX ((size_t)256 << 20)
/* Of a file, a few definitions in any case, and so many times its size: names do not compress
 * better than that, and a frame of zeros does. */
#define DEFINITIONS_BYTES_MIN ((size_t)4 << 20)
#define DEFINITIONS_RATIO 64u
#define DEFINITIONS_MAX ((size_t)8 << 20)

void wti_definitions_init(struct wti_definitions *definitions)
{
	*definitions = (struct wti_definitions){.string_count = 1};
	wti_arena_init(&definitions->arena, DEFINITIONS_BYTES_MAX);
	for (int i = 0; i < WTI_DEFINITION_TYPES; i++)
		wti_map_init(&definitions->ids[i], DEFINITIONS_MAX);
}

void wti_definitions_bound(struct wti_definitions *definitions, uint64_t file_bytes)
{
	size_t ceiling = DEFINITIONS_BYTES_MAX;

	if (file_bytes < (DEFINITIONS_BYTES_MAX - DEFINITIONS_BYTES_MIN) / DEFINITIONS_RATIO)
		ceiling = DEFINITIONS_BYTES_MIN + DEFINITIONS_RATIO * (size_t)file_bytes;
	if (ceiling > definitions->arena.ceiling || !definitions->arena.bytes)
		definitions->arena.ceiling = ceiling;
}

void wti_definitions_release(struct wti_definitions *definitions)
{
	wti_arena_release(&definitions->arena);
	for (int i = 0; i < WTI_DEFINITION_TYPES; i++)
		wti_map_release(&definitions->ids[i]);
}

static const void *take_string(struct wti_arena *arena, uint32_t id, struct wti_bytes *in)
{
	struct wt_text *text = wti_arena_alloc(arena, sizeof(*text));

	(void)id;
	if (!text)
		return NULL;
	text->bytes = wti_bytes_left(in);
	text->data = wti_arena_text(arena, (const char *)in->at, text->bytes);
	return text->data ? text : NULL;
}

static const void *take_track(struct wti_arena *arena, uint32_t id, struct wti_bytes *in)
{
	struct wt_track *track = wti_arena_alloc(arena, sizeof(*track));

	if (!track)
		return NULL;
	track->id = id;
	track->type = wti_bytes_u32(in);
	track->tid = wti_bytes_u32(in);
	track->device = wti_bytes_u32(in);
	wti_bytes_u32(in);
	track->name_bytes = wti_bytes_left(in);
	track->name = wti_arena_text(arena, (const char *)in->at, track->name_bytes);
	return track->name ? track : NULL;
}

static const void *take_stack(struct wti_arena *arena, uint32_t id, struct wti_bytes *in)
{
	size_t count = wti_bytes_left(in) / sizeof(uint64_t);
	struct wti_stack *stack = wti_arena_alloc(arena, sizeof(*stack) + count * sizeof(uint64_t));

	(void)id;
	if (!stack)
		return NULL;
	stack->count = count;
	for (size_t i = 0; i < count; i++)
		stack->frames[i] = wti_bytes_u64(in);
	return stack;
}

static const void *take_module(struct wti_arena *arena, uint32_t id, struct wti_bytes *in)
{
	struct wt_module *module = wti_arena_alloc(arena, sizeof(*module));
	const uint8_t *build_id;
	const uint8_t *path;

	(void)id;
	if (!module)
		return NULL;
	module->base = wti_bytes_u64(in);
	module->bytes = wti_bytes_u64(in);
	module->build_id_bytes = wti_bytes_u32(in);
	module->path_bytes = wti_bytes_u32(in);
	build_id = wti_bytes_take(in, module->build_id_bytes);
	path = wti_bytes_take(in, module->path_bytes);
	if (!path)
		return NULL;
	module->build_id = (const uint8_t *)wti_arena_text(arena, (const char *)build_id,
							   module->build_id_bytes);
	module->path = wti_arena_text(arena, (const char *)path, module->path_bytes);
	return module->build_id && module->path ? module : NULL;
}

static const void *take_site(struct wti_arena *arena, uint32_t id, struct wti_bytes *in)
{
	struct wt_site *site = wti_arena_alloc(arena, sizeof(*site));

	(void)id;
	if (!site)
		return NULL;
	site->file = wti_bytes_u32(in);
	site->function = wti_bytes_u32(in);
	site->line = wti_bytes_u32(in);
	return site;
}

static const void *(*const take[WTI_DEFINITION_TYPES])(struct wti_arena *, uint32_t,
						       struct wti_bytes *) = {
	[WTI_DEF_STRING] = take_string, [WTI_DEF_TRACK] = take_track, [WTI_DEF_STACK] = take_stack,
	[WTI_DEF_MODULE] = take_module, [WTI_DEF_SITE] = take_site,
};

static int add(struct wti_definitions *definitions, unsigned type, uint32_t id,
	       struct wti_bytes *payload)
{
	struct wti_map *ids;
	const void *meaning;
	uint64_t *slot;

	if (type >= WTI_DEFINITION_TYPES || !take[type] || !id)
		return 0; /* of a later version */
	if (id > DEFINITIONS_MAX)
		return WT_E_LIMIT; /* ids are dense: whoever counts them up comes to an end */
	ids = &definitions->ids[type];
	if (wti_map_find_number(ids, id))
		return 0; /* the first meaning stays */
	meaning = take[type](&definitions->arena, id, payload);
	if (payload->bad)
		return WT_E_FORMAT;
	if (!meaning)
		return definitions->arena.status;
	/* Last, so that whatever is in the map has a meaning. */
	slot = wti_map_number(ids, id);
	if (!slot)
		return wti_map_failed(ids, NULL, "definitions");
	*slot = (uint64_t)(uintptr_t)meaning;
	if (type == WTI_DEF_STRING && id >= definitions->string_count)
		definitions->string_count = id + 1;
	return 0;
}

int wti_definitions_read(struct wti_definitions *definitions, const uint8_t *content, size_t bytes,
			 uint32_t rows)
{
	struct wti_bytes in = {content, content + bytes, false};

	for (uint32_t i = 0; i < rows; i++) {
		uint16_t type = wti_bytes_u16(&in);
		uint16_t payload_bytes = wti_bytes_u16(&in);
		uint32_t id = wti_bytes_u32(&in);
		struct wti_bytes payload = wti_bytes_part(&in, payload_bytes);
		int status = in.bad ? WT_E_FORMAT : add(definitions, type, id, &payload);

		if (status)
			return status;
	}
	return 0;
}

int wti_definitions_add(struct wti_definitions *definitions, unsigned type, uint32_t id,
			const uint8_t *payload, size_t bytes)
{
	struct wti_bytes in = {payload, payload + bytes, false};

	return add(definitions, type, id, &in);
}

const void *wti_definition(const struct wti_definitions *definitions, unsigned type, uint32_t id)
{
	const uint64_t *slot = wti_map_find_number(&definitions->ids[type], id);

	return slot ? (const void *)(uintptr_t)*slot : NULL;
}

size_t wti_definition_count(const struct wti_definitions *definitions, unsigned type)
{
	return definitions->ids[type].count;
}

const void *wti_definition_at(const struct wti_definitions *definitions, unsigned type,
			      size_t index)
{
	const struct wti_map *map = &definitions->ids[type];

	return index < map->count ? (const void *)(uintptr_t)map->entries[index].value : NULL;
}
