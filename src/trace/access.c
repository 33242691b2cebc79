/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader knows about its stream. */
#include "reader.h"

#include <stdatomic.h>

#include "protocol.h"

const struct wt_err *wt_reader_damage(const struct wt_reader *reader)
{
	static const struct wt_err none;

	return atomic_load_explicit(&reader->damage_state, memory_order_acquire) == WTI_DAMAGE_TOLD
		       ? &reader->damage
		       : &none;
}

bool wt_reader_finished(const struct wt_reader *reader)
{
	return reader->finished;
}

const char *wt_reader_path(const struct wt_reader *reader)
{
	return reader->path;
}

const struct wt_identity *wt_reader_identity(const struct wt_reader *reader)
{
	return &reader->identity;
}

uint64_t wt_reader_file_bytes(const struct wt_reader *reader)
{
	return reader->file_bytes;
}

size_t wt_reader_kind_count(const struct wt_reader *reader)
{
	return reader->schema.count;
}

const struct wt_kind *wt_reader_kind_at(const struct wt_reader *reader, size_t index)
{
	return index < reader->schema.count ? reader->schema.kinds[index] : NULL;
}

const struct wt_kind *wt_reader_kind(const struct wt_reader *reader, uint16_t number)
{
	return wti_schema_kind(&reader->schema, number);
}

size_t wt_reader_block_count(const struct wt_reader *reader)
{
	return reader->block_count;
}

const struct wt_block *wt_reader_block(const struct wt_reader *reader, size_t index)
{
	return index < reader->block_count ? &reader->blocks[index] : NULL;
}

struct wt_text wt_reader_string(const struct wt_reader *reader, uint32_t id)
{
	const struct wt_text *text;

	if (!id)
		return (struct wt_text){"", 0};
	text = wti_definition(&reader->definitions, WTI_DEF_STRING, id);
	return text ? *text : (struct wt_text){"?", 1};
}

uint32_t wt_reader_string_count(const struct wt_reader *reader)
{
	return reader->definitions.string_count;
}

size_t wt_reader_track_count(const struct wt_reader *reader)
{
	return wti_definition_count(&reader->definitions, WTI_DEF_TRACK);
}

const struct wt_track *wt_reader_track_at(const struct wt_reader *reader, size_t index)
{
	return wti_definition_at(&reader->definitions, WTI_DEF_TRACK, index);
}

const struct wt_track *wt_reader_track(const struct wt_reader *reader, uint32_t id)
{
	/* What the recorder adds to every stream: clock pairs, losses. */
	static const struct wt_track recorder = {
		.type = WT_TRACK_RECORDER, .name = "recorder", .name_bytes = 8};

	if (!id)
		return &recorder;
	return wti_definition(&reader->definitions, WTI_DEF_TRACK, id);
}

size_t wt_reader_stack(const struct wt_reader *reader, uint32_t id, const uint64_t **ret_frames)
{
	const struct wti_stack *stack = wti_definition(&reader->definitions, WTI_DEF_STACK, id);

	if (!stack)
		return 0;
	*ret_frames = stack->frames;
	return stack->count;
}

size_t wt_reader_module_count(const struct wt_reader *reader)
{
	return wti_definition_count(&reader->definitions, WTI_DEF_MODULE);
}

const struct wt_module *wt_reader_module_at(const struct wt_reader *reader, size_t index)
{
	return wti_definition_at(&reader->definitions, WTI_DEF_MODULE, index);
}

const struct wt_site *wt_reader_site(const struct wt_reader *reader, uint32_t id)
{
	return wti_definition(&reader->definitions, WTI_DEF_SITE, id);
}
