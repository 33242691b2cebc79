/* SPDX-License-Identifier: Apache-2.0 */
/* The option parser: all forms, and what each mistake gets to hear. */
#include <stdlib.h>

#include "cli/parse.h"
#include "test.h"

struct options {
	bool flag;
	bool other;
	const char *text;
	uint64_t count;
	uint64_t bytes;
	int64_t duration_ns;
	const char *choice;
	struct wti_list list;
};

#define AT(member) offsetof(struct options, member)

static const struct wti_option options[] = {
	{"flag", 'f', WTI_OPT_FLAG, NULL, NULL, "a flag", AT(flag)},
	{"other", 'o', WTI_OPT_FLAG, NULL, NULL, "another flag", AT(other)},
	{"text", 't', WTI_OPT_TEXT, "TEXT", NULL, "a text", AT(text)},
	{"count", 'n', WTI_OPT_COUNT, "N", NULL, "a number", AT(count)},
	{"bytes", 0, WTI_OPT_BYTES, "SIZE", NULL, "a size", AT(bytes)},
	{"duration", 0, WTI_OPT_DURATION, "TIME", NULL, "a time", AT(duration_ns)},
	{"choice", 0, WTI_OPT_CHOICE, "C", "red|green", "a choice", AT(choice)},
	{"list", 'l', WTI_OPT_LIST, "L", NULL, "a list", AT(list)},
	WTI_OPTIONS_END,
};

static const struct options defaults = {.duration_ns = -7, .choice = "red"};

static struct wti_verb verb = {.name = "verb",
			       .arguments = "[A] [B]",
			       .options = options,
			       .options_bytes = sizeof(struct options),
			       .arguments_max = 2,
			       .defaults = &defaults};

#define PARSE(parsed, ...)                                                                         \
	parse(parsed, (char *[]){__VA_ARGS__}, sizeof((char *[]){__VA_ARGS__}) / sizeof(char *))

static struct wt_err err;

static int parse(struct wti_parsed *parsed, char **words, size_t count)
{
	err = (struct wt_err){0};
	return wti_parse(&verb, words, count, parsed, &err);
}

static void test_forms(void)
{
	struct wti_parsed parsed;
	struct options *o;

	REQUIRE(!PARSE(&parsed, "-fo", "--text=a=b", "one", "-n5", "--bytes", "64k", "--duration",
		       "1.5ms", "-l", "x", "--list=", "two"));
	o = parsed.options;
	CHECK(o->flag && o->other);
	CHECK_TEXT(o->text, "a=b");
	CHECK_INT(o->count, 5);
	CHECK_INT(o->bytes, 65536);
	CHECK_INT(o->duration_ns, 1500000);
	CHECK_TEXT(o->choice, "red");
	REQUIRE(o->list.count == 2);
	CHECK_TEXT(o->list.items[0], "x");
	CHECK_TEXT(o->list.items[1], "");
	REQUIRE(parsed.argument_count == 2);
	CHECK_TEXT(parsed.arguments[0], "one");
	CHECK_TEXT(parsed.arguments[1], "two");
	CHECK(parsed.arguments[2] == NULL);
	wti_parsed_release(&verb, &parsed);
}

static void test_defaults_and_dashes(void)
{
	struct wti_parsed parsed;

	REQUIRE(!PARSE(&parsed, "--", "--flag", "-"));
	CHECK(!((struct options *)parsed.options)->flag);
	CHECK_INT(((struct options *)parsed.options)->duration_ns, -7);
	CHECK_TEXT(parsed.arguments[0], "--flag");
	CHECK_TEXT(parsed.arguments[1], "-");
	wti_parsed_release(&verb, &parsed);
	REQUIRE(!PARSE(&parsed, "--choice", "green=3"));
	CHECK_TEXT(((struct options *)parsed.options)->choice, "green=3");
	wti_parsed_release(&verb, &parsed);
}

static void test_errors(void)
{
	static const struct {
		const char *words[3];
		const char *says;
	} wrong[] = {
		{{"--flg"}, "did you mean --flag?"},
		{{"--zzzzzzzz"}, "--help' lists them"},
		{{"-x"}, "unknown option '-x'"},
		{{"-fx"}, "unknown option '-fx'"},
		{{"--flag=1"}, "takes no value"},
		{{"--text"}, "needs a value: --text TEXT"},
		{{"-n"}, "needs a value"},
		{{"--count", "x"}, "bad value 'x' for --count"},
		{{"--count="}, "bad value ''"},
		{{"--bytes", "9Q"}, "a size such as"},
		{{"--duration", "soon"}, "a time such as"},
		{{"--choice", "blue"}, "one of red|green"},
		{{"--choice", "gree"}, "one of red|green"},
		{{"a", "b", "c"}, "unexpected argument 'c'"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct wti_parsed parsed;
		size_t count = 0;

		while (count < 3 && wrong[i].words[count])
			count++;
		CHECK_INT(parse(&parsed, (char **)wrong[i].words, count), WT_E_ARG);
		if (!strstr(err.message, wrong[i].says))
			test_fail(__FILE__, __LINE__, "'%s' does not say '%s'", err.message,
				  wrong[i].says);
	}
}

static void test_program(void)
{
	struct wti_parsed parsed;

	verb.rest_is_program = true;
	verb.arguments_min = 1;
	REQUIRE(!PARSE(&parsed, "-f", "prog", "-o", "--text", "--", "x"));
	CHECK(((struct options *)parsed.options)->flag);
	CHECK(!((struct options *)parsed.options)->other);
	REQUIRE(parsed.argument_count == 5);
	CHECK_TEXT(parsed.arguments[1], "-o");
	CHECK_TEXT(parsed.arguments[3], "--");
	wti_parsed_release(&verb, &parsed);
	REQUIRE(!PARSE(&parsed, "--", "-o", "x"));
	CHECK_TEXT(parsed.arguments[0], "-o");
	wti_parsed_release(&verb, &parsed);
	CHECK_INT(PARSE(&parsed, "-f"), WT_E_ARG);
	verb.rest_is_program = false;
	verb.arguments_min = 0;
}

static void test_help(void)
{
	struct wti_parsed parsed;

	REQUIRE(!PARSE(&parsed, "a", "b", "c", "--help", "--nonsense"));
	CHECK(parsed.help);
	wti_parsed_release(&verb, &parsed);
	REQUIRE(!PARSE(&parsed, "-h"));
	CHECK(parsed.help);
	wti_parsed_release(&verb, &parsed);
}

static const struct test tests[] = {
	{"forms", test_forms},   {"defaults_and_dashes", test_defaults_and_dashes},
	{"errors", test_errors}, {"program", test_program},
	{"help", test_help},     {NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
