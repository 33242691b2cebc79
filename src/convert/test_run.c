/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how a run without a recorder looks: one stream, one track, times by how long tests took. */
#include "test_run.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/folder.h"
#include "base/map.h"
#include "run_json.h"

#define TRACK 1
#define STRINGS_MAX (4 * (size_t)WTI_TESTS_MAX)

struct writing {
	struct wt_writer *writer;
	struct wti_map strings;
	uint64_t seq;
	uint64_t now_ns;
	int failed;
};

static uint64_t string(struct writing *w, const char *text)
{
	size_t before = w->strings.count;
	uint64_t *slot = *text ? wti_map_text(&w->strings, text, strlen(text)) : NULL;

	if (!slot)
		return 0;
	if (w->strings.count > before) {
		*slot = w->strings.count;
		wt_writer_string(w->writer, (uint32_t)*slot, text, strlen(text));
	}
	return *slot;
}

static void append(struct writing *w, const struct wti_test *test)
{
	uint64_t values[WT_CHECK_FIELD_DURATION + 1] = {
		[WT_CHECK_FIELD_NAME] = string(w, test->name),
		[WT_CHECK_FIELD_STATUS] = test->status,
		[WT_CHECK_FIELD_COMPARATOR] = test->comparator,
		[WT_CHECK_FIELD_UNIT] = string(w, test->unit),
		[WT_CHECK_FIELD_FILE] = string(w, test->file),
		[WT_CHECK_FIELD_LINE] = test->line,
		[WT_CHECK_FIELD_N] = test->n,
		[WT_CHECK_FIELD_DURATION] = (uint64_t)test->duration_ns};
	const struct wt_text texts[] = {{test->expected, strlen(test->expected)},
					{test->actual, strlen(test->actual)},
					{test->detail, strlen(test->detail)}};
	int r;

	memcpy(&values[WT_CHECK_FIELD_TOLERANCE], &test->tolerance, sizeof(double));
	if (test->duration_ns > 0)
		w->now_ns += (uint64_t)test->duration_ns;
	r = wt_writer_append(w->writer, WT_KIND_CHECK, TRACK, ++w->seq, w->now_ns, values,
			     sizeof(values) / sizeof(*values), texts);
	w->failed = w->failed ? w->failed : r;
}

/* *ret_ns: how long they took together. */
static int write_stream(const char *path, const struct wti_tests *tests, uint64_t *ret_ns,
			struct wt_err *err)
{
	const struct wt_track track = {
		.id = TRACK, .type = WT_TRACK_THREAD, .name = "tests", .name_bytes = 5};
	struct wt_writer_options options;
	struct writing w = {.now_ns = 1};
	int r;

	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_MONOTONIC;
	snprintf(options.identity.command, sizeof(options.identity.command), "tests");
	r = wt_writer_create(path, &options, &w.writer, err);
	if (r)
		return r;
	wti_map_init(&w.strings, STRINGS_MAX);
	wt_writer_track(w.writer, &track);
	for (size_t i = 0; i < tests->count; i++)
		append(&w, &tests->items[i]);
	r = w.failed ? wti_err(err, w.failed, "cannot write '%.200s'", path)
		     : wt_writer_finish(w.writer, err);
	*ret_ns = w.now_ns;
	wt_writer_free(w.writer);
	wti_map_release(&w.strings);
	return r;
}

static int write_json(const char *folder, const char *source, int64_t start_ns,
		      uint64_t duration_ns, const struct wti_tests *tests, struct wt_err *err)
{
	struct wti_tests_count count = wti_tests_count(tests);
	bool failed =
		count.by_status[WT_CHECK_STATUS_FAILED] || count.by_status[WT_CHECK_STATUS_ERROR];
	const struct wti_run_facts facts = {.source = source,
					    .status = failed ? WTI_RUN_FAILED : WTI_RUN_FINISHED,
					    .start_ns = start_ns,
					    .duration_ns = duration_ns,
					    .events = tests->count};

	return wti_run_json_write(folder, &facts, err);
}

int wti_test_run_write(const char *folder, const char *source, int64_t start_ns,
		       const struct wti_tests *tests, struct wt_err *err)
{
	char stream[PATH_MAX + 16];
	struct wti_folder made;
	uint64_t duration_ns = 0;
	int r = wti_folder_make(&made, folder, err);

	if (r)
		return r;
	snprintf(stream, sizeof(stream), "%s/0000.wt", folder);
	r = write_stream(stream, tests, &duration_ns, err);
	r = r ? r : write_json(folder, source, start_ns, duration_ns, tests, err);
	if (r) {
		unlink(stream);
		wti_folder_unmake(&made);
	}
	return r;
}
