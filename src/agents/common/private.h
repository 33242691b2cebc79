/* SPDX-License-Identifier: Apache-2.0 */
/* What of a user's text may be kept. */
#ifndef WTI_AGENTS_PRIVATE_H
#define WTI_AGENTS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/secret.h"

enum {
	WTI_PRIVATE_BYTES = 64, /* room for what stands in place of a text */
};

/* Cuts a text to at most bytes_max, not in the middle of a character of UTF-8. */
size_t wti_text_cut(const char *text, size_t bytes, size_t bytes_max);

/* True if a text looks like names, numbers, dtypes, modes or paths, and like no secret. */
bool wti_private_may_keep(const char *text, size_t bytes);

/* Writes "<N bytes, hash HHHHHHHH>", and returns its length. */
size_t wti_private_describe(const char *text, size_t bytes, char ret_text[WTI_PRIVATE_BYTES]);

#endif
