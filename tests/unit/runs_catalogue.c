/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the catalogue: quantiles, terms of filters, TAP, JUnit XML, summaries as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "convert/junit.h"
#include "convert/tap.h"
#include "inspect/core/quantiles.h"
#include "runs/run_filter.h"
#include "runs/summary.h"
#include "test.h"

/* ---- Quantiles ------------------------------------------------------------------------------- */

static void check_quantiles(double (*value)(int), int count, double scale)
{
	struct wti_quantiles q;

	wti_quantiles_init(&q);
	for (int i = 0; i < count; i++)
		wti_quantiles_add(&q, value(i) * scale);
	for (int percent = 1; percent <= 100; percent++) {
		int rank = (percent * count + 99) / 100 - 1;
		double exact = scale > 0 ? value(rank) * scale : value(count - 1 - rank) * scale;
		double got = wti_quantiles_at(&q, percent / 100.0);

		if (fabs(got - exact) > fabs(exact) / 256)
			test_fail(__FILE__, __LINE__, "p%d is %g, exact %g", percent, got, exact);
	}
	wti_quantiles_release(&q);
}

static double linear(int i)
{
	return i + 1;
}

static double steep(int i)
{
	return ldexp(1.0 + i % 7 / 8.0, i / 7 - 40);
}

static void test_quantiles(void)
{
	struct wti_quantiles q;

	check_quantiles(linear, 1000, 1);
	check_quantiles(linear, 1000, -0.001);
	check_quantiles(steep, 560, 1);
	check_quantiles(steep, 560, -1);
	wti_quantiles_init(&q);
	CHECK(isnan(wti_quantiles_at(&q, 0.5)));
	wti_quantiles_add(&q, (double)NAN);
	wti_quantiles_add(&q, (double)INFINITY);
	CHECK_INT(q.count, 0);
	wti_quantiles_add(&q, -3);
	wti_quantiles_add(&q, 0);
	wti_quantiles_add(&q, 5);
	CHECK(wti_quantiles_at(&q, 0) == -3);
	CHECK(wti_quantiles_at(&q, 0.5) == 0);
	CHECK(wti_quantiles_at(&q, 1) == 5);
	wti_quantiles_release(&q);
}

/* ---- Terms ----------------------------------------------------------------------------------- */

static void test_terms(void)
{
	static const struct {
		const char *word, *name, *value;
		enum wti_filter_op op;
	} good[] = {
		{"status=failed", "status", "failed", WTI_OP_EQUAL},
		{"a==b", "a", "b", WTI_OP_EQUAL},
		{"a!=b", "a", "b", WTI_OP_DIFFERS},
		{"loss.last<=1e-3", "loss.last", "1e-3", WTI_OP_AT_MOST},
		{"x>=-1", "x", "-1", WTI_OP_AT_LEAST},
		{"x<1", "x", "1", WTI_OP_BELOW},
		{"x>1", "x", "1", WTI_OP_ABOVE},
		{"a=b=c", "a", "b=c", WTI_OP_EQUAL},
		{"check:f(a[1])=1", "check:f(a[1])", "1", WTI_OP_EQUAL},
		{"[!a]*", "", "[!a]*", WTI_OP_PATTERN},
	};
	static const char *const bad[] = {"", "=1", ">", "a=", "a>=", "!=x"};
	struct wti_filter_term term;
	struct wt_err err;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		REQUIRE(!wti_filter_parse(good[i].word, &term, &err));
		CHECK_TEXT(term.name, good[i].name);
		CHECK_TEXT(term.value, good[i].value);
		CHECK_INT(term.op, good[i].op);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_INT(wti_filter_parse(bad[i], &term, &err), WT_E_ARG);
}

/* ---- TAP and JUnit --------------------------------------------------------------------------- */

static void test_tap(void)
{
	static const char text[] = "noise\nTAP version 14\n1..4\nok 1 - a # b\n"
				   "not ok - c \\# d\n# why\n    # again\nok\n"
				   "not ok 4 e # TODO f\nok5 is none\nokay\n";
	struct wti_tests tests;
	bool is_tap;

	wti_tests_init(&tests);
	CHECK_INT(wti_tap_parse("ok 1 - alone\n", 13, &tests, &is_tap), 0);
	CHECK(!is_tap && !tests.count);
	CHECK_INT(wti_tap_parse(text, strlen(text), &tests, &is_tap), 0);
	REQUIRE(is_tap && tests.count == 4);
	CHECK_TEXT(tests.items[0].name, "a");
	CHECK_TEXT(tests.items[1].name, "c \\# d");
	CHECK_TEXT(tests.items[1].detail, "why");
	CHECK_INT(tests.items[1].status, WT_CHECK_STATUS_FAILED);
	CHECK_TEXT(tests.items[2].name, "test 3");
	CHECK_INT(tests.items[3].status, WT_CHECK_STATUS_SKIPPED);
	wti_tests_release(&tests);
	wti_tests_init(&tests);
	CHECK_INT(wti_tap_parse("1..3\nok 1\nBail out! no disk\n", 29, &tests, &is_tap), 0);
	REQUIRE(tests.count == 2);
	CHECK_INT(tests.items[1].status, WT_CHECK_STATUS_ERROR);
	CHECK_TEXT(tests.items[1].detail, "no disk");
	wti_tests_release(&tests);
}

static void test_junit(void)
{
	static const char text[] =
		"<?xml version=\"1.0\"?><!-- > --><testsuites><testsuite name='s'>"
		"<testcase classname=\"a.b\" name=\"c &lt; d\" time=\"0.5\" file='f.py' line='3'/>"
		"<testcase name='e'><failure message='x &amp; &#x41;'>long</failure></testcase>"
		"<testcase name='g'><error><![CDATA[it  <broke>]]></error><system-out/></testcase>"
		"<testcase name='h'><skipped/></testcase></testsuite></testsuites>\n";
	static const char *const bad[] = {"",
					  "text",
					  "<html></html>",
					  "<testsuite>",
					  "</testsuite>",
					  "<!DOCTYPE x [<!ENTITY a 'b'>]><testsuite/>",
					  "<testsuite a='",
					  "<testsuite><!-- ",
					  "<testsuite><![CDATA[",
					  "<testsuite></testsuite></x>"};
	struct wti_tests tests;
	struct wt_err err;

	wti_tests_init(&tests);
	REQUIRE(!wti_junit_parse("x", text, strlen(text), &tests, &err));
	REQUIRE(tests.count == 4);
	CHECK_TEXT(tests.items[0].name, "a.b.c < d");
	CHECK_TEXT(tests.items[0].file, "f.py");
	CHECK_INT(tests.items[0].duration_ns, 500000000);
	CHECK_INT(tests.items[0].line, 3);
	CHECK_TEXT(tests.items[1].detail, "x & A");
	CHECK_INT(tests.items[1].status, WT_CHECK_STATUS_FAILED);
	CHECK_TEXT(tests.items[2].detail, "it <broke>");
	CHECK_INT(tests.items[2].status, WT_CHECK_STATUS_ERROR);
	CHECK_INT(tests.items[3].status, WT_CHECK_STATUS_SKIPPED);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_INT(wti_junit_parse("x", bad[i], strlen(bad[i]), &tests, &err), WT_E_FORMAT);
	wti_tests_release(&tests);
}

/* ---- Summaries ------------------------------------------------------------------------------- */

static void test_summary_json(void)
{
	const struct wti_run_metric metric = {
		.name = "loss",
		.unit = "",
		.values = {1, (double)NAN, -2.5, (double)INFINITY, 0.1, 0, 1e-300, 4}};
	const struct wti_run_finding finding = {.code = "WT-X-001",
						.title = "a \"title\"",
						.file = "",
						.severity = WT_WARNING,
						.line = -1,
						.step = 7,
						.count = 3};
	const struct wti_test test = {.name = "t",
				      .actual = "3",
				      .status = WT_CHECK_STATUS_OBSERVED,
				      .comparator = WT_COMPARATOR_BITS,
				      .n = 5,
				      .duration_ns = -1};
	struct wti_run_summary before, after;
	struct wti_json json;
	struct wti_doc *root;
	struct wti_buf text;

	wti_summary_init(&before);
	REQUIRE(!wti_summary_add_metric(&before, &metric));
	REQUIRE(!wti_summary_add_finding(&before, &finding));
	REQUIRE(!wti_tests_add(&before.tests, &test));
	wti_buf_init(&text, 1 << 20);
	wti_json_init(&json, &text, false);
	wti_summary_write(&json, &before);
	REQUIRE(!wti_json_parse("x", (const char *)text.data, text.bytes, &root, NULL));
	REQUIRE(!wti_summary_parse(root, &after));
	REQUIRE(after.metric_count == 1 && after.finding_count == 1 && after.tests.count == 1);
	for (int i = 0; i < WTI_STATISTICS; i++)
		CHECK(after.metrics[0].values[i] == metric.values[i] ||
		      (isnan(after.metrics[0].values[i]) && isnan(metric.values[i])));
	CHECK_TEXT(after.findings[0].title, finding.title);
	CHECK_INT(after.findings[0].severity, WT_WARNING);
	CHECK_INT(after.findings[0].step, 7);
	CHECK_INT(after.tests.items[0].status, WT_CHECK_STATUS_OBSERVED);
	CHECK_INT(after.tests.items[0].comparator, WT_COMPARATOR_BITS);
	CHECK_INT(after.tests.items[0].duration_ns, -1);
	wti_doc_free(root);
	wti_buf_release(&text);
	wti_summary_release(&before);
	wti_summary_release(&after);
}

static const struct test tests[] = {
	{"quantiles", test_quantiles},
	{"terms", test_terms},
	{"tap", test_tap},
	{"junit", test_junit},
	{"summary_json", test_summary_json},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
