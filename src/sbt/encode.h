/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SBT 0.1 as bytes. A header of 72 bytes (its text says 64), then sections that begin with their
 * type and have no length: metadata, texts, devices, events. Numbers are LEB128. The texts stand
 * behind the events, and the header has the places of all sections, so it is made last.
 */
#ifndef WTI_SBT_ENCODE_H
#define WTI_SBT_ENCODE_H

#include <wheeltap/sbt.h>

#include "base/buf.h"
#include "base/map.h"

#define WTI_SBT_HEADER_BYTES 72u

enum wti_sbt_section {
	WTI_SBT_METADATA = 1,
	WTI_SBT_TEXTS = 2,
	WTI_SBT_DEVICES = 3,
	WTI_SBT_EVENTS = 4,
	WTI_SBT_END = 255,
};

/* What an event has besides. */
enum wti_sbt_flag {
	WTI_SBT_HAS_DURATION = 1,
	WTI_SBT_HAS_KERNEL = 2,
	WTI_SBT_HAS_MEMORY = 4,
	WTI_SBT_HAS_STACK = 8,
};

struct wti_sbt_encoder {
	struct wti_map texts; /* text: number */
	uint64_t count;       /* of events */
	uint64_t last_ns;
};

void wti_sbt_encoder_init(struct wti_sbt_encoder *encoder);
void wti_sbt_encoder_release(struct wti_sbt_encoder *encoder);
/* The first one begins the section: behind room for the header. */
void wti_sbt_encode(struct wti_sbt_encoder *encoder, struct wti_buf *out,
		    const struct wt_sbt_event *event);
/* Texts one by one, as there may be many: i from 0 to texts.count, then the end. */
void wti_sbt_encode_texts(const struct wti_sbt_encoder *encoder, struct wti_buf *out);
void wti_sbt_encode_text(const struct wti_sbt_encoder *encoder, struct wti_buf *out, size_t i);
void wti_sbt_encode_end(struct wti_buf *out);
void wti_sbt_encode_header(const struct wti_sbt_encoder *encoder, uint64_t texts_at,
			   uint8_t header[WTI_SBT_HEADER_BYTES]);

#endif
