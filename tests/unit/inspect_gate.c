/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas of assertions, and the interval of how much longer runs take. */
#include <math.h>
#include <string.h>

#include "inspect/gate/formula.h"
#include "inspect/gate/ratio.h"
#include "test.h"

/* ---- Formulas -------------------------------------------------------------------------------- */

/* 1 it holds, 0 it does not, -1 it has no answer, -2 it is none. Names count from 1 in the order in
 * which they first stand there. */
static int holds(const char *text)
{
	double values[WTI_FORMULA_NAMES_MAX];
	struct wti_formula formula;
	struct wt_err err = {.offset = -1};
	bool answer;

	for (size_t i = 0; i < WTI_FORMULA_NAMES_MAX; i++)
		values[i] = (double)(i + 1);
	if (wti_formula_compile(text, &formula, &err))
		return -2;
	return wti_formula_holds(&formula, values, &answer) ? answer : -1;
}

static bool fails_at(const char *text, int64_t place)
{
	struct wti_formula formula;
	struct wt_err err = {.offset = -1};

	return wti_formula_compile(text, &formula, &err) && err.offset == place;
}

static void test_precedence(void)
{
	CHECK(holds("1 + 2 * 3 == 7") == 1);
	CHECK(holds("(1 + 2) * 3 == 9") == 1);
	CHECK(holds("10 - 3 - 2 == 5") == 1);
	CHECK(holds("8 / 4 / 2 == 1") == 1);
	CHECK(holds("7 % 4 == 3") == 1);
	CHECK(holds("-2 * -3 == 6") == 1);
	CHECK(holds("- (1 + 1) == 0 - 2") == 1);
	CHECK(holds("1 > 2 or 1 < 2 and 2 < 1") == 0);
	CHECK(holds("1 < 2 or 1 < 2 and 2 < 1") == 1);
	CHECK(holds("not 1 > 2 and 1 < 2") == 1);
	CHECK(holds("!(1 < 2) || 1_000 >= 1e3") == 1);
	CHECK(holds("a < b && b == 2 && a + b == 3") == 1);
	CHECK(holds("order < notes") == 1);
}

static void test_no_answer(void)
{
	CHECK(holds("1 / 0 > 0") == -1);
	CHECK(holds("not (0 / 0 > 0)") == -1);
	CHECK(holds("1 % 0 == 0") == -1);
	CHECK(holds("1e308 * 10 > 0") == -1);
}

static void test_places(void)
{
	CHECK(fails_at("", 0));
	CHECK(fails_at("a <", 3));
	CHECK(fails_at("a < b)", 5));
	CHECK(fails_at("(a < b", 0));
	CHECK(fails_at("a ! b", 2));
	CHECK(fails_at("a < b < c", 6));
	CHECK(fails_at("a and b < c", 2));
	CHECK(fails_at("a + 1", 0));
	CHECK(fails_at("1x < 2", 0));
	CHECK(fails_at("system(a) < 1", 6));
}

/* ---- Ratios ---------------------------------------------------------------------------------- */

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void test_few_runs(void)
{
	const double three[] = {1, 2, 3};
	struct wti_ratio ratio;

	CHECK(!wti_ratio(three, 2, three, 3, 0.95, &ratio)); /* 1 of 10 ways at best */
	CHECK(wti_ratio(three, 3, three, 3, 0.95, &ratio));  /* 1 of 20 */
	CHECK(!wti_ratio(three, 3, three, 3, 0.96, &ratio));
	CHECK(wti_ratio_runs_needed(0.95) == 3);
	CHECK(wti_ratio_runs_needed(0.99) == 5); /* 1 of 252; of 4 and 4 it is 1 of 70 */
}

static void test_interval(void)
{
	const double now[] = {10, 11, 12}, before[] = {5, 5.5, 6};
	const double many[] = {1.00, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07};
	struct wti_ratio ratio;

	CHECK(wti_ratio(now, 3, before, 3, 0.95, &ratio));
	CHECK(is_near(ratio.low, 10 / 6.0) && is_near(ratio.high, 12 / 5.0));
	CHECK(is_near(ratio.estimate, 2));
	/* The table of Mann and Whitney's test: U up to 15 for 8 and 8 runs, one-sided, 5 %. */
	CHECK(wti_ratio(many, 8, many, 8, 0.95, &ratio));
	CHECK(is_near(ratio.low, 1.00 / 1.02) && is_near(ratio.high, 1.02)); /* the 16th of 64 */
}

static const struct test tests[] = {
	{"precedence", test_precedence}, {"no_answer", test_no_answer}, {"places", test_places},
	{"few_runs", test_few_runs},     {"interval", test_interval},   {NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
