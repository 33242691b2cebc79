/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines beside what they lost, for a page. */
#ifndef WTI_SHOW_PAGE_LINES_H
#define WTI_SHOW_PAGE_LINES_H

#include <wheeltap/result.h>

#define WTI_PAGE_LINES_MAX 400u

/*
 * Adds the table `source` (file, line, text, lost), without a title: lines around those of the
 * table `sites` (file, line, lost), the worst first, from files that can be read. `directory`:
 * where relative names begin; NULL: here.
 */
void wti_page_lines(struct wt_result *result, const char *directory);

#endif
