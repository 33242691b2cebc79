/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TAP, the Test Anything Protocol (13 and 14), as tests of meson, prove, node and many C programs
 * print it: results with their directives, the first line of a diagnosis, what is said of time,
 * expectation and place in a YAML block, the plan. Lines of anything else are passed over, as they
 * stand between those of TAP on a console.
 */
#ifndef WTI_CONVERT_TAP_H
#define WTI_CONVERT_TAP_H

#include "inspect/summary/tests.h"

#define WTI_TAP_BYTES_MAX ((size_t)64 << 20)

/*
 * Adds the tests of a text. *ret_is_tap: it has a plan or a version, and a result. If it has not,
 * nothing is added. 0, or WT_E_NOMEM.
 */
int wti_tap_parse(const char *text, size_t bytes, struct wti_tests *tests, bool *ret_is_tap);
/* The same of what a program printed. That it is no TAP, or cannot be read, is no error. */
int wti_tap_console(const char *path, struct wti_tests *tests);

#endif
