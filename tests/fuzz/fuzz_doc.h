/* SPDX-License-Identifier: Apache-2.0 */
/* What every reader of documents promises: an error with a message, or a tree that can be walked.
 */
#ifndef FUZZ_DOC_H
#define FUZZ_DOC_H

#include <string.h>

#include "base/doc.h"
#include "fuzz.h"

/* Readers bound the depth. */
static inline size_t doc_count(const struct wti_doc *value)
{
	size_t found = 1;

	for (const struct wti_doc *child = value->first; child; child = child->next) {
		PROMISE(child->line > 0 && child->column > 0);
		if (child->type == WTI_DOC_STRING)
			PROMISE(!child->string.data[child->string.bytes]);
		if (value->type == WTI_DOC_TABLE)
			PROMISE(wti_doc_get(value, child->key) == child);
		found += doc_count(child);
	}
	return found;
}

static inline void doc_check_error(const struct wt_err *err, int result)
{
	PROMISE(err->code == result && err->message[0] &&
		memchr(err->message, 0, sizeof(err->message)));
}

#endif
