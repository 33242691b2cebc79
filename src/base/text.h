/* SPDX-License-Identifier: Apache-2.0 */
/* Small things with text: globs, sizes, durations, likeness. No locale, no allocation. */
#ifndef WTI_BASE_TEXT_H
#define WTI_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

/* Shell-like: * ? [a-z] [!a-z] and \ to quote. Linear in text times stars, never exponential. */
bool wti_glob(const char *pattern, const char *text, size_t bytes);
bool wti_ends_with(const char *text, const char *end);
/* "64k", "2G", "1.5GiB", "100": binary multiples. False if it is not a size. */
bool wti_parse_bytes(const char *text, uint64_t *ret_bytes);
/* "250us", "3ms", "1.5s", "2m", "100" (seconds): in nanoseconds, may be negative. */
bool wti_parse_duration(const char *text, int64_t *ret_ns);
bool wti_parse_u64(const char *text, uint64_t *ret_value);
/* "1.2 GB", "12.3 us" and such, for people; at most 15 characters. */
const char *wti_format_bytes(char out[16], uint64_t bytes);
const char *wti_format_ns(char out[16], int64_t ns);
/* "1,234,567" */
const char *wti_format_count(char out[32], uint64_t count);
/* The candidate that `word` was most likely meant to be, or NULL. */
const char *wti_suggest(const char *word, const char *const *candidates, size_t count);
/* Bytes to valid UTF-8 on one line: controls and newlines as \n, \x1b; bad bytes as \xNN. */
void wti_printable(struct wti_buf *out, const char *text, size_t bytes);
/*
 * As wti_buf_printf(), and what %s inserts is made printable: what we say ourselves stands in the
 * format, what comes from elsewhere is an argument, and only the former may break a line. Knows
 * %s %d %u %x %f %g and %c with flags, width, precision and length; no %n, no %p.
 */
void wti_textf(struct wti_buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void wti_vtextf(struct wti_buf *out, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/*
 * Length of the character at the beginning if a terminal may get it as it is; 0: it is a control,
 * changes the direction of what follows, separates lines, or is not UTF-8.
 */
size_t wti_harmless_length(const char *text, size_t bytes);
/* Length of the valid UTF-8 sequence at the beginning, 0 if there is none. */
size_t wti_utf8_length(const char *text, size_t bytes);
bool wti_is_utf8(const char *text, size_t bytes); /* all of it */

#endif
