/* SPDX-License-Identifier: Apache-2.0 */
/* `import tap` and `import junit`: reports of tests as a run. */
#ifndef WTI_CLI_KEEP_IMPORT_TESTS_H
#define WTI_CLI_KEEP_IMPORT_TESTS_H

#include <stdbool.h>
#include <stddef.h>

#include <wheeltap/err.h>
#include <wheeltap/result.h>

bool wti_import_is_tests(const char *format);
/* `output` NULL: a new folder below the home, after the first file. */
int wti_import_tests(const char *format, char **paths, size_t count, const char *output,
		     struct wt_result *result, struct wt_err *err);

#endif
