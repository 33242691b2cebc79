/* SPDX-License-Identifier: Apache-2.0 */
/* A user's text on its way into a record: bounded, and kept only if it may be. */
#ifndef WTI_AGENTS_TEXT_H
#define WTI_AGENTS_TEXT_H

#include <string.h>

#include "agent.h"
#include "private.h"

struct wti_kept_text {
	const char *data;
	uint32_t bytes;
	char described[WTI_PRIVATE_BYTES];
};

static inline void wti_keep_text(struct wti_kept_text *kept, const char *text)
{
	size_t bytes = text ? strlen(text) : 0;

	kept->data = text;
	if (!wti_agent.control->strings_keep && !wti_private_may_keep(text, bytes)) {
		bytes = wti_private_describe(text, bytes, kept->described);
		kept->data = kept->described;
	}
	kept->bytes = (uint32_t)wti_text_cut(kept->data, bytes, WTI_TEXT_MAX);
}

/* The value of a named setting: masked, however it is to be kept, if the name is that of a secret.
 */
static inline void wti_keep_value(struct wti_kept_text *kept, const char *key, const char *text)
{
	size_t bytes = strlen(text);

	if (!bytes || !wti_secret_is_key(key, strlen(key))) {
		wti_keep_text(kept, text);
		return;
	}
	bytes = bytes < WTI_PRIVATE_BYTES ? bytes : WTI_PRIVATE_BYTES;
	memcpy(kept->described, text, bytes);
	kept->bytes = (uint32_t)wti_secret_mask_all(kept->described, bytes);
	kept->data = kept->described;
}

/* Puts bytes behind the fixed part of a record; the last bytes of its last unit are zero. */
static inline void wti_put_inline(void *after, const void *data, uint32_t bytes)
{
	uint32_t room = wti_round8(bytes);

	if (room == 0)
		return;
	memset((char *)after + room - 8, 0, 8);
	memcpy(after, data, bytes);
}

/* Several, one behind the other; `bytes` is the length of all. NULL is an empty one. */
static inline void wti_put_texts(void *after, const struct wti_kept_text *const *texts,
				 uint32_t count, uint32_t bytes)
{
	char *at = after;

	if (bytes)
		memset(at + wti_round8(bytes) - 8, 0, 8);
	for (uint32_t i = 0; i < count; i++) {
		if (!texts[i] || !texts[i]->bytes)
			continue;
		memcpy(at, texts[i]->data, texts[i]->bytes);
		at += texts[i]->bytes;
	}
}

static inline void wti_put_text(void *after, const struct wti_kept_text *kept)
{
	wti_put_inline(after, kept->data, kept->bytes);
}

#endif
