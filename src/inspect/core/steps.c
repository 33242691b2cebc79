/* SPDX-License-Identifier: Apache-2.0 */
/* Following step, stage and epoch by track. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/number.h"
#include "steps.h"

#define TRACKS_MAX (1u << 20)

void wti_steps_init(struct wti_steps *steps)
{
	*steps = (struct wti_steps){0};
	wti_map_init(&steps->index, TRACKS_MAX);
}

void wti_steps_release(struct wti_steps *steps)
{
	free(steps->entries);
	wti_map_release(&steps->index);
	*steps = (struct wti_steps){0};
}

static uint64_t key_of(const struct wt_event *event)
{
	return (uint64_t)event->stream << 32 | event->track;
}

static struct wti_step *entry_of(struct wti_steps *steps, const struct wt_event *event)
{
	uint64_t *slot = wti_map_number(&steps->index, key_of(event));

	if (!slot)
		return NULL;
	if (*slot)
		return &steps->entries[*slot - 1];
	if (wti_grow(&steps->entries, steps->count + 1, &steps->capacity, TRACKS_MAX))
		return NULL;
	steps->entries[steps->count] =
		(struct wti_step){.stream = event->stream, .track = event->track};
	*slot = ++steps->count;
	return &steps->entries[*slot - 1];
}

static bool is(struct wt_text text, const char *word)
{
	return text.bytes == strlen(word) && !memcmp(text.data, word, text.bytes);
}

enum wti_context_key wti_context_key(const struct wt_event *event)
{
	struct wt_text key = wt_event_text(event, WT_CONTEXT_FIELD_KEY);

	return is(key, "step")    ? WTI_CONTEXT_STEP
	       : is(key, "epoch") ? WTI_CONTEXT_EPOCH
	       : is(key, "stage") ? WTI_CONTEXT_STAGE
				  : WTI_CONTEXT_OTHER;
}

int wti_steps_event(struct wti_steps *steps, const struct wt_event *event, struct wt_err *err)
{
	enum wti_context_key key = wti_context_key(event);
	int64_t value = wti_bounded(wt_event_i64(event, WT_CONTEXT_FIELD_VALUE));
	struct wti_step *entry = entry_of(steps, event);

	if (!entry)
		return wti_map_failed(&steps->index, err, "tracks to follow their steps");
	entry->time_ns = event->time_ns;
	if (key == WTI_CONTEXT_STEP) {
		entry->has_step = true;
		entry->step = value;
	} else if (key == WTI_CONTEXT_EPOCH) {
		entry->has_epoch = true;
		entry->epoch = value;
	} else if (key == WTI_CONTEXT_STAGE) {
		struct wt_text text = wt_event_text(event, WT_CONTEXT_FIELD_TEXT);

		snprintf(entry->stage, sizeof(entry->stage), "%.*s",
			 (int)(text.bytes < 63 ? text.bytes : 63), text.data);
	}
	return 0;
}

struct wt_text wti_steps_label(const struct wti_steps *steps, char out[WTI_LABEL_BYTES],
			       const struct wt_event *event)
{
	const uint64_t *slot = wti_map_find_number(&steps->index, key_of(event));

	if (!slot || !*slot || !steps->entries[*slot - 1].has_step)
		return (struct wt_text){"(no step)", 9};
	return (struct wt_text){out, (size_t)snprintf(out, WTI_LABEL_BYTES, "%lld",
						      (long long)steps->entries[*slot - 1].step)};
}
