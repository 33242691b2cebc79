/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls as renacer-json-v1, one JSON object for the run:
 *
 *   {"version": "...", "format": "renacer-json-v1",
 *    "syscalls": [{"name": "openat", "args": ["AT_FDCWD", "\"x\"", "O_RDONLY"], "result": 3,
 *                  "duration_us": 12, "ts_us": 3456, "tid": 4242,
 *                  "source": {"file": "train.c", "line": 41, "function": "step"}}, ...],
 *    "summary": {"total_syscalls": 1, "total_time_us": 12, "exit_code": 0}}
 *
 * Its makers write three raw arguments; all of them, decoded, are of more use and of the same type.
 */
#include "base/json.h"
#include "traced.h"
#include "put.h"
#include "show/source.h"

#define NS_PER_US 1000
#define ARGUMENT_MAX ((size_t)1 << 20)
#define SIGNALLED 128 /* and the signal: what a shell makes of it */

struct renacer {
	struct wti_traced calls;
	struct wti_json json;
	struct wti_buf argument;
};

static int begin(void *state, struct wti_export *export, struct wt_err *err)
{
	struct renacer *renacer = state;
	struct wti_json *json = &renacer->json;

	wti_buf_init(&renacer->argument, ARGUMENT_MAX);
	wti_json_init(json, &export->sink->buf, true);
	wti_json_object(json);
	wti_json_key(json, "version");
	wti_json_text(json, WTI_VERSION);
	wti_json_key(json, "format");
	wti_json_text(json, "renacer-json-v1");
	wti_json_key(json, "syscalls");
	wti_json_array(json);
	return wti_traced_begin(&renacer->calls, export, err);
}

static void put_arguments(struct renacer *renacer)
{
	const struct wti_traced *calls = &renacer->calls;
	struct wti_buf *text = &renacer->argument;

	wti_json_key(&renacer->json, "args");
	wti_json_array(&renacer->json);
	for (unsigned i = 0; i < WTI_CALL_ARGS; i++) {
		wti_buf_clear(text);
		if (wti_decode_argument(text, &calls->call, i, &calls->options))
			wti_json_text_n(&renacer->json, (const char *)text->data, text->bytes);
		wti_buf_inherit(renacer->json.out, text);
	}
	wti_json_array_end(&renacer->json);
}

static void put_source(struct renacer *renacer, const struct wt_event *event)
{
	struct wti_json *json = &renacer->json;
	struct wti_source_place source;

	if (!wti_sources_of(renacer->calls.export->sources, event, &source))
		return;
	wti_json_key(json, "source");
	wti_json_object(json);
	wti_json_key(json, "file");
	wti_json_text_n(json, source.file.data, source.file.bytes);
	wti_json_key(json, "line");
	wti_json_u64(json, source.line);
	if (source.function.bytes) {
		wti_json_key(json, "function");
		wti_json_text_n(json, source.function.data, source.function.bytes);
	}
	wti_json_object_end(json);
}

static int event(void *state, const struct wt_event *event, struct wt_err *err)
{
	struct renacer *renacer = state;
	const struct wti_syscall *call = &renacer->calls.call;
	struct wti_json *json = &renacer->json;
	char label[WTI_CALL_LABEL_BYTES];
	int r = wti_traced_take(&renacer->calls, event, err);

	if (r <= 0)
		return r;
	wti_json_object(json);
	wti_json_key(json, "name");
	wti_json_text(json, wti_call_label(label, call->arch, call->nr));
	put_arguments(renacer);
	r = wti_traced_done(&renacer->calls, err);
	wti_json_key(json, "result");
	wti_json_i64(json, call->result);
	wti_json_key(json, "duration_us");
	wti_json_u64(json, call->duration_ns / NS_PER_US);
	wti_json_key(json, "ts_us");
	wti_json_i64(json, event->time_ns / NS_PER_US);
	wti_json_key(json, "tid");
	wti_json_u64(json, renacer->calls.tid);
	put_source(renacer, event);
	wti_json_object_end(json);
	return r;
}

static void put_exit_code(struct renacer *renacer)
{
	int32_t status = renacer->calls.first_status;

	wti_json_key(&renacer->json, "exit_code");
	if (!renacer->calls.first_ended)
		wti_json_null(&renacer->json);
	else
		wti_json_i64(&renacer->json, status < 0 ? SIGNALLED - (int64_t)status : status);
}

static int finish(void *state, struct wt_err *err)
{
	struct renacer *renacer = state;
	struct wti_json *json = &renacer->json;

	wti_json_array_end(json);
	wti_json_key(json, "summary");
	wti_json_object(json);
	wti_json_key(json, "total_syscalls");
	wti_json_u64(json, renacer->calls.count);
	wti_json_key(json, "total_time_us");
	wti_json_u64(json, renacer->calls.total_ns / NS_PER_US);
	put_exit_code(renacer);
	wti_json_object_end(json);
	wti_json_object_end(json);
	WTI_PUT(json->out, "\n");
	return wti_traced_finish(&renacer->calls, err);
}

static void release(void *state)
{
	struct renacer *renacer = state;

	wti_traced_release(&renacer->calls);
	wti_buf_release(&renacer->argument);
}

const struct wti_exporter wti_exporter_renacer = {
	.name = "renacer-json",
	.extension = "renacer.json",
	.summary = "system calls as renacer-json-v1",
	.streams = true,
	.state_bytes = sizeof(struct renacer),
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
