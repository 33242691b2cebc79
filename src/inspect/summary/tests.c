/* SPDX-License-Identifier: Apache-2.0 */
/* The inspector `tests`: checks of a run, in the order in which they were made. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "event_text.h"
#include "inspect/core/inspectors.h"
#include "tests.h"

#define ARENA_MAX ((size_t)256 << 20)

/* ---- Words ----------------------------------------------------------------------------------- */

static const char *const statuses[] = {"passed", "failed", "error", "skipped", "observed"};
static const char *const comparators[] = {"none",     "equal",    "differs",  "bits",
					  "close",    "below",    "at_most",  "above",
					  "at_least", "contains", "assertion"};

#define COUNT_OF(words) (sizeof(words) / sizeof(*(words)))

const char *wti_test_status_word(uint32_t status)
{
	return status < COUNT_OF(statuses) ? statuses[status] : "other";
}

const char *wti_comparator_word(uint32_t comparator)
{
	return comparator < COUNT_OF(comparators) ? comparators[comparator] : "other";
}

static int number_of(const char *const *words, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(words[i], word))
			return (int)i;
	return -1;
}

int wti_test_status_number(const char *word)
{
	return number_of(statuses, COUNT_OF(statuses), word);
}

int wti_comparator_number(const char *word)
{
	return number_of(comparators, COUNT_OF(comparators), word);
}

/* ---- The list -------------------------------------------------------------------------------- */

void wti_tests_init(struct wti_tests *tests)
{
	*tests = (struct wti_tests){.count = 0};
	wti_arena_init(&tests->arena, ARENA_MAX);
}

void wti_tests_release(struct wti_tests *tests)
{
	wti_arena_release(&tests->arena);
	free(tests->items);
	*tests = (struct wti_tests){.count = 0};
}

static const char *kept(struct wti_tests *tests, const char *text)
{
	size_t bytes = text ? strnlen(text, WTI_TEST_TEXT_MAX) : 0;

	return bytes ? wti_arena_text(&tests->arena, text, bytes) : "";
}

int wti_tests_add(struct wti_tests *tests, const struct wti_test *test)
{
	struct wti_test copy = *test;

	if (tests->count >= WTI_TESTS_MAX) {
		tests->left_out_count++;
		return 0;
	}
	copy.name = kept(tests, test->name);
	copy.unit = kept(tests, test->unit);
	copy.file = kept(tests, test->file);
	copy.expected = kept(tests, test->expected);
	copy.actual = kept(tests, test->actual);
	copy.detail = kept(tests, test->detail);
	if (tests->arena.status == WT_E_LIMIT) {
		tests->left_out_count++;
		return 0;
	}
	if (tests->arena.status ||
	    wti_grow(&tests->items, tests->count + 1, &tests->capacity, WTI_TESTS_MAX))
		return WT_E_NOMEM;
	tests->items[tests->count++] = copy;
	return 0;
}

struct wti_tests_count wti_tests_count(const struct wti_tests *tests)
{
	struct wti_tests_count count = {{0}};

	for (size_t i = 0; i < tests->count; i++)
		if (tests->items[i].status < WTI_TEST_STATUSES)
			count.by_status[tests->items[i].status]++;
	return count;
}

double wti_tests_rate(const struct wti_tests_count *count)
{
	const uint64_t *by = count->by_status;
	uint64_t judged =
		by[WT_CHECK_STATUS_PASSED] + by[WT_CHECK_STATUS_FAILED] + by[WT_CHECK_STATUS_ERROR];

	return judged ? (double)by[WT_CHECK_STATUS_PASSED] / (double)judged : NAN;
}

/* ---- The inspector --------------------------------------------------------------------------- */

struct state {
	struct wti_tests *tests; /* NULL: nobody wants them */
};

static void ask(struct wt_query *query, const void *options)
{
	static const char *const kinds[] = {"check"};

	query->kinds = kinds;
	query->kind_count = 1;
}

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	struct state *s = opaque;

	s->tests = options ? ((const struct wti_tests_options *)options)->tests : NULL;
	return 0;
}

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	char texts[6][WTI_EVENT_TEXT_MAX + 1];
	const struct state *s = opaque;
	struct wti_test test;

	if (event->kind->number != WT_KIND_CHECK || !s->tests)
		return 0;
	test = (struct wti_test){
		.name = wti_event_cstr(event, WT_CHECK_FIELD_NAME, texts[0]),
		.unit = wti_event_cstr(event, WT_CHECK_FIELD_UNIT, texts[1]),
		.file = wti_event_cstr(event, WT_CHECK_FIELD_FILE, texts[2]),
		.expected = wti_event_cstr(event, WT_CHECK_FIELD_EXPECTED, texts[3]),
		.actual = wti_event_cstr(event, WT_CHECK_FIELD_ACTUAL, texts[4]),
		.detail = wti_event_cstr(event, WT_CHECK_FIELD_DETAIL, texts[5]),
		.status = (uint32_t)wt_event_u64(event, WT_CHECK_FIELD_STATUS),
		.comparator = (uint32_t)wt_event_u64(event, WT_CHECK_FIELD_COMPARATOR),
		.line = (uint32_t)wt_event_u64(event, WT_CHECK_FIELD_LINE),
		.tolerance = wt_event_f64(event, WT_CHECK_FIELD_TOLERANCE),
		.n = wt_event_u64(event, WT_CHECK_FIELD_N),
		.duration_ns = (int64_t)wt_event_u64(event, WT_CHECK_FIELD_DURATION),
	};
	return wti_tests_add(s->tests, &test) ? wti_err(err, WT_E_NOMEM, "out of memory") : 0;
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	const struct state *s = opaque;

	if (s->tests && s->tests->left_out_count)
		wt_result_note(result, "too many tests: %llu are left out",
			       (unsigned long long)s->tests->left_out_count);
	return 0;
}

static void release(void *opaque)
{
}

const struct wt_inspector wti_inspector_tests = {
	.name = "tests",
	.summary = "checks, with what was expected and what came",
	.state_bytes = sizeof(struct state),
	.ask = ask,
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
