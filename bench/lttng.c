/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The peer: the same burst of events through an LTTng-UST tracepoint, beside the same bare loop.
 * bench/run-emit starts a session with its defaults around it.
 *
 * usage: lttng [EVENTS_A_BURST]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_provider.h"

#include "bench.h"

static double emit_burst(unsigned burst)
{
	uint64_t begin_ns = now_ns();

	for (unsigned i = 0; i < burst; i++)
		lttng_ust_tracepoint(wheeltap_bench, mark, 1, i);
	return per_event(begin_ns, burst);
}

int main(int argc, char **argv)
{
	static double costs[2][ROUNDS];
	unsigned burst = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : BURST_DEFAULT;
	uint64_t *buffer = aligned_alloc(4096, RING_BYTES);
	uint64_t position = 0;

	if (!buffer || burst == 0)
		return 2;
	memset(buffer, 1, RING_BYTES);
	for (int round = -5; round < ROUNDS; round++) {
		int at = round < 0 ? 0 : round;

		costs[0][at] = bare(buffer, &position, burst);
		costs[1][at] = emit_burst(burst);
		rest();
	}
	print_head("LTTng-UST", burst);
	print_cost("bare TSC + 32-byte store", costs[0], costs[0]);
	print_cost("lttng_ust_tracepoint", costs[1], costs[0]);
	free(buffer);
	return 0;
}
