/* SPDX-License-Identifier: Apache-2.0 */
/* Hides commas, indentation, escapes and how a number becomes text. */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/err.h>

#include "text.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

void wti_json_init(struct wti_json *json, struct wti_buf *out, bool pretty)
{
	*json = (struct wti_json){.out = out, .pretty = pretty};
}

static void new_line(struct wti_json *json)
{
	if (!json->pretty)
		return;
	wti_buf_byte(json->out, '\n');
	for (unsigned i = 0; i < json->depth; i++)
		wti_buf_append(json->out, "  ", 2);
}

/* What must stand between the last thing written and the next key or value. */
static void begin_entry(struct wti_json *json)
{
	bool *filled = &json->filled[json->depth < WTI_JSON_DEPTH_MAX ? json->depth : 0];

	if (json->after_key) {
		json->after_key = false;
		return;
	}
	if (!json->depth)
		return;
	if (*filled)
		wti_buf_byte(json->out, ',');
	*filled = true;
	new_line(json);
}

static void begin_nest(struct wti_json *json, uint8_t bracket)
{
	begin_entry(json);
	wti_buf_byte(json->out, bracket);
	json->depth++;
	if (json->depth < WTI_JSON_DEPTH_MAX)
		json->filled[json->depth] = false;
	else if (!json->out->status)
		json->out->status = WT_E_LIMIT;
}

static void end_nest(struct wti_json *json, uint8_t bracket)
{
	bool filled = json->filled[json->depth < WTI_JSON_DEPTH_MAX ? json->depth : 0];

	if (json->depth)
		json->depth--;
	if (filled)
		new_line(json);
	wti_buf_byte(json->out, bracket);
}

void wti_json_object(struct wti_json *json)
{
	begin_nest(json, '{');
}

void wti_json_object_end(struct wti_json *json)
{
	end_nest(json, '}');
}

void wti_json_array(struct wti_json *json)
{
	begin_nest(json, '[');
}

void wti_json_array_end(struct wti_json *json)
{
	end_nest(json, ']');
}

/* Appends the escape for a byte that must not stand in a string. */
static void escape_byte(struct wti_buf *out, uint8_t byte)
{
	static const char letters[] = "\bb\nn\ff\rr\tt\"\"\\\\";

	for (size_t i = 0; letters[i]; i += 2) {
		if ((uint8_t)letters[i] == byte) {
			wti_buf_byte(out, '\\');
			wti_buf_byte(out, (uint8_t)letters[i + 1]);
			return;
		}
	}
	wti_buf_printf(out, "\\u%04x", byte);
}

/* Of the character at the beginning, which is not ASCII: as \u0085 if a terminal must not get it.
 */
static void escape_wide(struct wti_buf *out, const char *text, size_t length)
{
	const uint8_t *at = (const uint8_t *)text;

	if (!length) /* not UTF-8 */
		wti_buf_text(out, REPLACEMENT);
	else if (length == 2)
		wti_buf_printf(out, "\\u%04x", (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu));
	else /* none of the harmful ones takes four bytes */
		wti_buf_printf(out, "\\u%04x",
			       (at[0] & 0xfu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu));
}

void wti_json_escape(struct wti_buf *out, const char *text, size_t bytes)
{
	size_t plain = 0; /* where the run not yet appended begins */
	size_t at = 0;

	while (at < bytes) {
		uint8_t byte = (uint8_t)text[at];
		size_t length = 1;
		bool quote = byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f;

		if (byte >= 0x80) {
			length = wti_utf8_length(text + at, bytes - at);
			quote = !wti_harmless_length(text + at, bytes - at);
		}
		if (!quote) {
			at += length;
			continue;
		}
		wti_buf_append(out, text + plain, at - plain);
		if (byte >= 0x80)
			escape_wide(out, text + at, length);
		else
			escape_byte(out, byte);
		at += length ? length : 1;
		plain = at;
	}
	wti_buf_append(out, text + plain, at - plain);
}

static void put_string(struct wti_json *json, const char *text, size_t bytes)
{
	wti_buf_byte(json->out, '"');
	wti_json_escape(json->out, text, bytes);
	wti_buf_byte(json->out, '"');
}

void wti_json_key_n(struct wti_json *json, const char *key, size_t bytes)
{
	begin_entry(json);
	put_string(json, key, bytes);
	wti_buf_append(json->out, ": ", json->pretty ? 2 : 1);
	json->after_key = true;
}

void wti_json_key(struct wti_json *json, const char *key)
{
	wti_json_key_n(json, key, strlen(key));
}

void wti_json_text_n(struct wti_json *json, const char *text, size_t bytes)
{
	begin_entry(json);
	put_string(json, text, bytes);
}

void wti_json_text(struct wti_json *json, const char *text)
{
	if (text)
		wti_json_text_n(json, text, strlen(text));
	else
		wti_json_null(json);
}

void wti_json_member(struct wti_json *json, const char *key, const char *text)
{
	wti_json_key(json, key);
	wti_json_text(json, text);
}

static void put_digits(struct wti_buf *out, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	wti_buf_append(out, digits + at, sizeof(digits) - at);
}

void wti_json_u64(struct wti_json *json, uint64_t value)
{
	begin_entry(json);
	put_digits(json->out, value);
}

void wti_json_i64(struct wti_json *json, int64_t value)
{
	begin_entry(json);
	if (value < 0)
		wti_buf_byte(json->out, '-');
	put_digits(json->out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void wti_json_f64(struct wti_json *json, double value)
{
	char text[32];
	char *comma;

	if (!isfinite(value)) {
		wti_json_null(json);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	comma = strchr(text, ','); /* whoever uses the library may have set a locale */
	if (comma)
		*comma = '.';
	begin_entry(json);
	wti_buf_text(json->out, text);
}

void wti_json_bool(struct wti_json *json, bool value)
{
	begin_entry(json);
	wti_buf_text(json->out, value ? "true" : "false");
}

void wti_json_null(struct wti_json *json)
{
	begin_entry(json);
	wti_buf_text(json->out, "null");
}
