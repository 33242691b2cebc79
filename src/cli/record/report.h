/* SPDX-License-Identifier: Apache-2.0 */
/* `record --report FILE`: calls and bytes of each function, as the inspector `stat` reports them.
 */
#ifndef WTI_CLI_RECORD_REPORT_H
#define WTI_CLI_RECORD_REPORT_H

#include <wheeltap/err.h>

/* As JSON, CSV or Markdown by the suffix of the file, otherwise as text. */
int wti_record_report(const char *folder, const char *file, struct wt_err *err);

#endif
