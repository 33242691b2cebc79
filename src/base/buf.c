/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hides how a buffer grows. One byte more than `capacity` is always allocated, so that ending the
 * content with NUL never needs memory.
 */
#include "buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/err.h>

#define FIRST_BYTES 64

void wti_buf_init(struct wti_buf *buf, size_t ceiling)
{
	/* Room for the NUL beyond the last byte must stay addressable. */
	*buf = (struct wti_buf){.ceiling = ceiling < SIZE_MAX ? ceiling : SIZE_MAX - 1};
}

void wti_buf_release(struct wti_buf *buf)
{
	if (!buf)
		return;
	free(buf->data);
	wti_buf_init(buf, buf->ceiling);
}

void wti_buf_clear(struct wti_buf *buf)
{
	buf->bytes = 0;
	buf->status = 0;
}

int wti_buf_status(const struct wti_buf *buf)
{
	return buf->status;
}

static int grow(struct wti_buf *buf, size_t needed)
{
	size_t capacity = buf->capacity ? buf->capacity : FIRST_BYTES;
	uint8_t *data;

	while (capacity < needed && capacity <= buf->ceiling / 2)
		capacity *= 2;
	if (capacity < needed || capacity > buf->ceiling)
		capacity = buf->ceiling;
	data = realloc(buf->data, capacity + 1);
	if (!data)
		return buf->status = WT_E_NOMEM;
	buf->data = data;
	buf->capacity = capacity;
	return 0;
}

uint8_t *wti_buf_reserve(struct wti_buf *buf, size_t bytes)
{
	if (buf->status)
		return NULL;
	if (bytes > buf->ceiling - buf->bytes) {
		buf->status = WT_E_LIMIT;
		return NULL;
	}
	if ((!buf->data || bytes > buf->capacity - buf->bytes) && grow(buf, buf->bytes + bytes))
		return NULL;
	return buf->data + buf->bytes;
}

void wti_buf_added(struct wti_buf *buf, size_t bytes)
{
	buf->bytes += bytes;
}

void wti_buf_inherit(struct wti_buf *buf, const struct wti_buf *part)
{
	if (part->status == WT_E_NOMEM && !buf->status)
		buf->status = WT_E_NOMEM;
}

int wti_buf_append(struct wti_buf *buf, const void *data, size_t bytes)
{
	uint8_t *end = wti_buf_reserve(buf, bytes);

	if (!end)
		return buf->status;
	if (bytes)
		memcpy(end, data, bytes);
	buf->bytes += bytes;
	return 0;
}

int wti_buf_text(struct wti_buf *buf, const char *text)
{
	return wti_buf_append(buf, text, strlen(text));
}

int wti_buf_byte(struct wti_buf *buf, uint8_t byte)
{
	return wti_buf_append(buf, &byte, 1);
}

int wti_buf_vprintf(struct wti_buf *buf, const char *format, va_list args)
{
	va_list again;
	size_t room;
	int bytes;

	if (!wti_buf_reserve(buf, 0))
		return buf->status;
	/* What is there of room first: mostly it is enough. The NUL has its own byte. */
	room = buf->capacity - buf->bytes;
	va_copy(again, args);
	bytes = vsnprintf((char *)buf->data + buf->bytes, room + 1, format, args);
	if (bytes < 0)
		buf->status = WT_E_NOMEM;
	else if ((size_t)bytes > room && wti_buf_reserve(buf, (size_t)bytes))
		bytes = vsnprintf((char *)buf->data + buf->bytes, (size_t)bytes + 1, format, again);
	va_end(again);
	if (!buf->status)
		buf->bytes += (size_t)bytes;
	return buf->status;
}

int wti_buf_printf(struct wti_buf *buf, const char *format, ...)
{
	va_list args;
	int status;

	va_start(args, format);
	status = wti_buf_vprintf(buf, format, args);
	va_end(args);
	return status;
}

const char *wti_buf_cstr(struct wti_buf *buf)
{
	if (buf->status || !buf->data)
		return "";
	buf->data[buf->bytes] = 0;
	return (const char *)buf->data;
}

void wti_buf_hex(struct wti_buf *buf, const void *data, size_t bytes)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *from = data;
	uint8_t *to = bytes < SIZE_MAX / 2 ? wti_buf_reserve(buf, 2 * bytes) : NULL;

	if (!to)
		return;
	for (size_t i = 0; i < bytes; i++) {
		to[2 * i] = (uint8_t)digits[from[i] >> 4];
		to[2 * i + 1] = (uint8_t)digits[from[i] & 15];
	}
	buf->bytes += 2 * bytes;
}
