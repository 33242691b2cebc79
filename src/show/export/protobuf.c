/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of messages that are too long for the header. */
#include "protobuf.h"

#include "base/text.h"

void wti_pb_end_long(struct wti_buf *out, size_t begin)
{
	size_t bytes = out->bytes - begin;
	uint8_t length[WTI_PB_VARINT_MAX];
	size_t more = (size_t)(wti_pb_varint_at(length, bytes) - length) - 1;

	if (!wti_buf_reserve(out, more))
		return;
	memmove(out->data + begin + more, out->data + begin, bytes);
	memcpy(out->data + begin - 1, length, more + 1);
	out->bytes += more;
}

void wti_pb_text(struct wti_buf *out, unsigned field, const char *text, size_t bytes)
{
	size_t begin = wti_pb_begin(out, field);

	wti_printable(out, text, bytes);
	wti_pb_end(out, begin);
}
