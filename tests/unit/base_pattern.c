/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions: those that people write are compiled, those that unfold are refused. */
#include "test.h"

#include <stdlib.h>

#include <wheeltap/err.h>

#include "base/pattern.h"

static char why[WTI_REGEX_WHY_BYTES];

static bool matches(const char *pattern, const char *text)
{
	regex_t regex;
	bool found;

	why[0] = 0;
	if (wti_regex_compile(pattern, &regex, why)) {
		printf("# '%.60s': %s\n", pattern, why);
		return false;
	}
	found = !regexec(&regex, text, 0, NULL, 0);
	regfree(&regex);
	return found;
}

static bool refused(const char *pattern, const char *reason)
{
	regex_t regex;

	why[0] = 0;
	if (!wti_regex_compile(pattern, &regex, why)) {
		regfree(&regex);
		return false;
	}
	return strstr(why, reason);
}

static void test_usual(void)
{
	CHECK(matches("^train.*", "train_step"));
	CHECK(matches("(read|write)v?$", "writev"));
	CHECK(matches("^[[:alpha:]_]+[0-9]{1,3}$", "step_12"));
	CHECK(matches("a[]^(]b", "a(b"));
	CHECK(matches("a\\(b\\)", "a(b)"));
	CHECK(matches("^(a{10}){10}$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
				       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
	CHECK(matches("((((x))))", "x"));
	CHECK(matches("", "x"));
	CHECK(!matches("^b", "ab"));
}

static void test_bad(void)
{
	CHECK(refused("(a", "("));
	CHECK(refused("[a", "["));
	CHECK(refused("a{3,1}", ""));
	CHECK(refused("a\\", ""));
	CHECK(why[0]);
}

/* With the memory that is left these would not compile; without a ceiling they take gigabytes. */
static void test_unfolding(void)
{
	char many[200] = "a", deep[200], long_one[WTI_REGEX_BYTES_MAX + 2];

	CHECK(refused("((((a{100}){100}){100}){100})", "too large"));
	CHECK(refused("(a{1,255}){1,255}", "too large"));
	CHECK(refused("(a{,255}){,255}", "too large"));
	CHECK(refused("(a{30000,}){2}", "too large"));
	CHECK(refused("a{99999999999999999999999}", ""));
	CHECK(refused("([a-z]{100}[]{1}]){100}", "too large"));
	CHECK(refused("(\\({100}){100}", "too large"));
	CHECK(refused("(a|b{50}){50}", "too large"));
	for (int i = 0; i < 20; i++) {
		snprintf(deep, sizeof(deep), "(%s)+", many);
		snprintf(many, sizeof(many), "%s", deep);
	}
	CHECK(refused(many, "too large"));
	memset(long_one, 'a', sizeof(long_one));
	long_one[sizeof(long_one) - 1] = 0;
	CHECK(refused(long_one, "too long"));
	long_one[WTI_REGEX_SIZE_MAX + 1] = 0;
	CHECK(refused(long_one, "too large"));
	long_one[WTI_REGEX_SIZE_MAX] = 0;
	CHECK(matches(long_one, long_one));
}

static void test_nesting(void)
{
	char pattern[2 * 200 + 2];

	memset(pattern, '(', 200);
	pattern[200] = 'a';
	memset(pattern + 201, ')', 200);
	pattern[401] = 0;
	CHECK(refused(pattern, "nested"));
}

static void test_references(void)
{
	CHECK(refused("(a*)\\1", "refers back"));
	CHECK(matches("a\\.1", "a.1"));
}

static const struct test tests[] = {
	{"usual", test_usual},           {"bad", test_bad},
	{"unfolding", test_unfolding},   {"nesting", test_nesting},
	{"references", test_references}, {NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
