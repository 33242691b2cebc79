/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ten events from the middle of a trace: how long from nothing to the tenth, with the index and
 * after it has been cut off. The page cache is warmed by a first look that is not counted.
 *
 * usage: query STREAM.wt COPY.wt
 *
 * COPY.wt is made from STREAM.wt without its index and footer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wheeltap/trace.h>

#include "bench.h"

#define REPEATS 9

static double ten_from_the_middle(const char *path)
{
	struct wt_trace *trace = NULL;
	struct wt_cursor *cursor = NULL;
	struct wt_query query;
	struct wt_event event;
	struct wt_err err = {0};
	uint64_t begin_ns = now_ns();
	const struct wt_reader *reader;
	const struct wt_block *block;
	int got = 0;

	if (wt_trace_open(path, &trace, &err))
		goto fail;
	reader = wt_trace_stream(trace, 0);
	block = wt_reader_block(reader, wt_reader_block_count(reader) / 2);
	wt_query_init(&query);
	query.from_ns = wt_trace_ns(trace, 0, block->time_min / 2 + block->time_max / 2);
	if (wt_cursor_open(trace, &query, &cursor, &err))
		goto fail;
	while (got < 10 && wt_cursor_next(cursor, &event, &err) == 1)
		got++;
	wt_cursor_free(cursor);
	wt_trace_free(trace);
	if (got == 10)
		return (double)(now_ns() - begin_ns) / 1e6;
fail:
	fprintf(stderr, "query: '%s': %s\n", path, err.message);
	exit(1);
}

static double median_ms(const char *path)
{
	double times[REPEATS];

	ten_from_the_middle(path);
	for (int i = 0; i < REPEATS; i++)
		times[i] = ten_from_the_middle(path);
	return median(times, REPEATS);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	printf("10 events from the middle, with index     %8.2f ms\n", median_ms(argv[1]));
	printf("the same, index to be rebuilt             %8.2f ms\n", median_ms(argv[2]));
	return 0;
}
