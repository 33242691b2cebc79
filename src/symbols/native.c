/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which file an address of a stream belongs to, and keeps what was found. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#include "file.h"
#include "native.h"

#define STACKS_MAX (1u << 20)
#define PLACES_MAX (1u << 20)
#define FILES_MAX (64u << 10)
#define TEXT_BYTES_MAX ((size_t)512 << 20)
#define FRAMES_MAX 1024u /* of one stack, inlined functions included */
#define INLINED_MAX 32u  /* of one address */

struct stack {
	const struct wti_frame *place; /* or NULL */
	size_t count;
	struct wti_frame frames[];
};

struct wti_native {
	struct wti_arena arena;
	struct wti_map stacks; /* reader and number: a struct stack */
	struct wti_map places; /* reader and address: a struct stack of one address */
	struct wti_map files;  /* path and build-id: a struct wti_file */
};

static const struct stack no_stack; /* where there is no memory for one */

struct wti_native *wti_native_new(void)
{
	struct wti_native *native = calloc(1, sizeof(*native));

	if (!native)
		return NULL;
	wti_arena_init(&native->arena, TEXT_BYTES_MAX);
	wti_map_init(&native->stacks, STACKS_MAX);
	wti_map_init(&native->places, PLACES_MAX);
	wti_map_init(&native->files, FILES_MAX);
	return native;
}

void wti_native_free(struct wti_native *native)
{
	if (!native)
		return;
	for (size_t i = 0; i < native->files.count; i++)
		wti_file_close((void *)(uintptr_t)native->files.entries[i].value);
	wti_map_release(&native->files);
	wti_map_release(&native->places);
	wti_map_release(&native->stacks);
	wti_arena_release(&native->arena);
	free(native);
}

const char *wti_native_changed(const struct wti_native *native, size_t index)
{
	for (size_t i = 0; i < native->files.count; i++) {
		const struct wti_file *file =
			(const void *)(uintptr_t)native->files.entries[i].value;

		if (file && file->state == WTI_FILE_CHANGED && !index--)
			return file->path;
	}
	return NULL;
}

static const struct wt_module *module_of(const struct wt_reader *reader, uint64_t address)
{
	for (size_t i = wt_reader_module_count(reader); i--;) {
		const struct wt_module *module = wt_reader_module_at(reader, i);

		if (module && address > module->base && address - module->base <= module->bytes)
			return module;
	}
	return NULL;
}

static struct wti_file *file_of(struct wti_native *native, const struct wt_module *module)
{
	char key[4096 + 64];
	size_t id_bytes = module->build_id_bytes < 64 ? module->build_id_bytes : 64;
	uint64_t *slot;

	if (module->path_bytes > 4096)
		return NULL;
	memcpy(key, module->build_id, id_bytes);
	memcpy(key + id_bytes, module->path, module->path_bytes);
	slot = wti_map_text(&native->files, key, id_bytes + module->path_bytes);
	if (slot && !*slot)
		*slot = (uint64_t)(uintptr_t)wti_file_open(module);
	return slot ? (void *)(uintptr_t)*slot : NULL;
}

static uint64_t key_of(const struct wt_reader *reader, uint64_t what)
{
	return (uint64_t)(uintptr_t)reader * 0x9e3779b97f4a7c15u ^ what;
}

static const struct stack *keep(struct wti_native *native, const struct wti_frame *frames,
				size_t count)
{
	struct stack *stack =
		wti_arena_alloc(&native->arena, sizeof(*stack) + count * sizeof(frames[0]));

	if (!stack)
		return &no_stack;
	memcpy(stack->frames, frames, count * sizeof(frames[0]));
	stack->count = count;
	for (size_t i = 0; i < count && !stack->place; i++)
		if (frames[i].line && !frames[i].is_of_system)
			stack->place = &stack->frames[i];
	for (size_t i = 0; i < count && !stack->place; i++)
		if (frames[i].line)
			stack->place = &stack->frames[i];
	return stack;
}

/* The functions of one address. */
static const struct stack *frames_at(struct wti_native *native, const struct wt_reader *reader,
				     uint64_t address)
{
	uint64_t *slot = wti_map_number(&native->places, key_of(reader, address));
	const struct wt_module *module;
	struct wti_file *file;
	struct wti_frame frames[INLINED_MAX] = {{.path = "", .address = address}};
	size_t count = 1;

	if (!slot)
		return &no_stack;
	if (*slot)
		return (const void *)(uintptr_t)*slot;
	module = module_of(reader, address);
	file = module ? file_of(native, module) : NULL;
	if (file)
		count = wti_file_frames(file, address - module->base, &native->arena, frames,
					INLINED_MAX);
	*slot = (uint64_t)(uintptr_t)keep(native, frames, count);
	return (const void *)(uintptr_t)*slot;
}

static const struct stack *resolve(struct wti_native *native, const struct wt_reader *reader,
				   uint32_t number)
{
	struct wti_frame frames[FRAMES_MAX];
	const uint64_t *addresses;
	size_t depth = wt_reader_stack(reader, number, &addresses), count = 0;

	for (size_t i = 0; i < depth; i++) {
		const struct stack *one = frames_at(native, reader, addresses[i]);

		if (one->count > FRAMES_MAX - count)
			break;
		memcpy(&frames[count], one->frames, one->count * sizeof(frames[0]));
		count += one->count;
	}
	return keep(native, frames, count);
}

static const struct stack *stack_of(struct wti_native *native, const struct wt_reader *reader,
				    uint32_t number)
{
	uint64_t *slot = number ? wti_map_number(&native->stacks, key_of(reader, number)) : NULL;

	if (!slot)
		return NULL;
	if (!*slot)
		*slot = (uint64_t)(uintptr_t)resolve(native, reader, number);
	return (const void *)(uintptr_t)*slot;
}

size_t wti_native_stack(struct wti_native *native, const struct wt_reader *reader, uint32_t stack,
			const struct wti_frame **ret_frames)
{
	const struct stack *found = stack_of(native, reader, stack);

	*ret_frames = found ? found->frames : NULL;
	return found ? found->count : 0;
}

const struct wti_frame *wti_native_place(struct wti_native *native, const struct wt_reader *reader,
					 uint32_t stack)
{
	const struct stack *found = stack_of(native, reader, stack);

	return found ? found->place : NULL;
}
