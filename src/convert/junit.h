/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JUnit XML, as pytest, ctest, meson, gtest and every CI write it: a test for each <testcase>. Only
 * what such files have is read: elements, attributes, text, CDATA and the five entities. A document
 * type is refused, so that nothing is expanded.
 */
#ifndef WTI_CONVERT_JUNIT_H
#define WTI_CONVERT_JUNIT_H

#include "inspect/summary/tests.h"

#define WTI_JUNIT_BYTES_MAX ((size_t)64 << 20)

/* `name` is for messages. WT_E_FORMAT, with the byte, if it is no such file. */
int wti_junit_parse(const char *name, const char *text, size_t bytes, struct wti_tests *tests,
		    struct wt_err *err);

#endif
