/* SPDX-License-Identifier: Apache-2.0 */
/* Words that people give to runs: the file `tags` in the folder of a run, a word a line. */
#ifndef WTI_RUNS_TAGS_H
#define WTI_RUNS_TAGS_H

#include <stdbool.h>

#include <wheeltap/err.h>

#include "base/buf.h"

#define WTI_TAG_BYTES_MAX 64u
#define WTI_TAGS_MAX 64u /* of a run */

/* WT_E_ARG if a word cannot be a tag: letters, digits, and _ . + - / : @ within. */
int wti_tag_check(const char *word, struct wt_err *err);
/* The tags of a run, in order, with a blank between; none if there is no such file. */
int wti_tags_read(const char *folder, struct wti_buf *ret_words, struct wt_err *err);
/* Adds and removes words; two at once lose nothing. *ret_changed: there is another set now. */
int wti_tags_change(const char *folder, const char *const *add, size_t add_count,
		    const char *const *remove, size_t remove_count, bool *ret_changed,
		    struct wt_err *err);
/* Whether a word stands among those with blanks between. */
bool wti_tags_have(const char *words, const char *tag);

#endif
