/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks: what was expected, what came, how it was compared. The verdict is computed here whether
 * or not anybody records, and is what the functions return.
 */
#include "common/agent.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "emit.h"
#include "number.h"

enum { DETAIL_BYTES = 128 };

bool wt_check_emit(const struct wt_check *check)
{
	const struct wti_here here = wti_here();
	struct wti_kept_text expected, actual, detail;
	const struct wti_kept_text *const texts[] = {&expected, &actual, &detail};
	struct wti_record_check record;

	if (!here.ring || check->size < sizeof(*check))
		return false;
	record = (struct wti_record_check){
		.name = wti_name(here, check->name),
		.status = check->status,
		.comparator = check->comparator,
		.unit = check->unit ? wti_name(here, check->unit) : 0,
		.file = check->file ? wti_name(here, wt_name_of(check->file)) : 0,
		.line = check->line,
		.tolerance = check->tolerance,
		.n = check->n,
		.duration = check->duration_ns,
	};
	wti_keep_text(&expected, check->expected ? check->expected : "");
	wti_keep_text(&actual, check->actual ? check->actual : "");
	wti_keep_text(&detail, check->detail ? check->detail : "");
	return wti_emit_check(here, &record, texts);
}

static struct wt_check begin(struct wt_name *name, bool passed, uint32_t comparator,
			     struct wt_place place)
{
	return (struct wt_check){
		.size = sizeof(struct wt_check),
		.name = name,
		.status = passed ? WT_CHECK_STATUS_PASSED : WT_CHECK_STATUS_FAILED,
		.comparator = comparator,
		.file = place.file,
		.line = place.line,
		.n = 1,
		.duration_ns = -1,
	};
}

bool wt_check_at(struct wt_name *name, bool passed, struct wt_place place)
{
	struct wt_check check = begin(name, passed, WT_COMPARATOR_ASSERTION, place);

	if (wti_is_off())
		return passed;
	check.expected = "true";
	check.actual = passed ? "true" : "false";
	wt_check_emit(&check);
	return passed;
}

bool wt_check_int_at(struct wt_name *name, int64_t actual, int64_t expected, struct wt_place place)
{
	struct wt_check check = begin(name, actual == expected, WT_COMPARATOR_EQUAL, place);
	char left[WTI_NUMBER_BYTES], right[WTI_NUMBER_BYTES];

	if (wti_is_off())
		return actual == expected;
	snprintf(left, sizeof(left), "%" PRId64, expected);
	snprintf(right, sizeof(right), "%" PRId64, actual);
	check.expected = left;
	check.actual = right;
	wt_check_emit(&check);
	return actual == expected;
}

bool wt_check_close_at(struct wt_name *name, double actual, double expected, double tolerance,
		       struct wt_place place)
{
	/* Equal infinities are equal; whatever is not a number is close to nothing. */
	const bool passed = actual == expected || fabs(actual - expected) <= tolerance;
	struct wt_check check = begin(name, passed, WT_COMPARATOR_CLOSE, place);
	char left[WTI_NUMBER_BYTES], right[WTI_NUMBER_BYTES];

	if (wti_is_off())
		return passed;
	check.expected = wti_number_text(left, expected);
	check.actual = wti_number_text(right, actual);
	check.tolerance = tolerance;
	wt_check_emit(&check);
	return passed;
}

bool wt_check_text_at(struct wt_name *name, const char *actual, const char *expected,
		      struct wt_place place)
{
	const bool passed = actual && expected ? !strcmp(actual, expected) : actual == expected;
	struct wt_check check = begin(name, passed, WT_COMPARATOR_EQUAL, place);

	if (wti_is_off())
		return passed;
	check.expected = expected;
	check.actual = actual;
	wt_check_emit(&check);
	return passed;
}

static size_t first_difference(const uint8_t *a, const uint8_t *b, size_t bytes)
{
	size_t at = 0;

	while (at < bytes && a[at] == b[at])
		at++;
	return at;
}

bool wt_check_bits_at(struct wt_name *name, const void *actual, const void *expected, size_t bytes,
		      struct wt_place place)
{
	const bool passed = !bytes || !memcmp(actual, expected, bytes);
	struct wt_check check = begin(name, passed, WT_COMPARATOR_BITS, place);
	char left[WTI_NUMBER_BYTES] = "", right[WTI_NUMBER_BYTES] = "", detail[DETAIL_BYTES] = "";

	if (wti_is_off())
		return passed;
	if (!passed) {
		const size_t at = first_difference(actual, expected, bytes);

		snprintf(left, sizeof(left), "0x%02x", ((const uint8_t *)expected)[at]);
		snprintf(right, sizeof(right), "0x%02x", ((const uint8_t *)actual)[at]);
		snprintf(detail, sizeof(detail), "byte %zu of %zu", at, bytes);
	}
	check.expected = left;
	check.actual = right;
	check.detail = detail;
	check.n = bytes;
	wt_check_emit(&check);
	return passed;
}

bool wt_observe_at(struct wt_name *name, double value, struct wt_place place)
{
	struct wt_check check = begin(name, false, WT_COMPARATOR_NONE, place);
	char text[WTI_NUMBER_BYTES];

	if (wti_is_off())
		return false;
	check.status = WT_CHECK_STATUS_OBSERVED;
	check.actual = wti_number_text(text, value);
	return wt_check_emit(&check);
}
