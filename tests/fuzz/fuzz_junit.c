/* SPDX-License-Identifier: Apache-2.0 */
/* JUnit XML: an error has a place within the text; what is read can be kept. */
#include <string.h>

#include "convert/junit.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wt_err err = {.offset = -1};
	struct wti_tests tests;
	int r;

	wti_tests_init(&tests);
	r = wti_junit_parse("input.xml", (const char *)data, bytes, &tests, &err);
	if (r == WT_E_FORMAT)
		PROMISE(err.message[0] && err.offset >= 0 && (size_t)err.offset <= bytes);
	else
		PROMISE(r == 0 || r == WT_E_NOMEM);
	for (size_t i = 0; i < tests.count; i++) {
		PROMISE(strlen(tests.items[i].name) <= WTI_TEST_TEXT_MAX);
		PROMISE(tests.items[i].status <= WT_CHECK_STATUS_SKIPPED);
		PROMISE(tests.items[i].duration_ns >= -1);
	}
	wti_tests_release(&tests);
	return 0;
}
