/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping apart what was said. */
#include <stdlib.h>
#include <string.h>

#include "missing.h"

#define KEY "not_measured"
#define SENTENCE_MAX 500u

void wti_missing_take(struct wti_missing *missing, const struct wt_event *event)
{
	struct wt_text key, text;
	size_t bytes;

	if (event->kind->number != WT_KIND_SETTING)
		return;
	key = wt_event_text(event, WT_SETTING_FIELD_KEY);
	text = wt_event_text(event, WT_SETTING_FIELD_TEXT);
	if (key.bytes != strlen(KEY) || memcmp(key.data, KEY, key.bytes) || !text.bytes)
		return;
	bytes = text.bytes < SENTENCE_MAX ? text.bytes : SENTENCE_MAX;
	for (size_t i = 0; i < missing->count; i++)
		if (strlen(missing->sentences[i]) == bytes &&
		    !memcmp(missing->sentences[i], text.data, bytes))
			return;
	if (missing->count < WTI_MISSING_MAX &&
	    (missing->sentences[missing->count] = strndup(text.data, bytes)))
		missing->count++;
}

void wti_missing_note(const struct wti_missing *missing, struct wt_result *result)
{
	for (size_t i = 0; i < missing->count; i++)
		wt_result_note(result, "not measured: %s", missing->sentences[i]);
}

void wti_missing_release(struct wti_missing *missing)
{
	for (size_t i = 0; i < missing->count; i++)
		free(missing->sentences[i]);
	*missing = (struct wti_missing){0};
}

void wti_missing_calls(struct wt_result *result)
{
	wt_result_set_status(result, "not_measured");
	wt_result_note(result, "no system calls in this run: record it with --syscalls");
}
