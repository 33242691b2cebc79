/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Burn's JSON, pretty or compact: the same record, with elements as lists of bytes. It is four to
 * ten times as large as its tensors, so it is read value by value and never as a document.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/scan.h"
#include "base/text.h"
#include "model/burn/record.h"

/* What may come next at a place in the document. */
enum expected {
	A_VALUE,
	A_VALUE_OR_END, /* after [ */
	A_KEY,          /* after a comma in a map */
	A_KEY_OR_END,   /* after { */
	A_COMMA_OR_END,
};

struct json_in {
	struct wti_burn_in in;
	wti_burn_take_event *take;
	void *self;
	bool is_map[WTI_DOC_DEPTH_MAX];
	unsigned depth;
	enum expected expected;
	bool started;
	char text[WTI_MODEL_NAME_MAX + 1];
	size_t text_bytes;
	struct wt_err *err;
};

static int refuse(const struct json_in *json, const char *what)
{
	return wti_err_at(json->err, WT_E_FORMAT, (int64_t)json->in.at,
			  "'%s' is not valid JSON: %s at byte %llu", json->in.model->path, what,
			  (unsigned long long)json->in.at);
}

/* The byte here, or -1 at the end; other negative numbers are codes. */
#define AT_END (-1000)
static int look(struct json_in *json)
{
	const uint8_t *data;
	size_t bytes;
	int r;

	if (json->in.at >= json->in.window_at &&
	    json->in.at < json->in.window_at + json->in.window_bytes)
		return json->in.window[json->in.at - json->in.window_at];
	r = wti_burn_peek(&json->in, json->in.at, 1, &data, &bytes, json->err);
	return r ? r : bytes ? *data : AT_END;
}

static int skip_space(struct json_in *json)
{
	int c;

	while ((c = look(json)) == ' ' || c == '\n' || c == '\t' || c == '\r')
		json->in.at++;
	return c;
}

/* ---- Texts --------------------------------------------------------------------------------- */

static int put(struct json_in *json, int byte)
{
	if (json->text_bytes == WTI_MODEL_NAME_MAX)
		return refuse(json, "a text that is too long");
	json->text[json->text_bytes++] = (char)byte;
	return 0;
}

/* Names in Rust are ASCII as a rule; of others only what UTF-16 writes as one unit is read. */
static int put_escaped_point(struct json_in *json)
{
	const uint8_t *data;
	uint32_t point = 0;
	int r = wti_burn_take(&json->in, 4, "a text", &data, json->err);

	for (unsigned i = 0; !r && i < 4; i++) {
		const char *digits = "0123456789abcdef";
		const char *digit = data[i] ? strchr(digits, data[i] | 0x20) : NULL;

		if (!digit)
			return refuse(json, "a bad escape");
		point = point << 4 | (uint32_t)(digit - digits);
	}
	if (r || !point || (point >= 0xd800 && point < 0xe000))
		return r ? r : refuse(json, "a bad escape");
	if (point < 0x80)
		return put(json, (int)point);
	if (point >= 0x800) {
		r = put(json, (int)(0xe0 | point >> 12));
		if (!r)
			r = put(json, (int)(0x80 | (point >> 6 & 63)));
	} else {
		r = put(json, (int)(0xc0 | point >> 6));
	}
	return r ? r : put(json, (int)(0x80 | (point & 63)));
}

static int put_escaped(struct json_in *json)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	int c = look(json);
	const char *found = c > 0 ? strchr(from, c) : NULL;

	if (c < 0 && c != AT_END)
		return c;
	json->in.at++;
	if (c == 'u')
		return put_escaped_point(json);
	return found ? put(json, to[found - from]) : refuse(json, "a bad escape");
}

/* After the quote. */
static int take_text(struct json_in *json)
{
	json->text_bytes = 0;
	for (;;) {
		int c = look(json);
		int r = 0;

		if (c == AT_END)
			return refuse(json, "the end within a text");
		if (c < 0)
			return c;
		if (c < ' ')
			return refuse(json, "a control within a text");
		json->in.at++;
		if (c == '"')
			break;
		r = c == '\\' ? put_escaped(json) : put(json, c);
		if (r)
			return r;
	}
	json->text[json->text_bytes] = '\0';
	return wti_is_utf8(json->text, json->text_bytes) ? 0
							 : refuse(json, "a text that is not UTF-8");
}

/* ---- Values -------------------------------------------------------------------------------- */

static int hand_on(struct json_in *json, struct wti_burn_event *event)
{
	event->at = json->in.at;
	event->text = json->text;
	event->bytes = json->text_bytes;
	return json->take(json->self, event, json->err);
}

/* As RFC 8259 has it: -0.5e+3, but neither 05 nor .5 nor 1. */
static bool is_number(const char *text)
{
	text += *text == '-';
	if (*text == '0')
		text++;
	else if (strspn(text, "0123456789"))
		text += strspn(text, "0123456789");
	else
		return false;
	if (*text == '.') {
		if (!strspn(text + 1, "0123456789"))
			return false;
		text += 1 + strspn(text + 1, "0123456789");
	}
	if (*text == 'e' || *text == 'E') {
		text += text[1] == '-' || text[1] == '+' ? 2 : 1;
		if (!strspn(text, "0123456789"))
			return false;
		text += strspn(text, "0123456789");
	}
	return !*text;
}

static int take_number(struct json_in *json)
{
	struct wti_burn_event event = {.type = WTI_BURN_COUNT};
	uint64_t magnitude;
	char text[WTI_SCAN_NUMBER_MAX + 1];
	size_t bytes = 0;
	int c;

	while ((c = look(json)) > 0 && strchr("+-.eE0123456789", c)) {
		if (bytes == WTI_SCAN_NUMBER_MAX)
			return refuse(json, "a number that is too long");
		text[bytes++] = (char)c;
		json->in.at++;
	}
	text[bytes] = '\0';
	if (c < 0 && c != AT_END)
		return c;
	if (!is_number(text))
		return refuse(json, "something that is not a value");
	if (wti_parse_u64(text, &event.number))
		return hand_on(json, &event);
	if (text[0] == '-' && wti_parse_u64(text + 1, &magnitude) && magnitude <= INT64_MAX) {
		event.type = WTI_BURN_NEGATIVE;
		event.negative = -(int64_t)magnitude;
		return hand_on(json, &event);
	}
	event.type = WTI_BURN_F64;
	if (!wti_scan_double(text, &event.real))
		return refuse(json, "a bad number");
	memcpy(&event.number, &event.real, sizeof(event.number));
	return hand_on(json, &event);
}

static int take_word(struct json_in *json)
{
	static const struct {
		const char *word;
		struct wti_burn_event event;
	} words[] = {{"null", {.type = WTI_BURN_NIL}},
		     {"true", {.type = WTI_BURN_BOOL, .number = 1}},
		     {"false", {.type = WTI_BURN_BOOL}}};
	const uint8_t *data;
	size_t bytes;
	int r = wti_burn_peek(&json->in, json->in.at, 5, &data, &bytes, json->err);

	for (size_t i = 0; !r && i < 3; i++) {
		size_t length = strlen(words[i].word);
		struct wti_burn_event event = words[i].event;

		if (bytes < length || memcmp(data, words[i].word, length))
			continue;
		json->in.at += length;
		return hand_on(json, &event);
	}
	return r ? r : refuse(json, "something that is not a value");
}

static int begin(struct json_in *json, bool is_map)
{
	struct wti_burn_event event = {.type = is_map ? WTI_BURN_MAP : WTI_BURN_LIST};

	if (json->depth == WTI_DOC_DEPTH_MAX)
		return refuse(json, "nested too deeply");
	json->is_map[json->depth++] = is_map;
	json->in.at++;
	json->expected = is_map ? A_KEY_OR_END : A_VALUE_OR_END;
	return hand_on(json, &event);
}

static int end(struct json_in *json, int c)
{
	struct wti_burn_event event = {.type = WTI_BURN_END};

	if (c != (json->is_map[json->depth - 1] ? '}' : ']'))
		return refuse(json, "the wrong bracket");
	json->in.at++;
	json->depth--;
	json->expected = A_COMMA_OR_END;
	return hand_on(json, &event);
}

static int take_value(struct json_in *json, int c)
{
	struct wti_burn_event text = {.type = WTI_BURN_TEXT};
	int r;

	json->expected = A_COMMA_OR_END;
	if (c == '{' || c == '[')
		return begin(json, c == '{');
	if (c == '-' || (c >= '0' && c <= '9'))
		return take_number(json);
	if (c != '"')
		return take_word(json);
	json->in.at++;
	r = take_text(json);
	return r ? r : hand_on(json, &text);
}

static int take_key(struct json_in *json, int c)
{
	struct wti_burn_event key = {.type = WTI_BURN_TEXT};
	int r;

	if (c != '"')
		return refuse(json, "no key");
	json->in.at++;
	r = take_text(json);
	if (!r)
		r = hand_on(json, &key);
	if (r)
		return r;
	if (skip_space(json) != ':')
		return refuse(json, "no colon");
	json->in.at++;
	json->expected = A_VALUE;
	return 0;
}

static int take_comma(struct json_in *json)
{
	json->in.at++;
	json->expected = json->is_map[json->depth - 1] ? A_KEY : A_VALUE;
	return 0;
}

static int take_next(struct json_in *json)
{
	int c = skip_space(json);

	if (c < 0)
		return c == AT_END ? refuse(json, "the end within the document") : c;
	if ((c == '}' || c == ']') && json->depth && json->expected != A_VALUE &&
	    json->expected != A_KEY)
		return end(json, c);
	if (json->expected == A_COMMA_OR_END)
		return c == ',' ? take_comma(json) : refuse(json, "no comma");
	if (json->expected == A_KEY || json->expected == A_KEY_OR_END)
		return take_key(json, c);
	return take_value(json, c);
}

static int read_all(struct json_in *json, struct wti_burn_record *record)
{
	int r;

	do {
		r = take_next(json);
	} while (!r && json->depth);
	if (r)
		return r;
	r = skip_space(json);
	if (r != AT_END)
		return r < 0 ? r : refuse(json, "something behind the document");
	return wti_burn_record_end(record, json->err);
}

int wti_burn_read_json(struct wti_model *model, uint32_t source, struct wt_err *err)
{
	struct wti_burn_record *record;
	struct json_in *json;
	int r = wti_burn_record_open(model, source, &record, err);

	if (r)
		return r;
	json = calloc(1, sizeof(*json));
	if (json) {
		wti_burn_in_init(&json->in, model, source);
		json->take = wti_burn_record_take;
		json->self = record;
		json->err = err;
		r = read_all(json, record);
	} else {
		r = wti_err(err, WT_E_NOMEM, "out of memory for a model");
	}
	free(json);
	wti_burn_record_free(record);
	return r;
}

/* {"metadata":{"float": ...: other files have metadata, too, but not these. */
bool wti_burn_is_json(const uint8_t *head, size_t bytes)
{
	static const char *const words[] = {"{", "\"metadata\"", ":", "{", "\"float\"", ":"};
	size_t at = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t length = strlen(words[i]);

		while (at < bytes && (head[at] == ' ' || head[at] == '\n' || head[at] == '\r' ||
				      head[at] == '\t'))
			at++;
		if (bytes - at < length || memcmp(head + at, words[i], length))
			return false;
		at += length;
	}
	return true;
}

static bool is_one(const struct wti_model_probe *probe)
{
	return !probe->is_folder && wti_burn_is_json(probe->head, probe->head_bytes);
}

static int read_first(struct wti_model *model, struct wt_err *err)
{
	return wti_burn_read_json(model, 0, err);
}

const struct wti_model_format wti_model_burn_json = {
	.name = "burn-json",
	.title = "Burn record (JSON)",
	.suffixes = "",
	.is_one = is_one,
	.read = read_first,
};
