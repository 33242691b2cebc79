/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test program is a table of functions and this header. Output is TAP. A failed CHECK says where
 * and goes on; REQUIRE leaves the function, for what makes no sense without it.
 *
 *   static void test_sum(void) { CHECK_INT(1 + 1, 2); }
 *   static const struct test tests[] = {{"sum", test_sum}, {NULL, NULL}};
 *   int main(int argc, char **argv) { return test_main(tests, argc, argv); }
 *
 * With arguments only the tests of those names run.
 */
#ifndef WTI_TESTS_TEST_H
#define WTI_TESTS_TEST_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct test {
	const char *name;
	void (*run)(void);
};

static struct {
	unsigned failed;   /* checks of the current test */
	char skipped[256]; /* why, or empty */
} test_state;

__attribute__((format(printf, 3, 4), unused)) static bool test_fail(const char *file, int line,
								    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("# %s:%d: ", file, line);
	vprintf(format, args);
	printf("\n");
	va_end(args);
	fflush(stdout);
	test_state.failed++;
	return false;
}

__attribute__((unused)) static bool test_true(const char *file, int line, const char *what,
					      bool actual)
{
	return actual || test_fail(file, line, "not true: %s", what);
}

__attribute__((unused)) static bool test_int(const char *file, int line, const char *what,
					     int64_t actual, int64_t expected)
{
	return actual == expected ||
	       test_fail(file, line,
			 "%s is %" PRId64 " (0x%" PRIx64 "), should be %" PRId64 " (0x%" PRIx64 ")",
			 what, actual, (uint64_t)actual, expected, (uint64_t)expected);
}

__attribute__((unused)) static bool test_text(const char *file, int line, const char *what,
					      const char *actual, const char *expected)
{
	if (actual == expected || (actual && expected && !strcmp(actual, expected)))
		return true;
	return test_fail(file, line, "%s is '%s', should be '%s'", what, actual ? actual : "NULL",
			 expected ? expected : "NULL");
}

#define CHECK(condition) test_true(__FILE__, __LINE__, #condition, condition)
#define CHECK_INT(actual, expected)                                                                \
	test_int(__FILE__, __LINE__, #actual, (int64_t)(actual), (int64_t)(expected))
#define CHECK_TEXT(actual, expected) test_text(__FILE__, __LINE__, #actual, actual, expected)
#define CHECK_BYTES(actual, expected, bytes)                                                       \
	test_true(__FILE__, __LINE__, "the bytes of " #actual " are those of " #expected,          \
		  !memcmp(actual, expected, bytes))
#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!CHECK(condition))                                                             \
			return;                                                                    \
	} while (0)
/* Leaves the test: it cannot be run here, and says why. */
#define SKIP(...)                                                                                  \
	do {                                                                                       \
		snprintf(test_state.skipped, sizeof(test_state.skipped), __VA_ARGS__);             \
		return;                                                                            \
	} while (0)

static bool test_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], name))
			return true;
	}
	return argc < 2;
}

static int test_main(const struct test *tests, int argc, char **argv)
{
	unsigned count = 0, failed = 0;

	for (const struct test *test = tests; test->name; test++) {
		if (!test_wanted(test->name, argc, argv))
			continue;
		memset(&test_state, 0, sizeof(test_state));
		test->run();
		count++;
		failed += test_state.failed > 0;
		printf("%sok %u - %s", test_state.failed ? "not " : "", count, test->name);
		if (!test_state.failed && test_state.skipped[0])
			printf(" # SKIP %s", test_state.skipped);
		printf("\n");
		fflush(stdout);
	}
	printf("1..%u\n", count);
	return failed || !count;
}

#endif
