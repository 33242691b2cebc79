/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a large JSON object, one at a time: only one of them is in memory as a document.
 */
#ifndef WTI_BASE_JSON_MEMBERS_H
#define WTI_BASE_JSON_MEMBERS_H

#include "doc.h"

/* `member` has its key, and is gone after the call. */
typedef int wti_json_member_fn(void *self, const struct wti_doc *member, struct wt_err *err);

/*
 * Ends at the first member whose function returns other than 0, with that. A text of up to
 * WTI_DOC_TEXT_MAX bytes is parsed as a whole, in which repeated keys are refused; in a larger one
 * it is for the caller to notice them, and each member has at most that size.
 */
int wti_json_members(const char *name, const char *text, size_t bytes, wti_json_member_fn *member,
		     void *self, struct wt_err *err);

#endif
