/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocol buffers at the end of a buffer: tags, varints, and messages within messages.
 *
 * A message is opened with room for a length of one byte; when it turns out longer, its content is
 * moved. Most messages of a trace are shorter than 128 bytes.
 */
#ifndef WTI_SHOW_EXPORT_PROTOBUF_H
#define WTI_SHOW_EXPORT_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

#define WTI_PB_VARINT_MAX 10

static inline uint8_t *wti_pb_varint_at(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

/* Room for a tag and a number. */
static inline uint8_t *wti_pb_room(struct wti_buf *out)
{
	if (out->capacity - out->bytes >= 2 * WTI_PB_VARINT_MAX && !out->status)
		return out->data + out->bytes;
	return wti_buf_reserve(out, 2 * WTI_PB_VARINT_MAX);
}

static inline void wti_pb_varint(struct wti_buf *out, unsigned field, uint64_t value)
{
	uint8_t *at = wti_pb_room(out);

	if (!at)
		return;
	at = wti_pb_varint_at(at, field << 3);
	at = wti_pb_varint_at(at, value);
	out->bytes = (size_t)(at - out->data);
}

static inline void wti_pb_fixed64(struct wti_buf *out, unsigned field, uint64_t value)
{
	uint8_t *at = wti_pb_room(out);

	if (!at)
		return;
	at = wti_pb_varint_at(at, field << 3 | 1);
	memcpy(at, &value, sizeof(value));
	out->bytes = (size_t)(at + sizeof(value) - out->data);
}

static inline void wti_pb_double(struct wti_buf *out, unsigned field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	wti_pb_fixed64(out, field, bits);
}

/* Begins a message; what wti_pb_end() needs. */
static inline size_t wti_pb_begin(struct wti_buf *out, unsigned field)
{
	uint8_t *at = wti_pb_room(out);

	if (!at)
		return 0;
	at = wti_pb_varint_at(at, field << 3 | 2);
	*at++ = 0;
	out->bytes = (size_t)(at - out->data);
	return out->bytes;
}

void wti_pb_end_long(struct wti_buf *out, size_t begin);

static inline void wti_pb_end(struct wti_buf *out, size_t begin)
{
	if (out->status)
		return;
	if (out->bytes - begin < 0x80)
		out->data[begin - 1] = (uint8_t)(out->bytes - begin);
	else
		wti_pb_end_long(out, begin);
}

/* Any bytes, as valid UTF-8 on one line: a name with a newline would break the row of a viewer. */
void wti_pb_text(struct wti_buf *out, unsigned field, const char *text, size_t bytes);

#endif
