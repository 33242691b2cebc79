/* SPDX-License-Identifier: Apache-2.0 */
/* Text in XML and HTML: nothing that comes from elsewhere becomes markup. */
#ifndef WTI_SHOW_MARKUP_H
#define WTI_SHOW_MARKUP_H

#include <stddef.h>

#include "base/buf.h"

/* Characters that mean something in markup are escaped, in attributes too. */
void wti_markup_escape(struct wti_buf *out, const char *text, size_t bytes);
/* The same of any bytes: first made printable. */
void wti_markup_text(struct wti_buf *out, const char *text);

#endif
