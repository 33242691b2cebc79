/* SPDX-License-Identifier: Apache-2.0 */
/* Globs, units, likeness, harmless text. */
#include "test.h"

#include <time.h>

#include "base/text.h"

static bool glob(const char *pattern, const char *text)
{
	return wti_glob(pattern, text, strlen(text));
}

static void test_glob(void)
{
	CHECK(glob("", "") && !glob("", "x") && !glob("x", ""));
	CHECK(glob("*", "") && glob("*", "anything") && glob("**", "x"));
	CHECK(glob("a*c", "abc") && glob("a*c", "ac") && !glob("a*c", "acb"));
	CHECK(glob("*.weight", "layer.0.weight") && !glob("*.weight", "layer.0.weights"));
	CHECK(glob("a?c", "abc") && !glob("a?c", "ac") && glob("?", "\xc3\xa9") &&
	      glob("?", "\xff"));
	CHECK(glob("a*b*c", "a--b--b--c") && !glob("a*b*c", "a--c--b"));
	CHECK(wti_glob("a*c", "a\0c", 3) && !wti_glob("a", "ab", 2) && wti_glob("a", "ab", 1));
}

static void test_glob_sets(void)
{
	CHECK(glob("[a-c]x", "bx") && !glob("[a-c]x", "dx") && glob("[!a-c]", "d"));
	CHECK(!glob("[!a-c]", "a") && glob("[^a]", "b") && !glob("[!a]", ""));
	CHECK(glob("[]]", "]") && glob("[]a]", "a") && glob("[a-]", "-") && glob("[!]]", "x"));
	CHECK(glob("[\\]]", "]") && glob("[\\a-c]", "b"));
	CHECK(glob("[\xc3\xa0-\xc3\xaf]", "\xc3\xa9") && !glob("[\xc3\xa0-\xc3\xaf]", "\xc3\xb1"));
	CHECK(glob("[abc", "[abc") && glob("x[", "x[") && !glob("[abc", "a"));
}

static void test_glob_quotes(void)
{
	CHECK(glob("\\*", "*") && !glob("\\*", "x") && glob("a\\?", "a?"));
	CHECK(glob("\\\\", "\\") && glob("\\", "\\") && glob("\\[a]", "[a]"));
}

/* What would take longer than the universe by naive recursion. */
static void test_glob_time(void)
{
	char text[20001];
	char pattern[401];
	struct timespec begin, end;

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (size_t i = 0; i < sizeof(pattern) - 1; i += 2)
		memcpy(pattern + i, "*a", 2);
	pattern[sizeof(pattern) - 2] = 'b';
	pattern[sizeof(pattern) - 1] = 0;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	CHECK(!glob(pattern, text));
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	CHECK(end.tv_sec - begin.tv_sec < 5);
}

static uint64_t bytes_of(const char *text)
{
	uint64_t value = 12345;

	return wti_parse_bytes(text, &value) ? value : UINT64_MAX;
}

static void test_parse_bytes(void)
{
	uint64_t untouched = 7;

	CHECK_INT(bytes_of("100"), 100);
	CHECK_INT(bytes_of("64k"), 65536);
	CHECK_INT(bytes_of("64K"), 65536);
	CHECK_INT(bytes_of("2G"), 2ull << 30);
	CHECK_INT(bytes_of("1.5GiB"), 3ull << 29);
	CHECK_INT(bytes_of(".5k"), 512);
	CHECK_INT(bytes_of("1.9"), 1);
	CHECK_INT(bytes_of("3 MB"), 3 << 20);
	CHECK_INT(bytes_of("16777215T"), 16777215ull << 40);
	CHECK_INT(bytes_of("0.00000000000000000000001T"), 0);
	for (const char *const *bad =
		     (const char *const[]){"", "k", "-1", "1x", "1 2", ".", "1..2", "0x10", "1e3",
					   "16777216T", "18446744073709551616", NULL};
	     *bad; bad++)
		CHECK_INT(bytes_of(*bad), UINT64_MAX);
	CHECK(!wti_parse_bytes("nonsense", &untouched));
	CHECK_INT(untouched, 7);
}

static void test_parse_duration(void)
{
	int64_t ns = 0;

	CHECK(wti_parse_duration("250us", &ns) && ns == 250000);
	CHECK(wti_parse_duration("3ms", &ns) && ns == 3000000);
	CHECK(wti_parse_duration("1.5s", &ns) && ns == 1500000000);
	CHECK(wti_parse_duration("2m", &ns) && ns == 120000000000);
	CHECK(wti_parse_duration("100", &ns) && ns == 100000000000);
	CHECK(wti_parse_duration("-1.25ms", &ns) && ns == -1250000);
	CHECK(wti_parse_duration("7\xc2\xb5s", &ns) && ns == 7000);
	CHECK(wti_parse_duration("1h", &ns) && ns == 3600000000000);
	CHECK(wti_parse_duration("9223372036854775807ns", &ns) && ns == INT64_MAX);
	CHECK(!wti_parse_duration("9223372036854775808ns", &ns));
	CHECK(!wti_parse_duration("--1", &ns) && !wti_parse_duration("", &ns));
	CHECK(!wti_parse_duration("5 parsecs", &ns));
	CHECK_INT(ns, INT64_MAX);
}

static void test_parse_u64(void)
{
	uint64_t value = 0;

	CHECK(wti_parse_u64("18446744073709551615", &value) && value == UINT64_MAX);
	CHECK(wti_parse_u64("007", &value) && value == 7);
	CHECK(!wti_parse_u64("18446744073709551616", &value));
	CHECK(!wti_parse_u64("", &value) && !wti_parse_u64("1.5", &value));
	CHECK(!wti_parse_u64("-1", &value) && !wti_parse_u64(" 1", &value));
	CHECK_INT(value, 7);
}

static void test_format(void)
{
	char out[32];

	CHECK_TEXT(wti_format_bytes(out, 0), "0 B");
	CHECK_TEXT(wti_format_bytes(out, 999), "999 B");
	CHECK_TEXT(wti_format_bytes(out, 1000), "1.0 kB");
	CHECK_TEXT(wti_format_bytes(out, 999949), "999.9 kB");
	CHECK_TEXT(wti_format_bytes(out, 999950), "1.0 MB");
	CHECK_TEXT(wti_format_bytes(out, 1234567890), "1.2 GB");
	CHECK_TEXT(wti_format_bytes(out, UINT64_MAX), "18446.7 PB");
	CHECK_TEXT(wti_format_ns(out, 12300), "12.3 us");
	CHECK_TEXT(wti_format_ns(out, -12300), "-12.3 us");
	CHECK_TEXT(wti_format_ns(out, 59940000000), "59.9 s");
	CHECK_TEXT(wti_format_ns(out, 59950000000), "1.0 min");
	CHECK_TEXT(wti_format_ns(out, 5400000000000), "1.5 h");
	CHECK_TEXT(wti_format_ns(out, INT64_MIN), "-106752.0 d");
	CHECK_TEXT(wti_format_count(out, 0), "0");
	CHECK_TEXT(wti_format_count(out, 123), "123");
	CHECK_TEXT(wti_format_count(out, 1234567), "1,234,567");
	CHECK_TEXT(wti_format_count(out, UINT64_MAX), "18,446,744,073,709,551,615");
}

static void test_suggest(void)
{
	static const char *const verbs[] = {"record", "view", "stat", "timeline", "export", "env"};
	char longest[100];

	CHECK_TEXT(wti_suggest("recrod", verbs, 6), "record");
	CHECK_TEXT(wti_suggest("veiw", verbs, 6), "view");
	CHECK_TEXT(wti_suggest("stats", verbs, 6), "stat");
	CHECK_TEXT(wti_suggest("TIMELINE", verbs, 6), "timeline");
	CHECK_TEXT(wti_suggest("time", verbs, 6), "timeline");
	CHECK_TEXT(wti_suggest("frobnicate", verbs, 6), NULL);
	CHECK_TEXT(wti_suggest("x", verbs, 6), NULL);
	CHECK_TEXT(wti_suggest("", verbs, 6), NULL);
	CHECK_TEXT(wti_suggest("view", verbs, 0), NULL);
	memset(longest, 'v', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	CHECK_TEXT(wti_suggest(longest, verbs, 6), NULL);
	CHECK_TEXT(wti_suggest("vvv", (const char *const[]){longest}, 1), longest);
}

static void test_printable(void)
{
	struct wti_buf out;

	wti_buf_init(&out, 1000);
	wti_printable(&out, "a\n\t\r\\\x1b[0m\0\xff\xc3\xa9", 13);
	CHECK_TEXT(wti_buf_cstr(&out), "a\\n\\t\\r\\\\\\x1b[0m\\x00\\xff\xc3\xa9");
	wti_buf_clear(&out);
	/* C1 control, line separator, right-to-left override. */
	wti_printable(&out, "\xc2\x9b\xe2\x80\xa8\xe2\x80\xae", 8);
	CHECK_TEXT(wti_buf_cstr(&out), "\\xc2\\x9b\\xe2\\x80\\xa8\\xe2\\x80\\xae");
	wti_buf_clear(&out);
	/* Marks of a direction, an isolate, no character. */
	wti_printable(&out, "\xe2\x80\x8f\xe2\x81\xa6\xef\xbf\xbe", 9);
	CHECK_TEXT(wti_buf_cstr(&out), "\\xe2\\x80\\x8f\\xe2\\x81\\xa6\\xef\\xbf\\xbe");
	wti_buf_release(&out);
}

/* What is inserted cannot break a line; numbers are as the C library has them. */
static void test_textf(void)
{
	const char evil[] = "a\x1b\nb";
	struct wti_buf out;
	char same[200];

	wti_buf_init(&out, 1000);
	wti_textf(&out, "%s|%.2s|%8s|%-9s|%*s|%.*s|%c%%\n", evil, evil, evil, evil, 3, "", 1, evil,
		  7);
	CHECK_TEXT(wti_buf_cstr(&out), "a\\x1b\\nb|a\\x1b|a\\x1b\\nb|a\\x1b\\nb |   |a|\\x07%\n");
	wti_buf_clear(&out);
	wti_textf(&out, "%d %5d|%-5d|%05d %+d %u %lld %llu %zu %x %08llx %*d %-*d|", -1, 42, 42, 42,
		  3, 4000000000u, INT64_MIN + 0LL, UINT64_MAX + 0ULL, SIZE_MAX, 255u, 0xabcdefull,
		  6, 7, 6, 7);
	snprintf(same, sizeof(same), "%d %5d|%-5d|%05d %+d %u %lld %llu %zu %x %08llx %*d %-*d|",
		 -1, 42, 42, 42, 3, 4000000000u, INT64_MIN + 0LL, UINT64_MAX + 0ULL, SIZE_MAX, 255u,
		 0xabcdefull, 6, 7, 6, 7);
	CHECK_TEXT(wti_buf_cstr(&out), same);
	wti_buf_clear(&out);
	wti_textf(&out, "%6.2f|%.6g|%.1f%%|%11.0f|%.*f|%s", 1.005, 1e-9, 99.95, 12345.6, 3, 2.0,
		  "end");
	snprintf(same, sizeof(same), "%6.2f|%.6g|%.1f%%|%11.0f|%.*f|%s", 1.005, 1e-9, 99.95,
		 12345.6, 3, 2.0, "end");
	CHECK_TEXT(wti_buf_cstr(&out), same);
	wti_buf_release(&out);
}

/* Every code point there is, and each sequence cut short. */
static void test_utf8(void)
{
	for (uint32_t point = 0x80; point < 0x120000; point++) {
		size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
		bool valid = point < 0x110000 && (point < 0xd800 || point > 0xdfff);
		uint32_t rest = point;
		char text[4];

		for (size_t i = length - 1; i; i--, rest >>= 6)
			text[i] = (char)(0x80 | (rest & 0x3f));
		text[0] = (char)((0xf00u >> length) | rest);
		if (wti_utf8_length(text, 4) != (valid ? length : 0) ||
		    wti_utf8_length(text, length - 1) != 0)
			CHECK_INT(point, -1);
	}
	CHECK_INT(wti_utf8_length("", 0), 0);
	CHECK_INT(wti_utf8_length("", 1), 1);
	CHECK_INT(wti_utf8_length("\xe0\x80\x80", 3), 0);
	CHECK_INT(wti_utf8_length("\xf0\x80\x80\x80", 4), 0);
	CHECK_INT(wti_utf8_length("\xc3(", 2), 0);
}

static void test_end(void)
{
	CHECK(wti_ends_with("bn.running_mean", "running_mean"));
	CHECK(wti_ends_with("mean", "mean"));
	CHECK(wti_ends_with("mean", ""));
	CHECK(!wti_ends_with("ean", "mean"));
	CHECK(!wti_ends_with("means", "mean"));
}

static const struct test tests[] = {
	{"glob", test_glob},
	{"glob_sets", test_glob_sets},
	{"glob_quotes", test_glob_quotes},
	{"glob_time", test_glob_time},
	{"parse_bytes", test_parse_bytes},
	{"parse_duration", test_parse_duration},
	{"parse_u64", test_parse_u64},
	{"format", test_format},
	{"suggest", test_suggest},
	{"printable", test_printable},
	{"textf", test_textf},
	{"utf8", test_utf8},
	{"end", test_end},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
