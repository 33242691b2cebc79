/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of every kind; prints the verdicts, which must be the same unrecorded. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <wheeltap/wheeltap.h>

static int failed;

static void expect(const char *what, bool verdict, bool expected)
{
	failed += verdict != expected;
	printf("%s %d\n", what, verdict);
}

int main(void)
{
	static const float weights[] = {0.5f, 1.0f, -0.0f}, other[] = {0.5f, 1.0f, 0.0f};
	struct wt_check whole = {.size = sizeof(whole),
				 .name = WT_NAME("whole"),
				 .status = WT_CHECK_STATUS_SKIPPED,
				 .comparator = WT_COMPARATOR_AT_LEAST,
				 .expected = "0.9",
				 .detail =
					 "password=hunter2 is a sentence that nobody meant to keep",
				 .unit = WT_NAME("percent"),
				 .n = 150,
				 .duration_ns = 1500};

	expect("true", wt_check(WT_NAME("true"), 1 + 1 == 2), true);
	expect("false", wt_check(WT_NAME("false"), 1 + 1 == 3), false);
	expect("int", wt_check_int(WT_NAME("int"), 7, -7), false);
	expect("close", wt_check_close(WT_NAME("close"), 0.1000001, 0.1, 1e-6), true);
	expect("far", wt_check_close(WT_NAME("far"), 0.25, 0.5, 0.125), false);
	expect("nan", wt_check_close(WT_NAME("nan"), NAN, NAN, 1), false);
	expect("inf", wt_check_close(WT_NAME("inf"), INFINITY, INFINITY, 0), true);
	expect("text", wt_check_text(WT_NAME("text"), "adam", "sgd"), false);
	/* Equal as numbers, and not as bits. */
	expect("bits", wt_check_bits(WT_NAME("bits"), weights, other, sizeof(weights)), false);
	expect("same", wt_check_bits(WT_NAME("same"), weights, weights, sizeof(weights)), true);
	wt_observe(WT_NAME("observed"), 0.125);
	wt_check_emit(&whole);
	return failed;
}
