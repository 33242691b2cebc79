/* SPDX-License-Identifier: Apache-2.0 */
/* A field of bytes: written, read back unchanged, and shown in hexadecimal everywhere. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wheeltap/trace.h>

#include "base/buf.h"
#include "show/event.h"
#include "show/export/put.h"

static char path[] = "/tmp/wheeltap-unit-XXXXXX.wt";

static void write_samples(const void *values, size_t bytes)
{
	struct wt_track track = {1, WT_TRACK_THREAD, 7, 0, "main", 4};
	struct wt_text text = {values, bytes};
	uint64_t numbers[] = {41, 3, 0, 0};
	struct wt_writer_options options;
	struct wt_writer *writer = NULL;
	struct wt_err err = {0};

	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_MONOTONIC;
	REQUIRE(!wt_writer_create(path, &options, &writer, &err));
	CHECK(!wt_writer_track(writer, &track));
	CHECK(!wt_writer_append(writer, WT_KIND_SAMPLE, 1, 0, 5, numbers, 4, &text));
	text.bytes = 0;
	CHECK(!wt_writer_append(writer, WT_KIND_SAMPLE, 1, 1, 6, numbers, 4, &text));
	CHECK(!wt_writer_finish(writer, NULL));
	wt_writer_free(writer);
}

static void show_first(const struct wt_event *event)
{
	struct wti_shown value;
	struct wti_json json;
	struct wti_buf out;

	wti_buf_init(&out, 1u << 20);
	wti_event_line(&out, event, &(struct wti_style){0}, NULL);
	CHECK(strstr(wti_buf_cstr(&out), " values=000080bf00ff22e2"));
	wti_buf_clear(&out);
	wti_json_init(&json, &out, false);
	wti_event_json(&json, event, NULL);
	CHECK(strstr(wti_buf_cstr(&out), "\"values\":\"000080bf00ff22e2\"") ||
	      strstr(wti_buf_cstr(&out), "\"values\": \"000080bf00ff22e2\""));
	wti_buf_clear(&out);
	wti_event_csv(&out, event, event->kind, NULL);
	CHECK(strstr(wti_buf_cstr(&out), ",000080bf00ff22e2"));
	wti_event_field(&value, event, WT_SAMPLE_FIELD_VALUES);
	CHECK_INT(value.type, WTI_SHOWN_BYTES);
	wti_buf_clear(&out);
	wti_put_json(&out, &value);
	CHECK_TEXT(wti_buf_cstr(&out), "\"000080bf00ff22e2\"");
	wti_buf_clear(&out);
	wti_put_plain(&out, &value);
	CHECK_TEXT(wti_buf_cstr(&out), "000080bf00ff22e2");
	wti_buf_release(&out);
}

static void test_shown_in_hexadecimal(void)
{
	static const uint8_t values[] = {0, 0, 0x80, 0xbf, 0, 0xff, 0x22, 0xe2};
	struct wt_trace *trace = NULL;
	struct wt_cursor *cursor = NULL;
	struct wt_event event;
	struct wt_query query;
	struct wt_text text;
	struct wt_err err;
	struct wti_buf out;
	int fd = mkstemps(path, 3);

	REQUIRE(fd >= 0);
	close(fd);
	unlink(path);
	write_samples(values, sizeof(values));
	REQUIRE(!wt_trace_open(path, &trace, &err));
	wt_query_init(&query);
	REQUIRE(!wt_cursor_open(trace, &query, &cursor, &err));
	REQUIRE(wt_cursor_next(cursor, &event, &err) == 1);
	text = wt_event_text(&event, WT_SAMPLE_FIELD_VALUES);
	CHECK(text.bytes == sizeof(values) && !memcmp(text.data, values, sizeof(values)));
	show_first(&event);
	REQUIRE(wt_cursor_next(cursor, &event, &err) == 1);
	CHECK_INT(wt_event_text(&event, WT_SAMPLE_FIELD_VALUES).bytes, 0);
	wti_buf_init(&out, 1u << 20);
	wti_event_line(&out, &event, &(struct wti_style){0}, NULL);
	CHECK(!strstr(wti_buf_cstr(&out), "values"));
	wti_buf_release(&out);
	wt_cursor_free(cursor);
	wt_trace_free(trace);
	unlink(path);
}

static const struct test tests[] = {
	{"shown_in_hexadecimal", test_shown_in_hexadecimal},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
