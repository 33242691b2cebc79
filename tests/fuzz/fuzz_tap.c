/* SPDX-License-Identifier: Apache-2.0 */
/* TAP: nothing is an error, and what is no TAP adds nothing. */
#include <string.h>

#include "convert/tap.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wti_tests tests;
	bool is_tap = false;
	int r;

	wti_tests_init(&tests);
	r = wti_tap_parse((const char *)data, bytes, &tests, &is_tap);
	PROMISE(r == 0 || r == WT_E_NOMEM);
	PROMISE(is_tap || !tests.count);
	for (size_t i = 0; i < tests.count; i++) {
		PROMISE(tests.items[i].name && *tests.items[i].name);
		PROMISE(strlen(tests.items[i].detail) <= WTI_TEST_TEXT_MAX);
		PROMISE(tests.items[i].status < WTI_TEST_STATUSES);
		PROMISE(tests.items[i].duration_ns >= -1);
	}
	wti_tests_release(&tests);
	return 0;
}
