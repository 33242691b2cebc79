/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmarks of emitting share: the bare loop that all are measured against, and medians.
 */
#ifndef WTI_BENCH_H
#define WTI_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

enum { ROUNDS = 201, BURST_DEFAULT = 16384, RING_BYTES = 1 << 20 };

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static inline double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return values[count / 2];
}

static inline double per_event(uint64_t begin_ns, unsigned burst)
{
	return (double)(now_ns() - begin_ns) / burst;
}

/* The least that any tracer must do, round and round in a buffer of the size of a ring. */
static inline double bare(uint64_t *buffer, uint64_t *position, unsigned burst)
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

/* Time for whoever drains. */
static inline void rest(void)
{
	const struct timespec time = {.tv_nsec = 4000000};

	nanosleep(&time, NULL);
}

static inline void print_head(const char *what, unsigned burst)
{
	printf("%s, bursts of %u, medians of %d\n", what, burst, ROUNDS);
}

static inline void print_cost(const char *what, double *costs, double *base)
{
	double cost = median(costs, ROUNDS);

	printf("  %-26s %7.2f ns  %5.2fx\n", what, cost, cost / median(base, ROUNDS));
}

#endif
