/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every verb that looks at all events does: open the trace, decode every field, walk through
 * all of it in order. bench/python/reader.py compares the Python package with it.
 *
 * usage: decode RUN
 */
#include <stdio.h>
#include <time.h>

#include <wheeltap/trace.h>

/* Of this process: others on the machine do not count. */
static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
	struct wt_trace *trace = NULL;
	struct wt_cursor *cursor = NULL;
	struct wt_event event;
	struct wt_err err = {0};
	uint64_t begin_ns = cpu_ns(), count = 0, sum = 0;

	if (argc != 2)
		return 2;
	if (wt_trace_open(argv[1], &trace, &err) || wt_cursor_open(trace, NULL, &cursor, &err)) {
		fprintf(stderr, "decode: '%s': %s\n", argv[1], err.message);
		return 1;
	}
	while (wt_cursor_next(cursor, &event, &err) == 1) {
		for (int i = 0; i < event.kind->field_count; i++)
			sum += wt_event_u64(&event, i);
		count++;
	}
	wt_cursor_free(cursor);
	wt_trace_free(trace);
	printf("%llu events %.1f ms %llx\n", (unsigned long long)count,
	       (double)(cpu_ns() - begin_ns) / 1e6, (unsigned long long)sum);
	return 0;
}
