/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What base does with text of any bytes: globs, sizes, durations, masks, and JSON and terminal
 * output, which must stay valid whatever the text is. The input is a pattern, a NUL, and a text.
 */
#include <jansson.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/secret.h"
#include "base/text.h"
#include "fuzz.h"

static void check_json(const char *text, size_t bytes)
{
	struct wti_json json;
	struct wti_buf out;
	json_t *parsed;

	wti_buf_init(&out, 1u << 24);
	wti_json_init(&json, &out, false);
	wti_json_object(&json);
	wti_json_key_n(&json, text, bytes);
	wti_json_text_n(&json, text, bytes);
	wti_json_object_end(&json);
	parsed = json_loadb((const char *)out.data, out.bytes, JSON_ALLOW_NUL, NULL);
	/* jansson has no keys with a NUL in them, which JSON does. */
	PROMISE(parsed || memchr(text, 0, bytes));
	json_decref(parsed);
	wti_buf_release(&out);
}

static void check_printable(const char *text, size_t bytes)
{
	struct wti_buf out;

	wti_buf_init(&out, 1u << 24);
	wti_printable(&out, text, bytes);
	for (size_t i = 0; i < out.bytes;) {
		size_t length = wti_utf8_length((const char *)out.data + i, out.bytes - i);

		PROMISE(length && out.data[i] >= ' ' && out.data[i] != 0x7f);
		i += length;
	}
	wti_buf_release(&out);
}

static void check_mask(const char *text, size_t bytes)
{
	char *copy = malloc(bytes + 1);

	PROMISE(copy);
	memcpy(copy, text, bytes);
	PROMISE(wti_secret_mask(copy, bytes) <= bytes);
	free(copy);
	wti_secret_is_key(text, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const uint8_t *nul = memchr(data, 0, bytes);
	const char *pattern = (const char *)data;
	uint64_t number;
	int64_t duration;

	if (!nul)
		return 0;
	bytes -= (size_t)(nul + 1 - data);
	wti_glob(pattern, (const char *)nul + 1, bytes);
	wti_parse_bytes(pattern, &number);
	wti_parse_u64(pattern, &number);
	wti_parse_duration(pattern, &duration);
	wti_suggest(pattern, (const char *const[]){"record", "info", "view"}, 3);
	check_json((const char *)nul + 1, bytes);
	check_printable((const char *)nul + 1, bytes);
	check_mask((const char *)nul + 1, bytes);
	return 0;
}
