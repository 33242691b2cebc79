/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the entries of definition and schema blocks (docs/format.md, 2 and 3). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

#define ENTRIES_MAX 65536u
#define COPIES_MAX 8u

/* ---- Definitions ----------------------------------------------------------------------------- */

static void put_definition(struct wti_buf *out, uint16_t type, uint32_t id, const void *data,
			   size_t bytes)
{
	uint8_t head[8];

	wti_put16(head, type);
	wti_put16(head + 2, (uint16_t)bytes);
	wti_put32(head + 4, id);
	wti_buf_append(out, head, sizeof(head));
	wti_buf_append(out, data, bytes);
}

/* Strings become other strings; of what else there is, the numbers in it change, or its end goes.
 */
static void put_changed(struct stream *stream, struct wti_buf *out, uint16_t type, uint32_t id,
			const uint8_t *data, size_t bytes)
{
	struct chance *chance = &stream->chance;
	uint8_t copy[UINT16_MAX];
	size_t text_bytes, at;
	const char *text = chance_text(chance, &text_bytes);

	if (type == 1) {
		put_definition(out, type, id, text, text_bytes);
		return;
	}
	memcpy(copy, data, bytes);
	if (type == 2 && bytes >= 16 && chance_once_in(chance, 2)) { /* a track's name */
		text_bytes = text_bytes < sizeof(copy) - 16 ? text_bytes : sizeof(copy) - 16;
		memcpy(copy + 16, text, text_bytes);
		bytes = 16 + text_bytes;
	} else if (bytes >= 4 && chance_once_in(chance, 2)) {
		at = 4 * chance_below(chance, bytes / 4);
		wti_put32(copy + at, (uint32_t)chance_value(chance, wti_get32(copy + at)));
	} else {
		bytes = chance_below(chance, bytes + 1);
	}
	put_definition(out, type, id, copy, bytes);
}

static void put_odd(struct stream *stream, struct wti_buf *out, uint32_t *rows, uint16_t type,
		    uint32_t id, const uint8_t *data, size_t bytes)
{
	struct chance *chance = &stream->chance;

	switch (chance_below(chance, 6)) {
	case 0: /* it is not defined */
		(*rows)--;
		wti_buf_printf(&stream->said, "no definition %u:%u; ", type, id);
		break;
	case 1:
		put_definition(out, type, (uint32_t)chance_value(chance, id), data, bytes);
		wti_buf_printf(&stream->said, "id of definition %u:%u; ", type, id);
		break;
	case 2:
		put_definition(out, (uint16_t)chance_below(chance, 7), id, data, bytes);
		wti_buf_printf(&stream->said, "type of definition %u:%u; ", type, id);
		break;
	case 3:
		for (size_t i = chance_below(chance, COPIES_MAX); i; i--, (*rows)++)
			put_definition(out, type, id, data, bytes);
		/* fall through */
	default:
		put_changed(stream, out, type, id, data, bytes);
		wti_buf_printf(&stream->said, "definition %u:%u; ", type, id);
	}
}

void change_definitions(struct stream *stream, struct block *block)
{
	struct wti_bytes in = {block->payload.data, block->payload.data + block->payload.bytes,
			       false};
	uint32_t rows = block->header.rows;
	struct wti_buf content, out;
	size_t odd;

	wti_buf_init(&content, WTI_PAYLOAD_MAX);
	wti_buf_init(&out, WTI_PAYLOAD_MAX);
	if (wti_chunk_read(&in, stream->unzstd, WTI_PAYLOAD_MAX, &content))
		goto out; /* an earlier change has made something else of it */
	in = (struct wti_bytes){content.data, content.data + content.bytes, false};
	odd = chance_below(&stream->chance, rows);
	for (size_t i = 0; i < block->header.rows; i++) {
		uint16_t type = wti_bytes_u16(&in), bytes = wti_bytes_u16(&in);
		uint32_t id = wti_bytes_u32(&in);
		const uint8_t *data = wti_bytes_take(&in, bytes);

		if (!data)
			break;
		if (i == odd || chance_once_in(&stream->chance, 40))
			put_odd(stream, &out, &rows, type, id, data, bytes);
		else
			put_definition(&out, type, id, data, bytes);
	}
	if (chance_once_in(&stream->chance, 10))
		change_bytes(stream, &out);
	wti_buf_clear(&block->payload);
	must(!wti_chunk_write(&block->payload, NULL, 0, out.data, out.bytes), "definitions");
	block->header.rows = rows;
out:
	wti_buf_release(&content);
	wti_buf_release(&out);
}

/* ---- Schema ---------------------------------------------------------------------------------- */

/* Copies a string, or puts another one in its place. */
static void copy_string(struct stream *stream, struct wti_bytes *in, struct wti_buf *out,
			size_t odds)
{
	uint16_t bytes = wti_bytes_u16(in);
	const uint8_t *data = wti_bytes_take(in, bytes);
	size_t text_bytes = bytes;
	const void *text = data;
	uint8_t head[2];

	if (!data)
		return;
	if (chance_once_in(&stream->chance, odds)) {
		text = chance_text(&stream->chance, &text_bytes);
		wti_buf_printf(&stream->said, "'%.*s' in the schema; ", bytes, (const char *)data);
	}
	wti_put16(head, (uint16_t)text_bytes);
	wti_buf_append(out, head, sizeof(head));
	wti_buf_append(out, text, text_bytes);
}

static void copy_field(struct stream *stream, struct wti_bytes *in, struct wti_buf *out,
		       size_t odds)
{
	struct chance *chance = &stream->chance;
	uint8_t head[4];
	unsigned names;

	for (size_t i = 0; i < sizeof(head); i++)
		head[i] = wti_bytes_u8(in);
	names = head[3];
	if (chance_once_in(chance, odds)) {
		head[0] = (uint8_t)(1 + chance_below(chance, 10));
		if (chance_once_in(chance, 4))
			head[chance_below(chance, 4)] = (uint8_t)chance_value(chance, 1);
		wti_buf_text(&stream->said, "a field's type in the schema; ");
	}
	wti_buf_append(out, head, sizeof(head));
	for (unsigned i = 0; i < 3 + names; i++)
		copy_string(stream, in, out, 3 * odds);
}

void change_schema(struct stream *stream, struct block *block)
{
	struct wti_bytes in = {block->payload.data, block->payload.data + block->payload.bytes,
			       false};
	size_t odds = 2 + chance_below(&stream->chance, 30);
	struct wti_buf out;

	wti_buf_init(&out, WTI_PAYLOAD_MAX);
	for (uint32_t i = 0; i < block->header.rows && !in.bad; i++) {
		uint16_t number = wti_bytes_u16(&in), fields = wti_bytes_u16(&in);
		uint8_t head[4];

		wti_put16(head, number);
		wti_put16(head + 2, fields);
		if (chance_once_in(&stream->chance, 4 * odds))
			wti_put16(head, (uint16_t)(1 + chance_below(&stream->chance, 46)));
		if (chance_once_in(&stream->chance, 4 * odds))
			wti_put16(head + 2, (uint16_t)chance_value(&stream->chance, fields));
		wti_buf_append(&out, head, sizeof(head));
		copy_string(stream, &in, &out, 3 * odds);
		copy_string(stream, &in, &out, 9 * odds);
		for (unsigned j = 0; j < fields && !in.bad; j++)
			copy_field(stream, &in, &out, odds);
	}
	wti_buf_clear(&block->payload);
	wti_buf_append(&block->payload, out.data, out.bytes);
	must(!wti_buf_status(&block->payload), "a schema is too large");
	wti_buf_release(&out);
}
