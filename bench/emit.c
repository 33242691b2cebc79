/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an event costs the program that emits it, time stamp included, while a recorder drains: to
 * be run under `wheeltap record` (bench/run-emit does). Bursts of at most half a ring alternate
 * with the same number of rounds of the least that any such thing must do: read the TSC and store
 * 32 bytes. Between bursts the recorder gets time to empty the ring. Prints medians and their
 * ratio.
 *
 * usage: emit [EVENTS_A_BURST]
 */
#include <stdlib.h>
#include <string.h>

#include <wheeltap/wheeltap.h>

#include "bench.h"

static double mark(unsigned burst)
{
	struct wt_name *name = WT_NAME("bench.mark");
	uint64_t begin_ns = now_ns();

	for (unsigned i = 0; i < burst; i++)
		wt_mark(name, i);
	return per_event(begin_ns, burst);
}

static double counter(unsigned burst)
{
	struct wt_name *name = WT_NAME("bench.counter");
	uint64_t begin_ns = now_ns();

	for (unsigned i = 0; i < burst; i++)
		wt_counter(name, i);
	return per_event(begin_ns, burst);
}

static double span(unsigned burst)
{
	struct wt_name *name = WT_NAME("bench.span");
	uint64_t begin_ns = now_ns();

	for (unsigned i = 0; i < burst / 2; i++) {
		wt_span_begin(name);
		wt_span_end(name);
	}
	return per_event(begin_ns, burst);
}

int main(int argc, char **argv)
{
	static double costs[4][ROUNDS];
	unsigned burst = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : BURST_DEFAULT;
	uint64_t *buffer = aligned_alloc(4096, RING_BYTES);
	uint64_t position = 0;

	if (!buffer || burst == 0)
		return 2;
	memset(buffer, 1, RING_BYTES);
	for (int round = -5; round < ROUNDS; round++) {
		int at = round < 0 ? 0 : round;

		costs[0][at] = bare(buffer, &position, burst);
		costs[1][at] = mark(burst);
		rest();
		costs[2][at] = counter(burst);
		rest();
		costs[3][at] = span(burst);
		rest();
	}
	print_head(wt_recording() ? "wheeltap, recording" : "wheeltap, not recording", burst);
	print_cost("bare TSC + 32-byte store", costs[0], costs[0]);
	print_cost("wt_mark", costs[1], costs[0]);
	print_cost("wt_counter", costs[2], costs[0]);
	print_cost("wt_span_begin/end, each", costs[3], costs[0]);
	free(buffer);
	return 0;
}
