/* SPDX-License-Identifier: Apache-2.0 */
/* Hides the window that is moved along the source. */
#include "model/cursor.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"

struct wti_model_cursor *wti_cursor_new(struct wti_model *model, uint32_t source,
					struct wt_err *err)
{
	struct wti_model_cursor *cursor = malloc(sizeof(*cursor));

	if (!cursor) {
		wti_err(err, WT_E_NOMEM, "out of memory");
		return NULL;
	}
	cursor->model = model;
	cursor->source = source;
	cursor->at = cursor->window_at = 0;
	cursor->window_bytes = 0;
	cursor->end = wti_model_source_bytes(model, source);
	cursor->code = 0;
	cursor->err = err;
	return cursor;
}

uint64_t wti_cursor_left(const struct wti_model_cursor *cursor)
{
	return cursor->code ? 0 : cursor->end - cursor->at;
}

int wti_cursor_bad(struct wti_model_cursor *cursor, const char *reason)
{
	if (!cursor->code)
		cursor->code = wti_model_bad(cursor->model, cursor->source, cursor->at, cursor->err,
					     "%s", reason);
	return cursor->code;
}

/* The window has the byte at the cursor, if there is one. */
static void move(struct wti_model_cursor *cursor)
{
	uint64_t left = wti_cursor_left(cursor);

	cursor->window_at = cursor->at;
	cursor->window_bytes = left < WTI_CURSOR_WINDOW ? (size_t)left : WTI_CURSOR_WINDOW;
	cursor->code = wti_model_read(cursor->model, cursor->source, cursor->at, cursor->window,
				      cursor->window_bytes, cursor->err);
}

bool wti_cursor_take(struct wti_model_cursor *cursor, void *data, size_t bytes)
{
	uint8_t *out = data;

	memset(data, 0, bytes);
	if (cursor->code)
		return false;
	if (bytes > wti_cursor_left(cursor)) {
		wti_cursor_bad(cursor, "it ends inside an entry: the file was cut, or a length is "
				       "wrong");
		return false;
	}
	while (bytes) {
		uint64_t within = cursor->at - cursor->window_at;
		size_t some;

		if (cursor->at < cursor->window_at || within >= cursor->window_bytes) {
			move(cursor);
			if (cursor->code)
				return false;
			within = 0;
		}
		some = cursor->window_bytes - (size_t)within;
		if (some > bytes)
			some = bytes;
		memcpy(out, cursor->window + within, some);
		out += some;
		bytes -= some;
		cursor->at += some;
	}
	return true;
}

void wti_cursor_skip(struct wti_model_cursor *cursor, uint64_t bytes)
{
	if (bytes > wti_cursor_left(cursor))
		wti_cursor_bad(cursor, "it ends inside an entry: the file was cut, or a length is "
				       "wrong");
	else
		cursor->at += bytes;
}

uint8_t wti_cursor_u8(struct wti_model_cursor *cursor)
{
	uint8_t value;

	wti_cursor_take(cursor, &value, sizeof(value));
	return value;
}

uint32_t wti_cursor_u32(struct wti_model_cursor *cursor)
{
	uint32_t value;

	wti_cursor_take(cursor, &value, sizeof(value));
	return value;
}

uint64_t wti_cursor_u64(struct wti_model_cursor *cursor)
{
	uint64_t value;

	wti_cursor_take(cursor, &value, sizeof(value));
	return value;
}

char *wti_cursor_text(struct wti_model_cursor *cursor, uint64_t bytes, uint64_t bytes_max)
{
	char *text;

	if (bytes > bytes_max || bytes > wti_cursor_left(cursor)) {
		wti_cursor_bad(cursor, "a text is too long");
		return NULL;
	}
	text = wti_arena_alloc(&cursor->model->arena, (size_t)bytes + 1);
	if (!text) {
		cursor->code = wti_err(cursor->err, cursor->model->arena.status,
				       "cannot keep the texts of '%s'", cursor->model->path);
		return NULL;
	}
	if (wti_cursor_take(cursor, text, (size_t)bytes) && memchr(text, 0, (size_t)bytes))
		wti_cursor_bad(cursor, "a text has a NUL in it");
	return cursor->code ? NULL : text;
}
