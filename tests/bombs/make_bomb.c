/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a run whose file is small and whose rows are many, with sound checksums: blocks that all
 * cover the same time, so that whoever merges them needs a row of each at once.
 *
 *	make_bomb FOLDER overlap BLOCKS    rows of many columns, all predictable
 *	make_bomb FOLDER text BLOCKS       rows with long texts of one letter
 *	make_bomb FOLDER names COUNT       long names of one letter instead of rows
 *	make_bomb FOLDER ids STREAMS       one row each, of a name that does not exist
 *	make_bomb count FOLDER             how many rows a cursor finds, and whether in their order
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <wheeltap/trace.h>

enum { ROWS = 16384, TEXT_ROWS = 512, TEXT_BYTES = 4096, STEP_NS = 1000 };

static struct wt_writer *out;

static void must(int status)
{
	if (status) {
		fprintf(stderr, "make_bomb: %d\n", status);
		exit(1);
	}
}

static void track(uint32_t id)
{
	char name[16];
	int bytes = snprintf(name, sizeof(name), "t%u", id);

	must(wt_writer_track(out, &(struct wt_track){.id = id,
						     .type = WT_TRACK_THREAD,
						     .tid = id,
						     .name = name,
						     .name_bytes = (size_t)bytes}));
}

/* A block: one track, from the beginning of the run to its end. */
static void overlap(uint32_t id)
{
	uint64_t values[32] = {0};

	for (uint64_t i = 0; i < ROWS; i++)
		must(wt_writer_append(out, WT_KIND_TENSOR, id, i, (i + 1) * STEP_NS, values, 32,
				      NULL));
	must(wt_writer_flush(out, NULL));
}

static void texts(uint32_t id)
{
	static char text[TEXT_BYTES];
	uint64_t values[32] = {[WT_LOG_FIELD_LEVEL] = 1};

	memset(text, 'a', sizeof(text));
	for (uint64_t i = 0; i < TEXT_ROWS; i++)
		must(wt_writer_append(out, WT_KIND_LOG, id, i, (i + 1) * STEP_NS, values, 32,
				      &(struct wt_text){text, sizeof(text)}));
	must(wt_writer_flush(out, NULL));
}

/* Names of one letter, each with a number of its own. */
static void names(uint32_t count)
{
	static char name[TEXT_BYTES];

	memset(name, 'a', sizeof(name));
	for (uint32_t i = 1; i <= count; i++)
		must(wt_writer_string(out, i, name, sizeof(name)));
}

/* A row that names what nothing defines, by a large number. */
static void name_unknown(void)
{
	uint64_t values[32] = {[WT_CALL_BEGIN_FIELD_CALLEE] = (1 << 22) - 1};

	must(wt_writer_append(out, WT_KIND_CALL_BEGIN, 1, 0, STEP_NS, values, 32, NULL));
}

static void make(const char *path, const char *what, uint32_t count)
{
	struct wt_writer_options options;
	struct wt_err err = {0};

	wt_writer_options_init(&options);
	options.level = 9;
	options.identity.pid = 1;
	options.identity.clock = WT_CLOCK_MONOTONIC;
	must(wt_writer_create(path, &options, &out, &err));
	if (!strcmp(what, "names"))
		names(count);
	else if (!strcmp(what, "ids"))
		name_unknown();
	else
		for (uint32_t i = 1; i <= count; i++) {
			track(i);
			if (!strcmp(what, "text"))
				texts(i);
			else
				overlap(i);
		}
	must(wt_writer_finish(out, &err));
	wt_writer_free(out);
}

static bool in_order(const struct wt_event *a, const struct wt_event *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	return a->track != b->track ? a->track < b->track : a->seq < b->seq;
}

static int count_rows(const char *folder)
{
	struct wt_event event, last;
	struct wt_cursor *cursor;
	struct wt_trace *trace;
	struct wt_err err = {0};
	size_t count = 0;
	int more = wt_trace_open(folder, &trace, &err);

	more = more ? more : wt_cursor_open(trace, NULL, &cursor, &err);
	while (!more && (more = wt_cursor_next(cursor, &event, &err)) > 0) {
		if (count++ && !in_order(&last, &event)) {
			printf("row %zu is out of order\n", count);
			return 1;
		}
		last = event;
		more = 0;
	}
	if (more) {
		printf("%s\n", err.message);
		return 1;
	}
	printf("%zu rows\n", count);
	wt_cursor_free(cursor);
	wt_trace_free(trace);
	return 0;
}

int main(int argc, char **argv)
{
	char path[4096];
	int streams;

	if (argc == 3 && !strcmp(argv[1], "count"))
		return count_rows(argv[2]);
	if (argc != 4 || mkdir(argv[1], 0700)) {
		fprintf(stderr, "usage: make_bomb FOLDER overlap|text|names|ids COUNT\n"
				"       make_bomb count FOLDER\n");
		return 2;
	}
	streams = strcmp(argv[2], "ids") ? 1 : atoi(argv[3]);
	for (int i = 0; i < streams; i++) {
		snprintf(path, sizeof(path), "%s/%04d.wt", argv[1], i);
		make(path, argv[2], (uint32_t)atoi(argv[3]));
	}
	return 0;
}
