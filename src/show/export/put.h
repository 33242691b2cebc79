/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and values as text at the end of a buffer: fast, without locale, and never through a
 * double where a whole number is meant.
 */
#ifndef WTI_SHOW_EXPORT_PUT_H
#define WTI_SHOW_EXPORT_PUT_H

#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "value.h"

/* A string literal. */
#define WTI_PUT(out, literal) wti_put((out), "" literal, sizeof(literal) - 1)

static inline void wti_put(struct wti_buf *out, const char *text, size_t bytes)
{
	if (out->capacity - out->bytes < bytes || out->status) {
		wti_buf_append(out, text, bytes);
		return;
	}
	if (bytes) /* the buffer may have no memory yet */
		memcpy(out->data + out->bytes, text, bytes);
	out->bytes += bytes;
}

void wti_put_u64(struct wti_buf *out, uint64_t value);
void wti_put_i64(struct wti_buf *out, int64_t value);
/* Nanoseconds as microseconds with exactly three decimals. */
void wti_put_us(struct wti_buf *out, int64_t ns);
void wti_put_hash(struct wti_buf *out, uint64_t value); /* 16 digits */
/* The shortest text that reads back the same; nan, inf, -inf. */
void wti_put_f64(struct wti_buf *out, double value);
/* A JSON string, quotes included, for any bytes. */
void wti_put_json_text(struct wti_buf *out, struct wt_text text);
/* A JSON value: what JSON, or a reader that uses doubles for numbers, cannot hold is a string. */
void wti_put_json(struct wti_buf *out, const struct wti_shown *value);
void wti_put_json_u64(struct wti_buf *out, uint64_t value);
/* As plain text, nothing for no value. Texts are made valid UTF-8 and keep everything else. */
void wti_put_plain(struct wti_buf *out, const struct wti_shown *value);
void wti_put_utf8(struct wti_buf *out, struct wt_text text);

#endif
