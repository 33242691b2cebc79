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
#include <string.h>

#include "base/err.h"
#include "export.h"
#include "fields.h"
#include "heads.h"
#include "inspect/core/label.h"
#include "put.h"

struct jsonl {
	struct wti_buf *out;
	struct wti_field_keys keys;
	struct wti_heads heads;
};

/* ,"stream":0,"track":1,"track_name":"train","seq": */
static void put_head(struct wti_buf *out, const struct wt_event *event)
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

static int begin(void *state, struct wti_export *export, struct wt_err *err)
{
	struct jsonl *jsonl = state;

	jsonl->out = &export->sink->buf;
	wti_field_keys_init(&jsonl->keys, export->sources);
	wti_heads_init(&jsonl->heads, put_head);
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
	wti_heads_put(&jsonl->heads, out, event);
	wti_put_json_u64(out, event->seq);
	WTI_PUT(out, ",\"fields\":");
	wti_put_json_fields(out, &jsonl->keys, event);
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

	wti_heads_release(&jsonl->heads);
	wti_field_keys_release(&jsonl->keys);
}

const struct wti_exporter wti_exporter_jsonl = {
	.name = "jsonl",
	.extension = "jsonl",
	.summary = "one JSON object per line and event, for jq and scripts",
	.streams = true,
	.state_bytes = sizeof(struct jsonl),
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
