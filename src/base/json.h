/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing JSON that is always valid: commas and nesting are the writer's business, text of any
 * bytes is escaped (invalid UTF-8 becomes U+FFFD), numbers that JSON does not have become null.
 */
#ifndef WTI_BASE_JSON_H
#define WTI_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

#define WTI_JSON_DEPTH_MAX 64

struct wti_json {
	struct wti_buf *out;
	unsigned depth;
	bool pretty; /* a line an entry, two spaces a level */
	bool after_key;
	bool filled[WTI_JSON_DEPTH_MAX];
};

void wti_json_init(struct wti_json *json, struct wti_buf *out, bool pretty);
void wti_json_object(struct wti_json *json); /* { */
void wti_json_object_end(struct wti_json *json);
void wti_json_array(struct wti_json *json); /* [ */
void wti_json_array_end(struct wti_json *json);
void wti_json_key(struct wti_json *json, const char *key);
void wti_json_key_n(struct wti_json *json, const char *key, size_t bytes);
void wti_json_text(struct wti_json *json, const char *text); /* NULL gives null */
/* A key and its text; NULL gives null. */
void wti_json_member(struct wti_json *json, const char *key, const char *text);
void wti_json_text_n(struct wti_json *json, const char *text, size_t bytes);
void wti_json_u64(struct wti_json *json, uint64_t value);
void wti_json_i64(struct wti_json *json, int64_t value);
void wti_json_f64(struct wti_json *json, double value); /* shortest text that reads back the same */
void wti_json_bool(struct wti_json *json, bool value);
void wti_json_null(struct wti_json *json);

/* Appends the inside of a JSON string (no quotes) for any bytes. */
void wti_json_escape(struct wti_buf *out, const char *text, size_t bytes);

#endif
