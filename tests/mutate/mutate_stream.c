/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes of a sound stream one that is sound in its checksums and nowhere else.
 *
 *	mutate_stream SEED STREAM OUTPUT
 *
 * The same seed gives the same file. Prints what was changed, in one line of ASCII.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "stream.h"

#define COPIES_MAX 40u
#define COPIED_BYTES_MAX ((size_t)4 << 20) /* of all copies of a block */
#define BYTE_CHANGES_MAX 6u

static struct block *any(struct stream *stream, uint16_t type)
{
	size_t from = chance_below(&stream->chance, stream->count);

	for (size_t i = 0; i < stream->count; i++) {
		struct block *block = &stream->blocks[(from + i) % stream->count];

		if (!type || block->header.type == type)
			return block;
	}
	return NULL;
}

void change_bytes(struct stream *stream, struct wti_buf *bytes)
{
	struct chance *chance = &stream->chance;

	for (size_t i = 1 + chance_below(chance, BYTE_CHANGES_MAX); i && bytes->bytes; i--) {
		size_t at = chance_below(chance, bytes->bytes);

		switch (chance_below(chance, 5)) {
		case 0:
			bytes->data[at] ^= (uint8_t)(1u << chance_below(chance, 8));
			break;
		case 1:
			bytes->data[at] = (uint8_t)chance_value(chance, bytes->data[at]);
			break;
		case 2:
			if (at + 4 <= bytes->bytes)
				wti_put32(bytes->data + at,
					  (uint32_t)chance_value(chance,
								 wti_get32(bytes->data + at)));
			break;
		case 3:
			if (at + 8 <= bytes->bytes)
				wti_put64(bytes->data + at,
					  chance_value(chance, wti_get64(bytes->data + at)));
			break;
		default:
			if (chance_once_in(chance, 3))
				bytes->bytes = at;
		}
	}
	wti_buf_text(&stream->said, "bytes; ");
}

/* ---- Whole blocks ---------------------------------------------------------------------------- */

static void change_list(struct stream *stream)
{
	struct chance *chance = &stream->chance;
	size_t at = chance_below(chance, stream->count), to = chance_below(chance, stream->count);
	struct block moved = stream->blocks[at];
	size_t copies, most = COPIED_BYTES_MAX / (moved.payload.bytes + 1);

	switch (chance_below(chance, 3)) {
	case 0:
		if (stream->count > 1)
			stream_remove(stream, at);
		wti_buf_printf(&stream->said, "no block %zu; ", at);
		break;
	case 1:
		stream->blocks[at] = stream->blocks[to];
		stream->blocks[to] = moved;
		wti_buf_printf(&stream->said, "blocks %zu and %zu swapped; ", at, to);
		break;
	default:
		copies = 1 + chance_below(chance, chance_once_in(chance, 3) ? COPIES_MAX : 3);
		for (size_t i = 0; i < copies && i < most; i++)
			stream_insert(stream, to, &moved);
		wti_buf_printf(&stream->said, "block %zu %zu times more; ", at, copies);
	}
}

static void change_header(struct stream *stream)
{
	struct chance *chance = &stream->chance;
	struct block *block = any(stream, 0);
	struct wti_block_header *header = &block->header;
	uint64_t *const wide[] = {&header->time_min, &header->time_max, &header->track_filter,
				  &header->name_filter};
	size_t which = chance_below(chance, 8);

	if (which < 4) {
		*wide[which] = chance_value(chance, *wide[which]);
	} else if (which == 4) {
		header->type = (uint16_t)chance_below(chance, 6);
	} else if (which == 5) {
		header->kind = (uint16_t)chance_below(chance, 48);
	} else if (which == 6) {
		header->rows = (uint32_t)chance_value(chance, header->rows);
	} else {
		block->is_lying = true;
		block->said_bytes = (uint32_t)chance_value(chance, block->payload.bytes);
	}
	wti_buf_printf(&stream->said, "block header, field %zu; ", which);
}

static void change_file_header(struct stream *stream)
{
	struct chance *chance = &stream->chance;
	uint8_t *at;
	const char *text;
	size_t bytes;

	if (chance_once_in(chance, 3)) {
		memset(stream->header + 56, 0, 16);
		text = chance_text(chance, &bytes);
		memcpy(stream->header + 56, text, bytes < 16 ? bytes : 16);
	} else { /* boot id, pid, exec, start time, segment, clock */
		at = stream->header + 16 + 4 * chance_below(chance, 10);
		wti_put32(at, (uint32_t)chance_value(chance, wti_get32(at)));
	}
	if (chance_once_in(chance, 3))
		wti_put32(stream->header + 52, (uint32_t)chance_below(chance, 70));
	wti_buf_text(&stream->said, "file header; ");
}

/* ---- One mutation ---------------------------------------------------------------------------- */

static void change_once(struct stream *stream)
{
	size_t which = chance_below(&stream->chance, 20);
	struct block *block;

	if (which < 10 && (block = any(stream, WTI_BLOCK_EVENTS)))
		change_rows(stream, block);
	else if (which < 13 && (block = any(stream, WTI_BLOCK_DEFINITIONS)))
		change_definitions(stream, block);
	else if (which < 14 && (block = any(stream, WTI_BLOCK_SCHEMA)))
		change_schema(stream, block);
	else if (which < 16)
		change_list(stream);
	else if (which < 18)
		change_header(stream);
	else if (which < 19)
		change_bytes(stream, &any(stream, 0)->payload);
	else
		change_file_header(stream);
}

/* A block is changed in its rows or its entries once: afterwards it is no more what was read. */
static void change(struct stream *stream)
{
	struct chance *chance = &stream->chance;

	for (size_t i = 1 + chance_below(chance, 4); i; i--)
		change_once(stream);
	stream->ending =
		chance_once_in(chance, 3) ? (enum ending)chance_below(chance, 4) : ENDING_RIGHT;
	stream_build(stream);
	if (chance_once_in(chance, 25)) {
		stream->file.bytes = chance_below(chance, stream->file.bytes + 1);
		wti_buf_printf(&stream->said, "cut at byte %zu; ", stream->file.bytes);
	}
	wti_buf_printf(&stream->said, "ending %d", (int)stream->ending);
}

static void print_said(struct wti_buf *said)
{
	for (size_t i = 0; i < said->bytes; i++)
		putchar(said->data[i] >= 0x20 && said->data[i] < 0x7f ? said->data[i] : '.');
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct wt_err err = {.offset = -1};
	static struct stream stream;

	if (argc != 4) {
		fprintf(stderr, "usage: mutate_stream SEED STREAM OUTPUT\n");
		return 2;
	}
	stream_load(&stream, argv[2], strtoull(argv[1], NULL, 0));
	change(&stream);
	must(!wti_file_replace(argv[3], stream.file.data, stream.file.bytes, &err), err.message);
	print_said(&stream.said);
	stream_release(&stream);
	return 0;
}
