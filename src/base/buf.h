/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer with a ceiling. Errors stick: after a failed append every further one
 * fails too, so that a caller may check once at the end with wti_buf_status().
 */
#ifndef WTI_BASE_BUF_H
#define WTI_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct wti_buf {
	uint8_t *data;
	size_t bytes;
	size_t capacity;
	size_t ceiling;
	int status; /* 0, WT_E_NOMEM or WT_E_LIMIT */
};

void wti_buf_init(struct wti_buf *buf, size_t ceiling);
void wti_buf_release(struct wti_buf *buf);
void wti_buf_clear(struct wti_buf *buf); /* keeps the memory, forgets the status */
int wti_buf_status(const struct wti_buf *buf);
/* Room for `bytes` more at the end; NULL on failure. Does not move the end: see wti_buf_added(). */
uint8_t *wti_buf_reserve(struct wti_buf *buf, size_t bytes);
void wti_buf_added(struct wti_buf *buf, size_t bytes);
/* A part of this one was made in `part`: if memory ran out there, it did here. */
void wti_buf_inherit(struct wti_buf *buf, const struct wti_buf *part);
int wti_buf_append(struct wti_buf *buf, const void *data, size_t bytes);
int wti_buf_text(struct wti_buf *buf, const char *text);
int wti_buf_byte(struct wti_buf *buf, uint8_t byte);
int wti_buf_printf(struct wti_buf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int wti_buf_vprintf(struct wti_buf *buf, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/* NUL-terminated view of the content; "" after a failure. */
const char *wti_buf_cstr(struct wti_buf *buf);

/* Appends each byte as two hexadecimal digits. */
void wti_buf_hex(struct wti_buf *buf, const void *data, size_t bytes);

#endif
