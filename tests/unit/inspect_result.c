/* SPDX-License-Identifier: Apache-2.0 */
/* The result model, and what each renderer makes of it. */
#include <stdlib.h>

#include <wheeltap/result.h>

#include "show/show.h"
#include "show/terminal.h"
#include "show/wrap.h"
#include "test.h"

static void fill(struct wt_result *result)
{
	struct wt_table *table;
	struct wt_series *series;
	struct wt_finding finding = {.code = "WT-TEST-001",
				     .severity = WT_ERROR,
				     .title = "a \"title\"",
				     .step = 3,
				     .rank = -1,
				     .line = 41,
				     .file = "train.py",
				     .first_step = 3,
				     .last_step = 9,
				     .count = 7,
				     .hint = "do it right"};

	wt_result_init(result, "test");
	wt_result_fact_count(result, "events", "events", WT_CELL_COUNT, 1234567);
	wt_result_fact_text(result, "hidden", "", "for machines");
	wt_result_fact_number(result, "ratio", "ratio", WT_CELL_NUMBER, 0.1);
	wt_result_finding(result, &finding);
	table = wt_result_table(result, "rows", "Rows");
	wt_table_column(table, "name", "name", WT_CELL_TEXT);
	wt_table_column(table, "time_ns", "time", WT_CELL_NS);
	wt_table_column(table, "share", "share", WT_CELL_PERCENT);
	wt_table_row(table);
	wt_table_text(table, "a,\n|b", 5);
	wt_table_ns(table, -1500);
	wt_table_number(table, 12.5);
	wt_table_row(table);
	wt_table_text(table, "x\0y", 3);
	wt_table_empty(table);
	series = wt_result_series(result, "loss", "loss", "", 0, 1, 2);
	series->y[1] = 0.5;
	wt_result_note(result, "%d notes", 1);
}

static void test_found_facts(void)
{
	struct wt_result result;

	fill(&result);
	REQUIRE(wt_result_fact(&result, "events"));
	CHECK_INT(wt_result_fact(&result, "events")->value.count, 1234567);
	CHECK_TEXT(wt_result_fact(&result, "hidden")->value.text, "for machines");
	CHECK(!wt_result_fact(&result, "event"));
	wt_result_release(&result);
}

static void test_renamed_files(void)
{
	struct wt_result result;

	fill(&result);
	wt_result_finding(&result, &(struct wt_finding){.code = "WT-TEST-002", .file = "/a/b.py"});
	wt_result_finding_file(&result, 1, result.findings[1].file + 3);
	CHECK_TEXT(result.findings[1].file, "b.py");
	wt_result_finding_file(&result, 2, "c.py"); /* there is none */
	CHECK_INT(result.finding_count, 2);
	wt_result_release(&result);
}

/* Each is freed once: under a sanitizer nothing is left behind. */
static void test_removed_findings(void)
{
	struct wt_finding finding = {.code = "WT-TEST-002", .title = "second", .file = "a.py"};
	struct wt_result result;

	fill(&result);
	wt_result_finding(&result, &finding);
	finding.title = "third";
	wt_result_finding(&result, &finding);
	wt_result_finding_remove(&result, 3); /* there is none */
	CHECK_INT(result.finding_count, 3);
	wt_result_finding_remove(&result, 1);
	CHECK_INT(result.finding_count, 2);
	CHECK_TEXT(result.findings[0].code, "WT-TEST-001");
	CHECK_TEXT(result.findings[1].title, "third");
	wt_result_finding_remove(&result, 0);
	wt_result_finding_remove(&result, 0);
	CHECK_INT(result.finding_count, 0);
	wt_result_release(&result);
}

static void test_json(void)
{
	struct wt_result result;
	struct wti_buf out;
	const char *text;

	fill(&result);
	wti_buf_init(&out, 1 << 20);
	wti_show_json(&out, &result);
	text = wti_buf_cstr(&out);
	CHECK(strstr(text, "\"verb\": \"test\"") != NULL);
	CHECK(strstr(text, "\"status\": \"clean\"") != NULL);
	CHECK(strstr(text, "\"events\": 1234567") != NULL);
	CHECK(strstr(text, "\"hidden\": \"for machines\"") != NULL);
	CHECK(strstr(text, "\"title\": \"a \\\"title\\\"\"") != NULL);
	CHECK(strstr(text, "\"rank\": null") != NULL);
	CHECK(strstr(text, "\"name\": \"a,\\n|b\"") != NULL);
	CHECK(strstr(text, "\"name\": \"x\\u0000y\"") != NULL);
	CHECK(strstr(text, "\"time_ns\": -1500") != NULL);
	CHECK(strstr(text, "\"time_ns\": null") != NULL);
	CHECK(strstr(text, "1 notes") != NULL);
	wti_buf_release(&out);
	wt_result_release(&result);
}

static void test_csv(void)
{
	struct wt_result result;
	struct wti_buf out;

	fill(&result);
	wti_buf_init(&out, 1 << 20);
	wti_show_csv(&out, result.tables[0]);
	CHECK_TEXT(wti_buf_cstr(&out), "name,time_ns,share\r\n\"a,\n|b\",-1500,12.5\r\n"
				       "x\xef\xbf\xbdy,,\r\n");
	wti_buf_release(&out);
	wt_result_release(&result);
}

static const char *csv_of(struct wti_buf *out, const char *text, size_t bytes)
{
	wti_buf_clear(out);
	wti_csv_field(out, text, bytes);
	return wti_buf_cstr(out);
}

/* What a spreadsheet would calculate is text, what is a number stays one. */
static void test_csv_formulas(void)
{
	static const char *const formulas[] = {"=1+1", "+x",  "-x",     "@SUM(A1)", "-",
					       "=",    "--1", "-1.5.2", "+1e",      "-.e1"};
	static const char *const kept[] = {"-1.5", "+3",  "-.5", "-1.", "-1e-9", "1+1",
					   "a=b",  "'=1", "",    "-0",  "+2E+10"};
	struct wti_buf out;
	char expected[40];

	wti_buf_init(&out, 1000);
	for (size_t i = 0; i < sizeof(formulas) / sizeof(formulas[0]); i++) {
		snprintf(expected, sizeof(expected), "'%s", formulas[i]);
		CHECK_TEXT(csv_of(&out, formulas[i], strlen(formulas[i])), expected);
	}
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		CHECK_TEXT(csv_of(&out, kept[i], strlen(kept[i])), kept[i]);
	CHECK_TEXT(csv_of(&out, "\t=1", 3), "'\t=1");
	CHECK_TEXT(csv_of(&out, "\r=1", 3), "\"'\\r=1\"");
	CHECK_TEXT(csv_of(&out, "\n=1", 3), "\"'\n=1\"");
	CHECK_TEXT(csv_of(&out, "=\"a\",b", 6), "\"'=\"\"a\"\",b\"");
	CHECK_TEXT(csv_of(&out, "a\x1b[0m\xc2\x9b", 7), "a\\x1b[0m\\xc2\\x9b");
	wti_buf_release(&out);
}

static void test_csv_numbers(void)
{
	struct wt_result result;
	struct wt_table *table;
	struct wti_buf out;

	wt_result_init(&result, "test");
	table = wt_result_table(&result, "t", "");
	wt_table_column(table, "=key", "key", WT_CELL_TEXT);
	wt_table_column(table, "number", "number", WT_CELL_NUMBER);
	wt_table_row(table);
	wt_table_text(table, "-x", 2);
	wt_table_number(table, -1.0 / 0.0);
	wti_buf_init(&out, 1000);
	wti_show_csv(&out, table);
	CHECK_TEXT(wti_buf_cstr(&out), "'=key,number\r\n'-x,-inf\r\n");
	wti_buf_release(&out);
	wt_result_release(&result);
}

/* Colours of our own pass where there are colours, CR in front of LF; nothing else does. */
static void test_terminal(void)
{
	static const struct {
		const char *text, *plain, *inked;
	} cases[] = {
		{"a\tb\n", "a\tb\n", "a\tb\n"},
		{"a\r\nb\rc", "a\r\nb\\rc", "a\r\nb\\rc"},
		{"\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m", "\x1b[31mred\x1b[0m"},
		{"\x1b[35m\x1b]0;t\a", "\\x1b[35m\\x1b]0;t\\x07", "\\x1b[35m\\x1b]0;t\\x07"},
		{"\xc2\x9b\xff\xe2\x80\xae", "\\xc2\\x9b\\xff\\xe2\\x80\\xae",
		 "\\xc2\\x9b\\xff\\xe2\\x80\\xae"},
		{"\xc3\xa9\\\x7f", "\xc3\xa9\\\\x7f", "\xc3\xa9\\\\x7f"},
		{"\x1b[3", "\\x1b[3", "\\x1b[3"},
	};
	struct wti_buf out;

	wti_buf_init(&out, 1000);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int inked = 0; inked < 2; inked++) {
			const char *text = cases[i].text;
			const char *expected = inked ? cases[i].inked : cases[i].plain;

			wti_buf_clear(&out);
			wti_terminal_escape(&out, text, strlen(text), inked);
			CHECK_TEXT(wti_buf_cstr(&out), expected);
			CHECK_INT(wti_terminal_safe(text, strlen(text), inked) == strlen(text),
				  !strcmp(text, expected));
		}
	}
	wti_buf_release(&out);
}

static void test_as_text(void)
{
	struct wti_style style = {0};
	struct wt_result result;
	struct wti_buf out;
	const char *text;

	fill(&result);
	wti_buf_init(&out, 1 << 20);
	wti_show_text(&out, &result, &style);
	text = wti_buf_cstr(&out);
	CHECK(strstr(text, "events  1,234,567\n") != NULL);
	CHECK(strstr(text, "hidden") == NULL);
	CHECK(strstr(text, "ERROR WT-TEST-001  a \"title\"\n") != NULL);
	CHECK(strstr(text, "where     train.py:41\n  when      steps 3-9; 7 times\n") != NULL);
	CHECK(strstr(text, "a,\\n|b") != NULL);
	wti_buf_release(&out);
	wt_result_release(&result);
}

static void when_is(const char *expected, struct wt_finding finding)
{
	struct wti_buf out;

	wti_buf_init(&out, 1 << 10);
	wti_show_when(&out, &finding);
	CHECK(!strcmp(wti_buf_cstr(&out), expected));
	wti_buf_release(&out);
}

static void test_when(void)
{
	struct wt_finding finding = {.first_step = 13, .last_step = 13, .count = 1};

	when_is("step 13", finding);
	finding.case_count = 1;
	when_is("step 13", finding);
	finding.case_count = 236;
	when_is("step 13; 1 of 236 checks failed", finding);
	finding.last_step = 59;
	finding.count = 188;
	when_is("steps 13-59; 188 of 236 checks failed", finding);
	finding.is_to_end = true;
	when_is("steps 13-59, to the end; 188 of 236 checks failed", finding);
	finding.case_count = 0;
	when_is("steps 13-59, to the end; 188 times", finding);
}

static void test_markdown(void)
{
	struct wt_result result;
	struct wti_buf out;

	fill(&result);
	wti_buf_init(&out, 1 << 20);
	wti_show_markdown(&out, &result);
	CHECK(strstr(wti_buf_cstr(&out), "| a,\\\\n\\|b | ") != NULL);
	wti_buf_release(&out);
	wt_result_release(&result);
}

/* A table never gets wider than the terminal as long as it has something to give up. */
static void test_narrow(void)
{
	struct wti_style style = {.width = 40};
	struct wt_result result;
	struct wt_table *table;
	struct wti_buf out;
	const char *line;

	wt_result_init(&result, "test");
	table = wt_result_table(&result, "t", "");
	wt_table_column(table, "name", "name", WT_CELL_TEXT);
	wt_table_column(table, "keep", "keep", WT_CELL_COUNT);
	wt_table_column(table, "first", "gives way first", WT_CELL_COUNT);
	wt_table_hide(table, 2);
	wt_table_column(table, "second", "gives way second", WT_CELL_COUNT);
	wt_table_hide(table, 1);
	wt_table_column(table, "why", "a title that is longer than what is below", WT_CELL_TEXT);
	wt_table_row(table);
	wt_table_text(table, "a name that is far too long for such a narrow terminal", 54);
	wt_table_count(table, 1);
	wt_table_count(table, 2);
	wt_table_count(table, 3);
	wt_table_text(table, "short", 5);
	wti_buf_init(&out, 1 << 20);
	wti_show_text(&out, &result, &style);
	line = wti_buf_cstr(&out);
	CHECK(strstr(line, "keep") != NULL);
	CHECK(strstr(line, "gives way first") == NULL);
	for (; *line; line += strcspn(line, "\n") + 1)
		CHECK(wti_text_width(line, strcspn(line, "\n")) <= 40);
	wti_buf_release(&out);
	wt_result_release(&result);
}

static void show_long(struct wti_buf *out, unsigned width, bool ascii)
{
	struct wti_style style = {.width = width, .ascii = ascii};
	struct wt_result result;
	struct wt_table *table;

	wt_result_init(&result, "test");
	table = wt_result_table(&result, "t", "");
	wt_table_column(table, "name", "name", WT_CELL_TEXT);
	for (int i = 0; i < 9; i++)
		wt_table_column(table, "number", "number", WT_CELL_COUNT);
	wt_table_column(table, "what", "what", WT_CELL_TEXT);
	wt_table_column(table, "command", "command", WT_CELL_TEXT);
	wt_table_hide(table, 1);
	wt_table_row(table);
	wt_table_text(table, "a-run-of-a-name-that-is-longer-than-a-line", 42);
	for (int i = 0; i < 9; i++)
		wt_table_count(table, 123456);
	wt_table_text(table, "all of these words", 18);
	wt_table_text(table,
		      "a-command-that-is-one-word-and-too-long-to-be-shown-as-a-whole-"
		      "because-it-has-more-than-a-hundred-columns",
		      105);
	wti_buf_init(out, 1 << 20);
	wti_show_text(out, &result, &style);
	wt_result_release(&result);
}

/* What somebody types is whole, lines fit all the same; what may be hidden is cut. */
static void test_nothing_cut(void)
{
	struct wti_buf out;
	const char *text;

	show_long(&out, 40, true);
	text = wti_buf_cstr(&out);
	CHECK(strstr(text, "\na-run-of-a-name-that-is-longer-than-a-line\n") != NULL);
	CHECK(strstr(text, "number") != NULL && strstr(text, "command") == NULL);
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		size_t bytes = strcspn(line, "\n");

		CHECK(bytes <= 40 || !memchr(line, ' ', bytes));
		CHECK(!bytes || line[bytes - 1] != ' ');
	}
	wti_buf_release(&out);
	show_long(&out, 0, true);
	CHECK(strstr(wti_buf_cstr(&out), "le-because-it-has-more-than-a-hundred...\n") != NULL);
	wti_buf_release(&out);
	show_long(&out, 0, false);
	CHECK(strstr(wti_buf_cstr(&out), "le-because-it-has-more-than-a-hundred-c…\n") != NULL);
	wti_buf_release(&out);
}

static void check_wrapped(const char *text, unsigned width, const char *expected)
{
	struct wti_buf out;

	wti_buf_init(&out, 1 << 20);
	wti_wrap(&out, text, strlen(text), width);
	CHECK_TEXT(wti_buf_cstr(&out), expected);
	wti_buf_release(&out);
}

static void test_wrap(void)
{
	check_wrapped("one two three\n", 0, "one two three\n");
	check_wrapped("one two three  \n\n  \n", 0, "one two three\n\n\n");
	check_wrapped("one two three\n", 13, "one two three\n");
	check_wrapped("one two three\n", 12, "one two\n  three\n");
	/* Under the text behind the label, unless that is far to the right. */
	check_wrapped("  try  one two three\n", 15, "  try  one two\n       three\n");
	check_wrapped("a longer label  one two\n", 20, "a longer label  one\n  two\n");
	/* A word stays whole, and stands alone. */
	check_wrapped("at /a/path/that/is/long.py now", 12, "at\n  /a/path/that/is/long.py\n  now");
	/* Colours take no room, and stay where they are. */
	check_wrapped("\033[1mone\033[0m two", 7, "\033[1mone\033[0m two");
	check_wrapped("\033[1mone \033[0m\n", 7, "\033[1mone\033[0m\n");
	check_wrapped("\033[1mone two\033[0m\n", 6, "\033[1mone\n  two\033[0m\n");
	check_wrapped("日本 日本 日本\n", 9, "日本 日本\n  日本\n");
}

/* Too many cells, cells without a row, columns after the first row: nothing happens. */
static void test_misuse(void)
{
	struct wt_result result;
	struct wt_table *table;

	wt_result_init(&result, "test");
	table = wt_result_table(&result, "t", "");
	wt_table_count(table, 1);
	wt_table_row(table);
	wt_table_column(table, "a", "a", WT_CELL_COUNT);
	wt_table_count(table, 1);
	wt_table_row(table);
	wt_table_column(table, "b", "b", WT_CELL_COUNT);
	wt_table_count(table, 1);
	wt_table_count(table, 2);
	CHECK_INT(table->column_count, 1);
	CHECK_INT(table->row_count, 1);
	CHECK_INT(table->cells[0].count, 1);
	result.failed = WT_E_NOMEM; /* as if memory had run out */
	wt_table_row(table);
	CHECK_INT(table->row_count, 1);
	table = wt_result_table(&result, "u", "");
	wt_table_column(table, "a", "a", WT_CELL_COUNT);
	wt_table_row(table);
	CHECK_INT(table->row_count, 0);
	CHECK(wt_result_series(&result, "s", "s", "", 0, 1, 10) == NULL);
	CHECK_INT(wt_result_status(&result), WT_E_NOMEM);
	wt_result_release(&result);
}

static const struct test tests[] = {
	{"found_facts", test_found_facts},
	{"renamed_files", test_renamed_files},
	{"removed_findings", test_removed_findings},
	{"json", test_json},
	{"csv", test_csv},
	{"csv_formulas", test_csv_formulas},
	{"csv_numbers", test_csv_numbers},
	{"terminal", test_terminal},
	{"text", test_as_text},
	{"when", test_when},
	{"nothing_cut", test_nothing_cut},
	{"wrap", test_wrap},
	{"markdown", test_markdown},
	{"narrow", test_narrow},
	{"misuse", test_misuse},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
