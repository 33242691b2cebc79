/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast tensors are digested, as shares of what memcpy does in the same run on data larger than
 * the caches: the hash alone, and hash with statistics for floats and doubles. Measured in CPU time
 * of this thread, which other work on the machine disturbs less.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <wheeltap/kinds.h>

#include "common/digest.h"

enum { ROUNDS = 9 };

static const size_t data_bytes = 256u << 20;

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double rate(uint64_t begin_ns)
{
	return (double)data_bytes / (double)(cpu_ns() - begin_ns);
}

static double digest_rate(enum wti_digest_set set, const void *data, uint32_t dtype)
{
	uint64_t begin_ns = cpu_ns();
	struct wt_digest digest;

	wti_digest_on(set, data, dtype, data_bytes / (dtype == WT_DTYPE_F32 ? 4 : 8), &digest);
	return rate(begin_ns);
}

int main(void)
{
	float *data = aligned_alloc(64, data_bytes);
	char *copy = aligned_alloc(64, data_bytes);
	double copied[ROUNDS], hashed[ROUNDS], f32[3][ROUNDS], f64[3][ROUNDS];
	static const char *const names[] = {"plain", "avx2", "avx512"};
	volatile uint64_t sink = 0;

	if (!data || !copy)
		return 4;
	for (size_t i = 0; i < data_bytes / sizeof(*data); i++)
		data[i] = (float)(i % 1013) * 0.001f + 1.0f; /* finite also as doubles */
	memset(copy, 1, data_bytes);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin_ns = cpu_ns();

		memcpy(copy, data, data_bytes);
		__asm__ volatile("" ::"r"(copy) : "memory");
		copied[round] = rate(begin_ns);
		begin_ns = cpu_ns();
		sink += XXH3_64bits(data, data_bytes);
		hashed[round] = rate(begin_ns);
		for (int set = 0; set < 3; set++) {
			f32[set][round] = digest_rate(set, data, WT_DTYPE_F32);
			f64[set][round] = digest_rate(set, data, WT_DTYPE_F64);
		}
	}
	printf("memcpy          %6.2f GB/s\n", median(copied));
	printf("XXH3, one shot  %6.2f GB/s  %.2f of memcpy\n", median(hashed),
	       hashed[ROUNDS / 2] / copied[ROUNDS / 2]);
	for (int set = 0; set < 3; set++)
		printf("digest %-7s  f32 %6.2f GB/s  %.2f of memcpy   f64 %6.2f GB/s  %.2f of "
		       "memcpy\n",
		       names[set], median(f32[set]), f32[set][ROUNDS / 2] / copied[ROUNDS / 2],
		       median(f64[set]), f64[set][ROUNDS / 2] / copied[ROUNDS / 2]);
	free(data);
	free(copy);
	return 0;
}
