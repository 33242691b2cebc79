/* SPDX-License-Identifier: Apache-2.0 */
/* A text a track, up to a ceiling of tracks; beyond it they are made each time. */
#include "heads.h"

#include <stdlib.h>

#include "base/grow.h"
#include "put.h"

#define HEADS_MAX ((size_t)1 << 16)
#define HEAD_BYTES_MAX ((size_t)1 << 16)

void wti_heads_init(struct wti_heads *heads,
		    void (*make)(struct wti_buf *out, const struct wt_event *event))
{
	*heads = (struct wti_heads){.make = make};
	wti_map_init(&heads->index, HEADS_MAX);
}

void wti_heads_release(struct wti_heads *heads)
{
	for (size_t i = 0; i < heads->count; i++)
		wti_buf_release(&heads->texts[i]);
	free(heads->texts);
	wti_map_release(&heads->index);
}

/* The text of the event's track; NULL if it cannot be kept. */
static const struct wti_buf *head_of(struct wti_heads *heads, const struct wt_event *event)
{
	uint64_t *slot =
		wti_map_number(&heads->index, (uint64_t)event->stream << 32 | event->track);
	struct wti_buf *head;

	if (!slot)
		return NULL;
	if (*slot)
		return &heads->texts[*slot - 1];
	if (wti_grow(&heads->texts, heads->count + 1, &heads->capacity, HEADS_MAX))
		return NULL;
	head = &heads->texts[heads->count++];
	wti_buf_init(head, HEAD_BYTES_MAX);
	heads->make(head, event);
	*slot = heads->count;
	return head;
}

void wti_heads_put(struct wti_heads *heads, struct wti_buf *out, const struct wt_event *event)
{
	const struct wti_buf *head = head_of(heads, event);

	if (head && !wti_buf_status(head))
		wti_put(out, (const char *)head->data, head->bytes);
	else
		heads->make(out, event);
}
