/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON; jansson, which knows nothing of ours, reads it back. */
#include "test.h"

#include <float.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"

static struct wti_buf out;
static struct wti_json json;

static void begin(bool pretty)
{
	wti_buf_release(&out);
	wti_buf_init(&out, 1 << 20);
	wti_json_init(&json, &out, pretty);
}

static void fill_sample(void)
{
	wti_json_object(&json);
	wti_json_key(&json, "a");
	wti_json_array(&json);
	wti_json_u64(&json, 1);
	wti_json_object(&json);
	wti_json_object_end(&json);
	wti_json_array(&json);
	wti_json_array_end(&json);
	wti_json_array_end(&json);
	wti_json_key_n(&json, "bcd", 1);
	wti_json_bool(&json, true);
	wti_json_key(&json, "c");
	wti_json_text(&json, NULL);
	wti_json_object_end(&json);
}

static void test_compact(void)
{
	begin(false);
	fill_sample();
	CHECK_TEXT(wti_buf_cstr(&out), "{\"a\":[1,{},[]],\"b\":true,\"c\":null}");
}

static void test_pretty(void)
{
	begin(true);
	fill_sample();
	CHECK_TEXT(wti_buf_cstr(&out), "{\n  \"a\": [\n    1,\n    {},\n    []\n  ],\n"
				       "  \"b\": true,\n  \"c\": null\n}");
}

static void test_integers(void)
{
	begin(false);
	wti_json_array(&json);
	wti_json_u64(&json, 0);
	wti_json_u64(&json, UINT64_MAX);
	wti_json_i64(&json, INT64_MIN);
	wti_json_i64(&json, INT64_MAX);
	wti_json_i64(&json, -10);
	wti_json_array_end(&json);
	CHECK_TEXT(wti_buf_cstr(&out), "[0,18446744073709551615,-9223372036854775808,"
				       "9223372036854775807,-10]");
}

static const char *f64_text(double value)
{
	begin(false);
	wti_json_f64(&json, value);
	return wti_buf_cstr(&out);
}

static void test_floats(void)
{
	CHECK_TEXT(f64_text(0.1), "0.1");
	CHECK_TEXT(f64_text(1), "1");
	CHECK_TEXT(f64_text(-0.0), "-0");
	CHECK_TEXT(f64_text(1e300), "1e+300");
	CHECK_TEXT(f64_text(0.1 + 0.2), "0.30000000000000004");
	CHECK_TEXT(f64_text(NAN), "null");
	CHECK_TEXT(f64_text(-INFINITY), "null");
}

static void test_floats_round_trip(void)
{
	uint64_t bits = 88172645463325252;

	for (int i = 0; i < 20000; i++) {
		double value;

		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&value, &bits, sizeof(value));
		if (isfinite(value))
			CHECK(strtod(f64_text(value), NULL) == value);
	}
	CHECK(strtod(f64_text(DBL_TRUE_MIN), NULL) == DBL_TRUE_MIN);
	CHECK(strtod(f64_text(DBL_MAX), NULL) == DBL_MAX);
}

static void test_floats_locale(void)
{
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8"))
		SKIP("no locale with a decimal comma is installed");
	CHECK_TEXT(f64_text(1.5), "1.5");
	setlocale(LC_NUMERIC, "C");
}

static const char *escaped(const char *text, size_t bytes)
{
	begin(false);
	wti_json_escape(&out, text, bytes);
	return wti_buf_cstr(&out);
}

static void test_escapes(void)
{
	CHECK_TEXT(escaped("a\"\\/\b\f\n\r\t", 9), "a\\\"\\\\/\\b\\f\\n\\r\\t");
	CHECK_TEXT(escaped("\0\x1b\x7f", 3), "\\u0000\\u001b\\u007f");
	/* A terminal obeys C1, and a change of direction: as good as a control. */
	CHECK_TEXT(escaped("\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xef\xbf\xbf", 11),
		   "\\u009b\\u202e\\u2066\\uffff");
	CHECK_TEXT(escaped("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9),
		   "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	/* Cut, too long, a surrogate, beyond the last character, a stray byte. */
	CHECK_TEXT(escaped("x\xe2\x82", 3), "x\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_TEXT(escaped("\xc0\x80", 2), "\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_TEXT(escaped("\xed\xa0\x80", 3), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_TEXT(escaped("\xf4\x90\x80\x80", 4),
		   "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_TEXT(escaped("\x80y", 2), "\xef\xbf\xbdy");
}

static void test_any_bytes(void)
{
	uint32_t random = 1;

	for (int i = 0; i < 2000; i++) {
		char text[64];
		json_t *read;

		for (size_t j = 0; j < sizeof(text); j++) {
			random = random * 1664525 + 1013904223;
			text[j] = (char)(random >> 24);
		}
		begin(i % 2);
		wti_json_object(&json);
		wti_json_key_n(&json, text, 20);
		wti_json_text_n(&json, text + 20, 44);
		wti_json_object_end(&json);
		read = json_loadb((char *)out.data, out.bytes, JSON_ALLOW_NUL, NULL);
		/* The key may hold a NUL, which jansson refuses in keys only. */
		if (!memchr(text, 0, 20))
			CHECK(read);
		json_decref(read);
	}
}

static void test_depth(void)
{
	begin(false);
	for (int i = 0; i < WTI_JSON_DEPTH_MAX - 1; i++)
		wti_json_array(&json);
	CHECK_INT(wti_buf_status(&out), 0);
	wti_json_array(&json);
	CHECK_INT(wti_buf_status(&out), WT_E_LIMIT);
	for (int i = 0; i < WTI_JSON_DEPTH_MAX + 5; i++)
		wti_json_array_end(&json);
	CHECK_TEXT(wti_buf_cstr(&out), "");
}

static const struct test tests[] = {
	{"compact", test_compact},
	{"pretty", test_pretty},
	{"integers", test_integers},
	{"floats", test_floats},
	{"floats_round_trip", test_floats_round_trip},
	{"floats_locale", test_floats_locale},
	{"escapes", test_escapes},
	{"any_bytes", test_any_bytes},
	{"depth", test_depth},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int status = test_main(tests, argc, argv);

	wti_buf_release(&out);
	return status;
}
