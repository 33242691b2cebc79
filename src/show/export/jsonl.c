/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line an event, each a JSON object, as `view --jsonl` prints them but made for speed:
 *
 *   {"time_ns":1200,"kind":"mark","stream":0,"track":1,"track_name":"train","seq":7,
 *    "fields":{"name":"begin","flags":0,"value":3}}
 *
 * Whole numbers beyond 2^53 are strings, since jq and JavaScript would round them; so are hashes
 * (hexadecimal) and nan, inf and -inf. What is not known is null.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/map.h"
#include "export.h"
#include "inspect/label.h"
#include "put.h"

#define SCRATCH_MAX ((size_t)1 << 26)
#define HEADS_MAX ((size_t)1 << 16)

struct jsonl {
	struct wti_buf *out;
	struct wti_buf scratch;
	struct wti_map heads;       /* stream and track: its head plus one */
	struct wti_buf *head_texts; /* ,"stream":0,"track":1,"track_name":"train","seq": */
	size_t head_count;
};

static void put_head_text(struct wti_buf *out, const struct wt_event *event)
{
	char label[WTI_LABEL_BYTES];
	struct wt_text name = wti_label_track(label, event->trace, event->stream, event->track);

	WTI_PUT(out, ",\"stream\":");
	wti_put_u64(out, event->stream);
	WTI_PUT(out, ",\"track\":");
	wti_put_u64(out, event->track);
	WTI_PUT(out, ",\"track_name\":");
	wti_put_json_text(out, name);
	WTI_PUT(out, ",\"seq\":");
}

/* What is the same for all events of a track is made once, as long as there are not too many. */
static void put_head(struct jsonl *jsonl, const struct wt_event *event)
{
	uint64_t *slot =
		wti_map_number(&jsonl->heads, (uint64_t)event->stream << 32 | event->track);
	struct wti_buf *head;

	if (slot && !*slot && !(jsonl->head_count & (jsonl->head_count - 1))) {
		size_t capacity = jsonl->head_count ? jsonl->head_count * 2 : 1;
		void *more = realloc(jsonl->head_texts, sizeof(*head) * capacity);

		if (!more)
			slot = NULL;
		else
			jsonl->head_texts = more;
	}
	if (!slot) {
		put_head_text(jsonl->out, event);
		return;
	}
	if (!*slot) {
		head = &jsonl->head_texts[jsonl->head_count++];
		wti_buf_init(head, WTI_SINK_CEILING);
		put_head_text(head, event);
		*slot = jsonl->head_count;
	}
	head = &jsonl->head_texts[*slot - 1];
	if (wti_buf_status(head))
		put_head_text(jsonl->out, event);
	else
		wti_put(jsonl->out, (const char *)head->data, head->bytes);
}

static int begin(void *state, struct wti_export *export, struct wt_err *err)
{
	struct jsonl *jsonl = state;

	jsonl->out = &export->sink->buf;
	wti_buf_init(&jsonl->scratch, SCRATCH_MAX);
	wti_map_init(&jsonl->heads, HEADS_MAX);
	return 0;
}

static int event(void *state, const struct wt_event *event, struct wt_err *err)
{
	struct jsonl *jsonl = state;
	const struct wt_kind *kind = event->kind;
	struct wti_buf *out = jsonl->out;

	WTI_PUT(out, "{\"time_ns\":");
	wti_put_i64(out, event->time_ns);
	WTI_PUT(out, ",\"kind\":");
	wti_put_json_text(out, (struct wt_text){kind->name, strlen(kind->name)});
	put_head(jsonl, event);
	wti_put_json_u64(out, event->seq);
	WTI_PUT(out, ",\"fields\":");
	wti_put_json_fields(out, event, &jsonl->scratch);
	WTI_PUT(out, "}\n");
	return 0;
}

static int finish(void *state, struct wt_err *err)
{
	return 0;
}

static void release(void *state)
{
	struct jsonl *jsonl = state;

	for (size_t i = 0; i < jsonl->head_count; i++)
		wti_buf_release(&jsonl->head_texts[i]);
	free(jsonl->head_texts);
	wti_map_release(&jsonl->heads);
	wti_buf_release(&jsonl->scratch);
}

const struct wti_exporter wti_exporter_jsonl = {
	.name = "jsonl",
	.extension = "jsonl",
	.summary = "a JSON object a line, one an event, for jq and scripts",
	.streams = true,
	.state_bytes = sizeof(struct jsonl),
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
