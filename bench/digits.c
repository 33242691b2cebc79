/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging runs element by element, beside memcpy of the same bytes.
 *
 * usage: digits [CALLS [ELEMENTS [RUNS]]]; 10000 1000000 5 is the full size, the default a short
 * one.
 *
 * Values are made once and lie in memory, so that nothing but the merge is measured; each call
 * takes them at another offset. Both take turns, call by call, so that a busy machine slows
 * both. Prints seconds, gigabytes per second of both, the ratio and the
 * memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <wheeltap/kinds.h>

#include "inspect/digits/merge.h"

#define OFFSETS 64u

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fill(double *values, size_t count, unsigned run)
{
	uint64_t state = 88172645463325252u + run;

	for (size_t i = 0; i < count; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		values[i] = (double)(i % 1000 + 1) * (1 + 1e-12 * (double)(state >> 44));
	}
}

int main(int argc, char **argv)
{
	size_t calls = argc > 1 ? strtoull(argv[1], NULL, 10) : 20;
	size_t elements = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
	unsigned runs = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 5;
	double *values[64], *copy = malloc((elements + OFFSETS) * sizeof(double));
	double bytes = (double)(calls * elements * sizeof(double)) * runs, copied = 0, merged = 0;
	double begin;
	struct wti_spread spread = {0};
	const void *at[64];
	struct rusage usage;
	double left = 0;

	if (!copy || !runs || runs > 64)
		return 1;
	for (unsigned r = 0; r < runs; r++) {
		values[r] = malloc((elements + OFFSETS) * sizeof(double));
		if (!values[r])
			return 1;
		fill(values[r], elements + OFFSETS, r);
	}
	memset(copy, 1, (elements + OFFSETS) * sizeof(double));
	for (size_t i = 0; i < calls; i++) {
		begin = now();
		for (unsigned r = 0; r < runs; r++) {
			memcpy(copy, values[r] + i % OFFSETS, elements * sizeof(double));
			left += copy[i % elements];
		}
		copied += now() - begin;
		begin = now();
		for (unsigned r = 0; r < runs; r++)
			at[r] = values[r] + i % OFFSETS;
		memset(&spread, 0, sizeof(spread));
		wti_merge(&spread, WT_DTYPE_F64, at, runs, elements);
		left += wti_spread_norm(&spread);
		merged += now() - begin;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%zu calls x %zu elements x %u runs, %.1f GB\n", calls, elements, runs,
	       bytes * 1e-9);
	printf("memcpy %.3f s  %.2f GB/s\n", copied, bytes * 1e-9 / copied);
	printf("merge  %.3f s  %.2f GB/s\n", merged, bytes * 1e-9 / merged);
	printf("ratio  %.2f of memcpy's speed\n", copied / merged);
	printf("memory %zu bytes of state; %ld MB in all, of which %.0f MB are the values\n",
	       sizeof(spread), usage.ru_maxrss / 1024,
	       (double)((elements + OFFSETS) * sizeof(double)) * (runs + 1) / 1048576);
	return left == 0.5;
}
