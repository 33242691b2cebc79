/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tests of a run: what was checked, with its evidence. The inspector `tests` gathers the events
 * `check`; readers of other programs' reports (src/convert/tap.h, junit.h) add theirs.
 */
#ifndef WTI_INSPECT_TESTS_H
#define WTI_INSPECT_TESTS_H

#include <wheeltap/inspect.h>

#include "base/arena.h"

#define WTI_TESTS_MAX 200000u /* of a run */
#define WTI_TEST_TEXT_MAX 4096u

enum { WTI_TEST_STATUSES = WT_CHECK_STATUS_OBSERVED + 1 };

struct wti_test {
	const char *name, *unit, *file, *expected, *actual, *detail; /* never NULL */
	uint32_t status;                                             /* enum wt_check_status */
	uint32_t comparator;                                         /* enum wt_comparator */
	uint32_t line;                                               /* 0: not known */
	double tolerance;
	uint64_t n;          /* 0: not counted */
	int64_t duration_ns; /* -1: not measured */
};

struct wti_tests {
	struct wti_arena arena;
	struct wti_test *items;
	size_t count, capacity;
	uint64_t left_out_count; /* beyond the ceiling */
};

void wti_tests_init(struct wti_tests *tests);
void wti_tests_release(struct wti_tests *tests);
/* Copies the texts, NULL as empty ones. 0, or WT_E_NOMEM. */
int wti_tests_add(struct wti_tests *tests, const struct wti_test *test);

/* "passed", "at_least"; "other" of a number that this version does not know. -1: no such word. */
const char *wti_test_status_word(uint32_t status);
const char *wti_comparator_word(uint32_t comparator);
int wti_test_status_number(const char *word);
int wti_comparator_number(const char *word);

struct wti_tests_count {
	uint64_t by_status[WTI_TEST_STATUSES];
};
struct wti_tests_count wti_tests_count(const struct wti_tests *tests);
/* Of those with a verdict: passed, failed, error. NAN: there is none. */
double wti_tests_rate(const struct wti_tests_count *count);

struct wti_tests_options {
	struct wti_tests *tests; /* the caller's */
};

#endif
