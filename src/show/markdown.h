/* SPDX-License-Identifier: Apache-2.0 */
/* Text in Markdown: nothing that comes from elsewhere becomes markup or ends a cell. */
#ifndef WTI_SHOW_MARKDOWN_H
#define WTI_SHOW_MARKDOWN_H

#include <wheeltap/result.h>

#include "base/buf.h"

void wti_markdown_text(struct wti_buf *out, const char *text);
/* A cell as people read it. */
void wti_markdown_cell(struct wti_buf *out, const struct wt_cell *cell);

#endif
