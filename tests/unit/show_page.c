/* SPDX-License-Identifier: Apache-2.0 */
/* A result as one HTML file: nothing that comes from a trace becomes markup or script. */
#include <string.h>

#include "show/show.h"
#include "test.h"

static const char HOSTILE[] = "</script><img src=x onerror=alert(1)>\"'&<!--";

static void fill(struct wt_result *result)
{
	struct wt_table *table;
	struct wt_series *series;

	wt_result_init(result, "digits");
	wt_result_set_status(result, "findings");
	wt_result_fact_text(result, "runs", HOSTILE, HOSTILE);
	wt_result_note(result, "%s", HOSTILE);
	wt_result_finding(result, &(struct wt_finding){.code = HOSTILE,
						       .severity = WT_ERROR,
						       .title = HOSTILE,
						       .file = HOSTILE,
						       .line = 12,
						       .op = HOSTILE,
						       .evidence = HOSTILE,
						       .hint = HOSTILE,
						       .step = -1,
						       .rank = -1,
						       .first_step = -1,
						       .last_step = -1,
						       .count = 1});
	table = wt_result_table(result, "functions", HOSTILE);
	wt_table_column(table, "function", HOSTILE, WT_CELL_TEXT);
	wt_table_column(table, "lost", "lost", WT_CELL_NUMBER);
	for (int i = 0; i < 1001; i++) {
		wt_table_row(table);
		wt_table_text(table, HOSTILE, strlen(HOSTILE));
		wt_table_number(table, 2.5);
	}
	wt_result_table(result, "points", NULL);
	series = wt_result_series(result, HOSTILE, HOSTILE, "bits", 0, 1, 2);
	series->y[0] = 1;
}

static size_t count_of(const char *text, const char *what)
{
	size_t count = 0;

	for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
		count++;
	return count;
}

static void test_hostile_texts_stay_text(void)
{
	struct wt_result result;
	struct wti_buf page;
	const char *text;

	fill(&result);
	wti_buf_init(&page, 64u << 20);
	wti_show_page(&page, &result);
	text = wti_buf_cstr(&page);
	CHECK_INT(wti_buf_status(&page), 0);
	CHECK(!strncmp(text, "<!DOCTYPE html>", 15));
	CHECK_INT(count_of(text, "<img"), 0);
	CHECK_INT(count_of(text, "<!--"), 0);
	CHECK_INT(count_of(text, "<script"), 2); /* the data and the program */
	CHECK_INT(count_of(text, "</script>"), 2);
	CHECK(strstr(text, "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;"));
	CHECK(strstr(text, "\\u003c/script>"));
	wti_buf_release(&page);
	wt_result_release(&result);
}

static void test_long_tables_are_cut_and_kept_in_the_data(void)
{
	struct wt_result result;
	struct wti_buf page;
	const char *text;

	fill(&result);
	wti_buf_init(&page, 64u << 20);
	wti_show_page(&page, &result);
	text = wti_buf_cstr(&page);
	CHECK_INT(count_of(text, "<tr>"), 1001); /* the heading and 1,000 rows */
	CHECK(strstr(text, "1 more rows are in the data"));
	CHECK_INT(count_of(text, "\"lost\": 2.5") + count_of(text, "\"lost\":2.5"), 1001);
	wti_buf_release(&page);
	wt_result_release(&result);
}

static void test_no_address_of_elsewhere(void)
{
	struct wt_result result;
	struct wti_buf page;

	fill(&result);
	wti_buf_init(&page, 64u << 20);
	wti_show_page(&page, &result);
	/* The name space of SVG is a name, not an address. */
	CHECK_INT(count_of(wti_buf_cstr(&page), "http://"),
		  count_of(wti_buf_cstr(&page), "http://www.w3.org/2000/svg"));
	CHECK_INT(count_of(wti_buf_cstr(&page), "https://"), 0);
	wti_buf_release(&page);
	wt_result_release(&result);
}

static const struct test tests[] = {
	{"hostile_texts_stay_text", test_hostile_texts_stay_text},
	{"long_tables_are_cut_and_kept_in_the_data", test_long_tables_are_cut_and_kept_in_the_data},
	{"no_address_of_elsewhere", test_no_address_of_elsewhere},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
