/* SPDX-License-Identifier: Apache-2.0 */
/* Reading YAML: what is accepted becomes JSON and is compared, what is refused must say where. */
#include "base/yaml_read.h"
#include "doc_text.h"

#define GIVES(text, json) DOC_GIVES(wti_yaml_parse, text, json)

static void test_values(void)
{
	GIVES("", "{}");
	GIVES("# nothing\n---\n", "null");
	GIVES("a: 1\nb: -2.5\nc: text here # comment\n",
	      "{\"a\":1,\"b\":-2.5,\"c\":\"text here\"}");
	GIVES("a: true\nb: No\nc: ~\nd:\ne: 'yes'\nf: \"1\"\n",
	      "{\"a\":true,\"b\":false,\"c\":null,\"d\":null,\"e\":\"yes\",\"f\":\"1\"}");
	GIVES("[0x1f, +3, 1e3, 1.2.3, 1-2, 12abc, '', .5, -, 99999999999999999999]",
	      "[31,3,1000,\"1.2.3\",\"1-2\",\"12abc\",\"\",0.5,\"-\",1e+20]");
	GIVES("a: |\n  one\n  two\nb: >\n  one\n  two\n",
	      "{\"a\":\"one\\ntwo\\n\",\"b\":\"one two\\n\"}");
}

static void test_structure(void)
{
	GIVES("a:\n- x\n- y: 1\n  z: [1, {q: 2}]\nb: {c: d}\n",
	      "{\"a\":[\"x\",{\"y\":1,\"z\":[1,{\"q\":2}]}],\"b\":{\"c\":\"d\"}}");
	GIVES("{\"a\": [1, \"two\"], \"b\": null}", "{\"a\":[1,\"two\"],\"b\":null}");
	GIVES("1: a\n", "{\"1\":\"a\"}");
}

static void test_refused(void)
{
	GIVES("a: &x 1\nb: *x\n",
	      "t:1:4: anchors and aliases are not supported; write the value out");
	GIVES("a: !!python/object/apply:os.system [x]\n",
	      "t:1:4: the tag 'tag:yaml.org,2002:python/object/apply:os.system' is not supported; "
	      "write the value without it");
	GIVES("a: 1\na: 2\n", "t:2:1: key 'a' is given twice; the first is in line 1");
	GIVES("? [a]\n: 1\n", "t:1:3: a key has to be a word");
	GIVES("a: 1\n---\nb: 2\n", "t:2:1: a second document begins here; there may be one");
	GIVES("a: [1\nb: 2\n",
	      "t:2:2: did not find expected ',' or ']' while parsing a flow sequence");
	GIVES("a: \xff\n", "'t' is not YAML: invalid leading UTF-8 octet at byte 3");
}

static void test_depth(void)
{
	char text[2 * WTI_DOC_DEPTH_MAX + 4];
	struct wti_doc *root = NULL;
	struct wt_err err;

	memset(text, '[', WTI_DOC_DEPTH_MAX);
	memset(text + WTI_DOC_DEPTH_MAX, ']', WTI_DOC_DEPTH_MAX);
	CHECK_INT(wti_yaml_parse("t", text, 2 * WTI_DOC_DEPTH_MAX, &root, &err), 0);
	wti_doc_free(root);
	memset(text, '[', sizeof(text));
	CHECK_INT(wti_yaml_parse("t", text, sizeof(text), &root, &err), WT_E_LIMIT);
}

static const struct test tests[] = {
	{"values", test_values},
	{"structure", test_structure},
	{"refused", test_refused},
	{"depth", test_depth},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
