/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how a stack and a file become definitions of the trace. */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "stacks.h"

#define STACKS_MAX (256u << 10) /* different ones in a trace */
#define PATH_MAX_BYTES 4096u

void wti_stacks_init(struct wti_stacks *stacks, struct wti_sink *sink, void *stream)
{
	*stacks = (struct wti_stacks){.sink = sink, .stream = stream};
	wti_spaces_init(&stacks->spaces);
	wti_map_init(&stacks->known, STACKS_MAX);
}

void wti_stacks_release(struct wti_stacks *stacks)
{
	wti_spaces_release(&stacks->spaces);
	wti_map_release(&stacks->known);
}

static uint8_t digit(char c)
{
	return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void emit_code(struct wti_stacks *stacks, struct wti_mapped_code *code)
{
	struct {
		struct wti_module_definition head;
		uint8_t rest[WTI_BUILD_ID_TEXT_BYTES / 2 + PATH_MAX_BYTES];
	} module = {.head = {.base = code->base, .bytes = code->bytes}};
	uint32_t id_bytes = (uint32_t)strlen(code->build_id) / 2;
	uint32_t path_bytes = (uint32_t)strnlen(code->path, PATH_MAX_BYTES);

	for (uint32_t i = 0; i < id_bytes; i++)
		module.rest[i] = (uint8_t)(digit(code->build_id[2 * i]) << 4 |
					   digit(code->build_id[2 * i + 1]));
	memcpy(module.rest + id_bytes, code->path, path_bytes);
	module.head.build_id_bytes = id_bytes;
	module.head.path_bytes = path_bytes;
	stacks->sink->define(
		stacks->sink->self, stacks->stream,
		&(struct wti_definition_view){
			.type = WTI_DEF_MODULE,
			.payload_bytes = (uint16_t)(sizeof(module.head) + id_bytes + path_bytes),
			.id = ++stacks->last_code,
			.payload = (const uint8_t *)&module});
	code->is_emitted = true;
}

static void tell_stack(struct wti_stacks *stacks, const struct wti_unwound *unwound)
{
	for (unsigned i = 0; i < unwound->count; i++) {
		struct wti_mapped_code *code =
			unwound->codes[i] ? wti_codes_at(&stacks->spaces.codes, unwound->codes[i])
					  : NULL;

		if (code && !code->is_emitted)
			emit_code(stacks, code);
	}
	stacks->sink->define(
		stacks->sink->self, stacks->stream,
		&(struct wti_definition_view){
			.type = WTI_DEF_STACK,
			.payload_bytes = (uint16_t)(unwound->count * sizeof(unwound->frames[0])),
			.id = ++stacks->last_id,
			.payload = (const uint8_t *)unwound->frames});
}

uint32_t wti_stacks_take(struct wti_stacks *stacks, const struct wti_raw_stack *raw)
{
	struct wti_unwound unwound;
	uint64_t *slot;

	wti_unwind(&stacks->spaces, raw, (const uint8_t *)(raw + 1), &unwound);
	if (!unwound.count) /* of what was before the program; or of an unknown process */
		return 0;
	stacks->taken++;
	stacks->cut += unwound.is_cut;
	stacks->broken += unwound.is_lost;
	stacks->beyond_copy += unwound.is_lost && raw->stack_bytes == WTI_RAW_STACK_MAX;
	slot = wti_map_number(&stacks->known,
			      XXH3_64bits(unwound.frames, unwound.count * sizeof(uint64_t)));
	if (!slot) {
		stacks->left_out++;
		return 0;
	}
	if (!*slot) {
		tell_stack(stacks, &unwound);
		*slot = stacks->last_id;
	}
	return (uint32_t)*slot;
}
