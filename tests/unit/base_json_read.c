/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON: what is accepted comes back the same, what is refused must say where. */
#include "base/json_read.h"
#include "doc_text.h"

#define GIVES(text, json) DOC_GIVES(wti_json_parse, text, json)

static void test_values(void)
{
	GIVES("{}", "{}");
	GIVES(" [ ]\r\n", "[]");
	GIVES("\xef\xbb\xbf{\"a\": [1, -2, 0, 2.5e3, true, false, null]}",
	      "{\"a\":[1,-2,0,2500,true,false,null]}");
	GIVES("9223372036854775807", "9223372036854775807");
	GIVES("18446744073709551616", "1.8446744073709552e+19");
	GIVES("\"\\u00e9\\ud83d\\ude00\\/\\n\"", "\"\xc3\xa9\xf0\x9f\x98\x80/\\n\"");
	GIVES("{\"a\":{\"a\":{}},\"b\":[[],[{}]]}", "{\"a\":{\"a\":{}},\"b\":[[],[{}]]}");
}

static void test_refused(void)
{
	GIVES("", "t:1:1: the file ends where a value should be");
	GIVES("{\n  \"a\" 1}", "t:2:7: ':' should be here");
	GIVES("{\"a\": 1,}", "t:1:9: a key in double quotes should be here");
	GIVES("{a: 1}", "t:1:2: a key in double quotes should be here");
	GIVES("[1 2]", "t:1:4: ',' or ']' should be here");
	GIVES("[1,]", "t:1:4: a value should be here");
	GIVES("[01]", "t:1:2: this is not a number");
	GIVES("[1.]", "t:1:2: this is not a number");
	GIVES("[-]", "t:1:2: this is not a number");
	GIVES("1e999", "t:1:1: number is too large");
	GIVES("[nul]", "t:1:2: a value should be here");
	GIVES("\"a\nb\"", "t:1:1: string has no end in its line; write \\n for a new line");
	GIVES("\"a", "t:1:1: string has no end");
	GIVES("\"\\x\"", "t:1:2: unknown escape; write '\\\\' for a backslash");
	GIVES("\"\\ud83d\"", "t:1:2: escape is half a character");
	GIVES("\"\\ude00\"", "t:1:2: escape is half a character");
	GIVES("\"\\u12g4\"", "t:1:2: escape needs 4 hexadecimal digits");
	GIVES("{} {}", "t:1:4: the end of the file should be here");
	GIVES("{\"\\u0000\": 1}", "t:1:2: key contains a NUL");
	GIVES("{\"a\": 1,\n \"a\": 2}", "t:2:2: key 'a' is given twice; the first is in line 1");
	GIVES("\"\xff\"", "t:1:2: byte 0xff is not UTF-8");
}

static void test_depth(void)
{
	char text[WTI_DOC_DEPTH_MAX * 2 + 2];
	struct wti_doc *root = NULL;
	struct wt_err err;

	memset(text, '[', WTI_DOC_DEPTH_MAX);
	memset(text + WTI_DOC_DEPTH_MAX, ']', WTI_DOC_DEPTH_MAX);
	CHECK_INT(wti_json_parse("t", text, 2 * WTI_DOC_DEPTH_MAX, &root, &err), 0);
	wti_doc_free(root);
	memset(text, '[', sizeof(text));
	CHECK_INT(wti_json_parse("t", text, sizeof(text), &root, &err), WT_E_LIMIT);
	CHECK_INT(wti_json_parse("t", text, WTI_DOC_TEXT_MAX + 1, &root, &err), WT_E_LIMIT);
}

static void test_places(void)
{
	static const char text[] = "{\n  \"\xc3\xa9\": [1,\n 2]}";
	struct wti_doc *root = NULL;
	const struct wti_doc *value;

	REQUIRE(!wti_json_parse("t", text, sizeof(text) - 1, &root, NULL));
	value = wti_doc_get(root, "\xc3\xa9");
	REQUIRE(value);
	CHECK_INT(value->line, 2);
	CHECK_INT(value->column, 3); /* the key's */
	CHECK_INT(value->last->line, 3);
	CHECK_INT(value->last->column, 2);
	wti_doc_free(root);
}

static const struct test tests[] = {
	{"values", test_values},
	{"refused", test_refused},
	{"depth", test_depth},
	{"places", test_places},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
