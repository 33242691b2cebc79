/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of events as words, for lines that people read. */
#ifndef WTI_SHOW_WORDS_H
#define WTI_SHOW_WORDS_H

#include "event.h"

/* A field of the builtin schema that has words. False: it has none, and nothing was written. */
bool wti_words(struct wti_buf *out, const struct wt_kind *kind, int field,
	       const struct wti_shown *value);
/*
 * The shortest text that gives the number back; in single precision where the number is of that:
 * most are elements of tensors, and 0.1f is not meant to be 0.10000000149011612.
 */
void wti_words_float(struct wti_buf *out, double number);

#endif
