/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the keys of run.json that make sense without a recorder. */
#include "run_json.h"

#include <limits.h>
#include <stdio.h>

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"

#define RUN_SCHEMA 1 /* of run.json, as the recorder writes it */
#define JSON_MAX (1u << 20)

static void put_u64(struct wti_json *json, const char *key, uint64_t value)
{
	wti_json_key(json, key);
	wti_json_u64(json, value);
}

int wti_run_json_write(const char *folder, const struct wti_run_facts *facts, struct wt_err *err)
{
	char path[PATH_MAX + 16];
	struct wti_json json;
	struct wti_buf text;
	int r;

	snprintf(path, sizeof(path), "%s/" WTI_RUN_JSON, folder);
	wti_buf_init(&text, JSON_MAX);
	wti_json_init(&json, &text, true);
	wti_json_object(&json);
	put_u64(&json, "schema", RUN_SCHEMA);
	wti_json_key(&json, "status");
	wti_json_text(&json, wti_run_status_name(facts->status));
	wti_json_key(&json, "command");
	wti_json_array(&json);
	wti_json_text(&json, facts->source);
	wti_json_array_end(&json);
	put_u64(&json, "start_ns", facts->start_ns > 0 ? (uint64_t)facts->start_ns : 0);
	put_u64(&json, "duration_ns", facts->duration_ns);
	put_u64(&json, "events", facts->events);
	put_u64(&json, "lost", facts->lost);
	wti_json_object_end(&json);
	wti_buf_byte(&text, '\n');
	r = wti_buf_status(&text) ? wti_err(err, WT_E_NOMEM, "out of memory")
				  : wti_file_replace(path, text.data, text.bytes, err);
	wti_buf_release(&text);
	return r;
}
