/* SPDX-License-Identifier: Apache-2.0 */
/* Reading TOML: what is accepted becomes JSON and is compared, what is refused must say where. */
#include "doc_text.h"
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/toml.h"

static char *read_toml(const char *text, size_t bytes)
{
	return doc_text(wti_toml_parse, text, bytes);
}

#define GIVES(toml, json) DOC_GIVES(wti_toml_parse, toml, json)

static void test_values(void)
{
	GIVES("", "{}");
	GIVES("\xef\xbb\xbf# only a comment", "{}");
	GIVES("a = 1", "{\"a\":1}");
	GIVES("a = -1\r\nb = +2 # two\r\n", "{\"a\":-1,\"b\":2}");
	GIVES("a = 0xff\nb = 0o17\nc = 0b101\nd = 1_000",
	      "{\"a\":255,\"b\":15,\"c\":5,\"d\":1000}");
	GIVES("a = 9223372036854775807\nb = -9223372036854775808",
	      "{\"a\":9223372036854775807,\"b\":-9223372036854775808}");
	GIVES("a = 1.5\nb = -2e3\nc = 1_0.2_5e-1\nd = inf\ne = -nan",
	      "{\"a\":1.5,\"b\":-2000,\"c\":1.025,\"d\":null,\"e\":null}");
	GIVES("a = true\nb = false", "{\"a\":true,\"b\":false}");
}

static void test_strings(void)
{
	GIVES("a = 'c:\\x'\nb = \"\\t\\\"\\\\\\u00e9\\U0001F600\"",
	      "{\"a\":\"c:\\\\x\",\"b\":\"\\t\\\"\\\\\xc3\xa9\xf0\x9f\x98\x80\"}");
	GIVES("a = \"\"\"\none\r\ntwo\"\"\"", "{\"a\":\"one\\ntwo\"}");
	GIVES("a = \"\"\"one \\  \n\n   two\"\"\"", "{\"a\":\"one two\"}");
	GIVES("a = \"\"\"\"\"two quotes\"\"\"\"\"", "{\"a\":\"\\\"\\\"two quotes\\\"\\\"\"}");
	GIVES("a = '''\n''x\\'''", "{\"a\":\"''x\\\\\"}");
	GIVES("a = ''\nb = \"\"\nc = \"\"\"\"\"\"", "{\"a\":\"\",\"b\":\"\",\"c\":\"\"}");
	GIVES("a = \"\\u0000\"", "{\"a\":\"\\u0000\"}");
}

static void test_tables(void)
{
	GIVES("[a]\nx = 1\n[a.b]\ny = 2\n[c]", "{\"a\":{\"x\":1,\"b\":{\"y\":2}},\"c\":{}}");
	GIVES("[a.b.c]\nx = 1\n[a]\ny = 2", "{\"a\":{\"b\":{\"c\":{\"x\":1}},\"y\":2}}");
	GIVES("a.b.c = 1\na.b.d = 2\n\"e f\".'g.h' = 3",
	      "{\"a\":{\"b\":{\"c\":1,\"d\":2}},\"e f\":{\"g.h\":3}}");
	GIVES("[[a]]\nx = 1\n[[a]]\n[a.b]\ny = 2\n[[a.c]]\n[[a.c]]",
	      "{\"a\":[{\"x\":1},{\"b\":{\"y\":2},\"c\":[{},{}]}]}");
	GIVES(" [ a . \"b\" ] # why\n", "{\"a\":{\"b\":{}}}");
	GIVES("a = {}\nb = {x = 1, y.z = [2, {w = 3}]}",
	      "{\"a\":{},\"b\":{\"x\":1,\"y\":{\"z\":[2,{\"w\":3}]}}}");
	GIVES("a = [ # first\n 1,\n\n 2, # second\n]\nb = []", "{\"a\":[1,2],\"b\":[]}");
	GIVES("a = [[1], ['x', [true]]]", "{\"a\":[[1],[\"x\",[true]]]}");
}

static void test_twice(void)
{
	GIVES("a = 1\na = 2", "t:2:1: key 'a' is given twice; the first is in line 1");
	GIVES("[a]\n[b]\n[a]", "t:3:2: key 'a' is given twice; the first is in line 1");
	GIVES("a.b = 1\na.b.c = 2", "t:2:3: key 'b' is given twice; the first is in line 1");
	GIVES("a = {b = 1}\n[a.c]", "t:2:2: key 'a' is given twice; the first is in line 1");
	GIVES("a = {b = 1}\na.c = 2", "t:2:1: key 'a' is given twice; the first is in line 1");
	GIVES("a = [{}]\n[[a]]", "t:2:3: key 'a' is given twice; the first is in line 1");
	GIVES("[[a]]\n[a]", "t:2:2: key 'a' is given twice; the first is in line 1");
	GIVES("[a]\nb.c = 1\n[a.b]", "t:3:4: key 'b' is given twice; the first is in line 2");
	GIVES("[a.b]\nx = 1\n[a]\nb.y = 2",
	      "t:4:1: key 'b' is given twice; the first is in line 1");
	GIVES("a = {x = 1, x = 2}", "t:1:13: key 'x' is given twice; the first is in line 1");
}

static void test_refused(void)
{
	GIVES("a", "t:1:2: '=' is missing after the key");
	GIVES("= 1", "t:1:1: a key is missing");
	GIVES("a = ", "t:1:5: a value is missing");
	GIVES("\n\n  a = 1 b = 2", "t:3:9: the line should end here");
	GIVES("a = x", "t:1:5: 'x' is not a value; put text into quotes");
	GIVES("a = 01", "t:1:5: '01' is not a value; put text into quotes");
	GIVES("a = 1__0", "t:1:5: '1__0' is not a value; put text into quotes");
	GIVES("a = 1.", "t:1:5: '1.' is not a value; put text into quotes");
	GIVES("a = 9223372036854775808",
	      "t:1:5: '9223372036854775808' is not a value; put text into quotes");
	GIVES("a = 2024-01-01", "t:1:5: dates are not supported; put '2024-01-01' into quotes");
	GIVES("a = 'x", "t:1:5: string is not closed on its line");
	GIVES("a = \"\"\"x\n\ny", "t:3:2: string of line 1 is not closed");
	GIVES("a = \"\\q\"",
	      "t:1:6: unknown escape; write '\\\\' for a backslash, or use single quotes");
	GIVES("a = \"\\ud800\"", "t:1:6: escape is not a character");
	GIVES("a = \"\\u12\"", "t:1:6: escape needs 4 hexadecimal digits");
	GIVES("\"\xc3\xa9\" = [1 2]", "t:1:10: array of line 1 needs ',' or ']' here");
	GIVES("a = {x = 1,}", "t:1:12: a key is missing");
	GIVES("a = {x = 1\n}", "t:1:11: inline table needs ',' or '}' here, on the same line");
	GIVES("[a", "t:1:3: ']' is missing");
	GIVES("[[a]", "t:1:5: ']]' is missing");
	GIVES("a = '\xff'", "t:1:6: byte 0xff is not UTF-8");
	GIVES("# \x01", "t:1:3: control character 0x01 is not allowed");
	GIVES("a = 1\rb = 2", "t:1:6: control character 0x0d is not allowed");
	GIVES("\"\\u0000\" = 1", "t:1:1: key contains a NUL");
	GIVES("'''a''' = 1", "t:1:1: a key cannot span lines");
}

static void test_depth(void)
{
	char text[4096];

	for (size_t depth = 1; depth < 1000; depth += 13) {
		struct wti_doc *root = NULL;
		struct wt_err err;
		int status;

		text[0] = 'a';
		text[1] = '=';
		memset(text + 2, '[', depth);
		memset(text + 2 + depth, ']', depth);
		status = wti_toml_parse("t", text, 2 + 2 * depth, &root, &err);
		CHECK_INT(status, depth < 63 ? 0 : WT_E_LIMIT);
		wti_doc_free(root);
		root = NULL;
		for (size_t i = 0; i < depth; i++)
			memcpy(text + 2 * i, "a.", 2);
		status = wti_toml_parse("t", text, 2 * depth - 1, &root, NULL);
		CHECK_INT(status, depth < 63 ? WT_E_FORMAT : depth < 64 ? status : WT_E_LIMIT);
		CHECK(!root);
	}
}

static void test_places(void)
{
	static const char text[] = "[a]\n  b = 1\nc = [\n 2]\n";
	struct wti_doc *root = NULL;
	const struct wti_doc *a, *b, *c;

	REQUIRE(!wti_toml_parse("t", text, sizeof(text) - 1, &root, NULL));
	a = wti_doc_get(root, "a");
	b = wti_doc_get(a, "b");
	c = wti_doc_get(a, "c");
	REQUIRE(a && b && c);
	CHECK_INT(a->line, 1);
	CHECK_INT(a->column, 2);
	CHECK_INT(b->line, 2);
	CHECK_INT(b->column, 3);
	CHECK_INT(c->first->line, 4);
	CHECK_INT(c->first->column, 2);
	CHECK_TEXT(b->key, "b");
	CHECK(!wti_doc_get(root, "b"));
	CHECK(!wti_doc_get(b, "x"));
	CHECK(!wti_doc_get(NULL, "x"));
	wti_doc_free(root);
	wti_doc_free(NULL);
}

static void test_load(void)
{
	char path[] = "/tmp/wheeltap-test-XXXXXX";
	struct wti_doc *root = NULL;
	struct wt_err err;
	char expected[128];
	int fd = mkstemp(path);

	REQUIRE(fd >= 0);
	CHECK_INT(wti_write_all(fd, "x = 1\ny =", 9), 0);
	close(fd);
	CHECK_INT(wti_toml_load(path, &root, &err), WT_E_ARG);
	snprintf(expected, sizeof(expected), "%s:2:4: a value is missing", path);
	CHECK_TEXT(err.message, expected);
	CHECK_INT(err.offset, 9);
	unlink(path);
	CHECK_INT(wti_toml_load(path, &root, &err), WT_E_MISSING);
	CHECK(!root);
}

/* For toml_oracle.py: documents, each ended by NUL, from standard input; a line of result each. */
static int dump_documents(void)
{
	char *text = NULL;
	size_t capacity = 0;
	ssize_t bytes;

	while ((bytes = getdelim(&text, &capacity, 0, stdin)) > 0) {
		char *result = read_toml(text, (size_t)bytes - 1);

		printf("%s\n", result);
		free(result);
	}
	free(text);
	return 0;
}

static const struct test tests[] = {
	{"values", test_values}, {"strings", test_strings}, {"tables", test_tables},
	{"twice", test_twice},   {"refused", test_refused}, {"depth", test_depth},
	{"places", test_places}, {"load", test_load},       {NULL, NULL},
};

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--dump"))
		return dump_documents();
	return test_main(tests, argc, argv);
}
