/* SPDX-License-Identifier: Apache-2.0 */
/* `import` of traces that other programs recorded (src/convert/import.h). */
#ifndef WTI_CLI_KEEP_IMPORT_TRACE_H
#define WTI_CLI_KEEP_IMPORT_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include <wheeltap/err.h>
#include <wheeltap/result.h>

bool wti_import_is_trace(const char *format);
/* `output` NULL: a new folder below the home, after the first file. *ret_damaged: a file was. */
int wti_import_trace(const char *format, char **paths, size_t count, const char *output,
		     struct wt_result *result, bool *ret_damaged, struct wt_err *err);

#endif
