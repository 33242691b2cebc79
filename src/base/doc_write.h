/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a document, or a part of one, as JSON. */
#ifndef WTI_BASE_DOC_WRITE_H
#define WTI_BASE_DOC_WRITE_H

#include "doc.h"
#include "json.h"

/* The value without its key; of a table or a list all that is in it. */
void wti_doc_write(struct wti_json *json, const struct wti_doc *doc);

#endif
