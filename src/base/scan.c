/* SPDX-License-Identifier: Apache-2.0 */
/* Lines, columns and characters of a text in UTF-8. */
#include "scan.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "text.h"

unsigned wti_scan_column(struct wti_scan *scan, const char *at)
{
	if (!scan->counted_to || scan->counted_to < scan->line_begin || scan->counted_to > at) {
		scan->counted_to = scan->line_begin;
		scan->counted = 0;
	}
	for (; scan->counted_to < at; scan->counted_to++)
		scan->counted += ((uint8_t)*scan->counted_to & 0xc0) != 0x80;
	return scan->counted + 1;
}

int wti_scan_fail(struct wti_scan *scan, int code, const char *at, const char *format, ...)
{
	char message[256];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return wti_err_at(scan->err, code, at - scan->text, "%.200s:%u:%u: %s", scan->name,
			  scan->line, wti_scan_column(scan, at), message);
}

int wti_scan_no_memory(struct wti_scan *scan)
{
	if (scan->arena && scan->arena->status == WT_E_LIMIT)
		return wti_scan_fail(scan, WT_E_LIMIT, scan->at,
				     "too many values: they would take more than %zu MB",
				     scan->arena->ceiling >> 20);
	return wti_scan_fail(scan, WT_E_NOMEM, scan->at, "out of memory");
}

bool wti_scan_newline(struct wti_scan *scan)
{
	const char *at = scan->at;

	at += at < scan->end && *at == '\r';
	if (at == scan->end || *at != '\n')
		return false;
	scan->at = scan->line_begin = at + 1;
	scan->line++;
	return true;
}

static void rewind_scan(struct wti_scan *scan)
{
	scan->at = scan->line_begin = scan->text;
	scan->line = 1 + scan->lines_before;
	if (scan->end - scan->at >= 3 && !memcmp(scan->at, "\xef\xbb\xbf", 3))
		scan->at = scan->line_begin = scan->text + 3; /* a byte order mark */
}

/* Moves over what is allowed everywhere and needs no thought: nearly all of most files. */
static void pass_plain(struct wti_scan *scan)
{
	const char *at = scan->at;

	while (at < scan->end && *at >= ' ' && *at < 0x7f)
		at++;
	scan->at = at;
}

static int check_bytes(struct wti_scan *scan, bool controls)
{
	for (pass_plain(scan); scan->at < scan->end; pass_plain(scan)) {
		size_t length = wti_utf8_length(scan->at, (size_t)(scan->end - scan->at));
		uint8_t byte = (uint8_t)*scan->at;

		if (wti_scan_newline(scan))
			continue;
		if (!length)
			return wti_scan_fail(scan, WT_E_FORMAT, scan->at,
					     "byte 0x%02x is not UTF-8", byte);
		if (!controls && ((byte < 0x20 && byte != '\t') || byte == 0x7f))
			return wti_scan_fail(scan, WT_E_FORMAT, scan->at,
					     "control character 0x%02x is not allowed", byte);
		scan->at += length;
	}
	return 0;
}

int wti_scan_begin(struct wti_scan *scan, bool controls)
{
	int r;

	rewind_scan(scan);
	r = check_bytes(scan, controls);
	if (!r)
		rewind_scan(scan);
	return r;
}

bool wti_scan_hex(struct wti_scan *scan, size_t digits, uint32_t *ret_number)
{
	static const char hex[] = "0123456789abcdef";
	uint32_t number = 0;

	for (size_t i = 0; i < digits; i++, scan->at++) {
		char c = scan->at < scan->end ? *scan->at : 0;
		const char *digit =
			c ? strchr(hex, c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c) : NULL;

		if (!digit)
			return false;
		number = number << 4 | (uint32_t)(digit - hex);
	}
	*ret_number = number;
	return true;
}

void wti_scan_put(struct wti_scan *scan, uint32_t point)
{
	uint8_t byte[4];
	size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;

	for (size_t i = length - 1; i; i--, point >>= 6)
		byte[i] = (uint8_t)(0x80 | (point & 0x3f));
	byte[0] = (uint8_t)(length == 1 ? point : (0xf0u << (4 - length)) | point);
	wti_buf_append(&scan->scratch, byte, length);
}

bool wti_scan_double(const char *text, double *ret_number)
{
	locale_t plain = newlocale(LC_ALL_MASK, "C", NULL);
	char *end;

	if (!plain)
		return false;
	*ret_number = strtod_l(text, &end, plain);
	freelocale(plain);
	return end != text && !*end;
}
