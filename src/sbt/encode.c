/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what TraceSmith's own writer sets in the header. */
#include "encode.h"

#include <string.h>

#include "base/bytes.h"

#define TEXTS_MAX ((size_t)1 << 24)
#define NUMBER_BYTES 10

void wti_sbt_encoder_init(struct wti_sbt_encoder *encoder)
{
	*encoder = (struct wti_sbt_encoder){0};
	wti_map_init(&encoder->texts, TEXTS_MAX);
}

void wti_sbt_encoder_release(struct wti_sbt_encoder *encoder)
{
	wti_map_release(&encoder->texts);
}

static void put_number(struct wti_buf *out, uint64_t number)
{
	uint8_t *begin = wti_buf_reserve(out, NUMBER_BYTES), *at = begin;

	if (!begin)
		return;
	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	wti_buf_added(out, (size_t)(at - begin));
}

/* Texts beyond the ceiling share the first number. */
static uint64_t text_number(struct wti_sbt_encoder *encoder, struct wt_text text)
{
	size_t before = encoder->texts.count;
	uint64_t *slot = wti_map_text(&encoder->texts, text.bytes ? text.data : "", text.bytes);

	if (!slot)
		return 0;
	if (encoder->texts.count > before)
		*slot = before;
	return *slot;
}

static uint8_t flags_of(const struct wt_sbt_event *event)
{
	return (uint8_t)((event->duration ? WTI_SBT_HAS_DURATION : 0) |
			 (event->has_kernel_params ? WTI_SBT_HAS_KERNEL : 0) |
			 (event->has_memory_params ? WTI_SBT_HAS_MEMORY : 0));
}

void wti_sbt_encode(struct wti_sbt_encoder *encoder, struct wti_buf *out,
		    const struct wt_sbt_event *event)
{
	if (!encoder->count++) {
		wti_buf_byte(out, WTI_SBT_EVENTS);
		put_number(out, event->timestamp);
		encoder->last_ns = event->timestamp;
	}
	wti_buf_byte(out, event->type);
	wti_buf_byte(out, flags_of(event));
	put_number(out, event->timestamp - encoder->last_ns); /* may wrap: readers add */
	if (event->duration)
		put_number(out, event->duration);
	put_number(out, event->device_id);
	put_number(out, event->stream_id);
	put_number(out, event->correlation_id);
	put_number(out, text_number(encoder, event->name));
	encoder->last_ns = event->timestamp;
	if (event->has_kernel_params) {
		for (size_t i = 0; i < 3; i++)
			put_number(out, event->kernel.grid[i]);
		for (size_t i = 0; i < 3; i++)
			put_number(out, event->kernel.block[i]);
		put_number(out, event->kernel.shared_mem_bytes);
		put_number(out, event->kernel.registers_per_thread);
	}
	if (event->has_memory_params) {
		put_number(out, event->memory.src_address);
		put_number(out, event->memory.dst_address);
		put_number(out, event->memory.size_bytes);
	}
}

void wti_sbt_encode_texts(const struct wti_sbt_encoder *encoder, struct wti_buf *out)
{
	wti_buf_byte(out, WTI_SBT_TEXTS);
	put_number(out, encoder->texts.count);
}

void wti_sbt_encode_text(const struct wti_sbt_encoder *encoder, struct wti_buf *out, size_t i)
{
	put_number(out, encoder->texts.entries[i].bytes);
	wti_buf_append(out, encoder->texts.entries[i].text, encoder->texts.entries[i].bytes);
}

void wti_sbt_encode_end(struct wti_buf *out)
{
	wti_buf_byte(out, WTI_SBT_END);
}

void wti_sbt_encode_header(const struct wti_sbt_encoder *encoder, uint64_t texts_at,
			   uint8_t header[WTI_SBT_HEADER_BYTES])
{
	memset(header, 0, WTI_SBT_HEADER_BYTES);
	memcpy(header, "SBT", 4);
	wti_put16(header + 6, 1);                                     /* version 0.1 */
	wti_put32(header + 8, 1u | (encoder->texts.count ? 2u : 0u)); /* as its writer sets them */
	wti_put32(header + 12, WTI_SBT_HEADER_BYTES);
	wti_put64(header + 24, texts_at);
	wti_put64(header + 40, encoder->count ? WTI_SBT_HEADER_BYTES : 0);
	wti_put64(header + 56, encoder->count);
}
