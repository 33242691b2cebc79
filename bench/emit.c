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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include <wheeltap/wheeltap.h>

enum { ROUNDS = 201, BURST_DEFAULT = 16384, RING_BYTES = 1 << 20 };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return values[count / 2];
}

static double per_event(uint64_t begin_ns, unsigned burst)
{
	return (double)(now_ns() - begin_ns) / burst;
}

/* The bare loop goes round in a buffer of the size of a ring, as the events do. */
static double bare(uint64_t *buffer, uint64_t *position, unsigned burst)
{
	uint64_t begin_ns = now_ns();

	for (unsigned i = 0; i < burst; i++) {
		uint64_t *at = buffer + (*position & (RING_BYTES / 8 - 1));

		at[0] = 6;
		at[1] = __rdtsc();
		at[2] = 1;
		at[3] = i;
		*position += 4;
		__asm__ volatile("" ::: "memory");
	}
	return per_event(begin_ns, burst);
}

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

static void rest(void)
{
	const struct timespec time = {.tv_nsec = 4000000};

	nanosleep(&time, NULL);
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
	for (int i = 0; i < 4; i++)
		median(costs[i], ROUNDS);
	printf("recording %s, bursts of %u, medians of %d\n", wt_recording() ? "yes" : "no", burst,
	       ROUNDS);
	printf("bare TSC + 32-byte store %6.2f ns\n", costs[0][ROUNDS / 2]);
	printf("wt_mark                  %6.2f ns  %.2fx\n", costs[1][ROUNDS / 2],
	       costs[1][ROUNDS / 2] / costs[0][ROUNDS / 2]);
	printf("wt_counter               %6.2f ns  %.2fx\n", costs[2][ROUNDS / 2],
	       costs[2][ROUNDS / 2] / costs[0][ROUNDS / 2]);
	printf("wt_span_begin/end, each  %6.2f ns  %.2fx\n", costs[3][ROUNDS / 2],
	       costs[3][ROUNDS / 2] / costs[0][ROUNDS / 2]);
	free(buffer);
	return 0;
}
