/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a source from front to back, number by number, through a small window: for headers whose
 * length is not known before. Errors stick: after the first one everything is 0, so that a reader
 * may check once per entry. Nothing is read beyond `end`.
 */
#ifndef WTI_MODEL_CURSOR_H
#define WTI_MODEL_CURSOR_H

#include "model/format.h"

#define WTI_CURSOR_WINDOW 65536u

struct wti_model_cursor {
	struct wti_model *model;
	uint32_t source;
	uint64_t at;
	uint64_t end;
	int code; /* of the first error, which is in `err` */
	struct wt_err *err;
	uint64_t window_at;
	size_t window_bytes;
	uint8_t window[WTI_CURSOR_WINDOW];
};

/* To be freed with free(); NULL: out of memory. */
struct wti_model_cursor *wti_cursor_new(struct wti_model *model, uint32_t source,
					struct wt_err *err);
/* An error at the cursor's place; the code. */
int wti_cursor_bad(struct wti_model_cursor *cursor, const char *reason);
bool wti_cursor_take(struct wti_model_cursor *cursor, void *data, size_t bytes);
void wti_cursor_skip(struct wti_model_cursor *cursor, uint64_t bytes);
uint8_t wti_cursor_u8(struct wti_model_cursor *cursor);
uint32_t wti_cursor_u32(struct wti_model_cursor *cursor);
uint64_t wti_cursor_u64(struct wti_model_cursor *cursor);
uint64_t wti_cursor_left(const struct wti_model_cursor *cursor);
/* That many bytes as a text in the model's arena; NULL: error, or a NUL in it. */
char *wti_cursor_text(struct wti_model_cursor *cursor, uint64_t bytes, uint64_t bytes_max);

#endif
