/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast tensors are digested, as shares of what memcpy does in the same run on data larger than
 * the caches: the hash alone, and hash with statistics, for every element type and instruction set;
 * samples with their sketch; then what one small tensor costs. Rounds are interleaved. Measured in
 * CPU time of this thread, which other work on the machine disturbs less.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wheeltap/kinds.h>

#include "digest/digest.h"
#include "digest/sample.h"

enum { ROUNDS = 9, SETS = 3, DTYPES = WT_DTYPE_F8E8M0 + 1, BATCH = 20000, SIZES = 5 };

static const size_t data_bytes = 256u << 20;
static const size_t small_counts[SIZES] = {1, 64, 100, 1024, 4096};
static const char *const dtype_names[DTYPES] = {
	"",       "bool",   "u8",  "i8",         "u16",        "i16",    "u32", "i32",
	"u64",    "i64",    "f16", "bf16",       "f32",        "f64",    "c64", "c128",
	"f8e4m3", "f8e5m2", "c32", "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0",
};
static const char *const set_names[SETS] = {"plain", "avx2", "avx512"};

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

static double rate(uint64_t begin_ns, size_t bytes)
{
	return (double)bytes / (double)(cpu_ns() - begin_ns);
}

static double copy_rate(char *to, const void *from)
{
	uint64_t begin_ns = cpu_ns();

	memcpy(to, from, data_bytes);
	__asm__ volatile("" ::"r"(to) : "memory");
	return rate(begin_ns, data_bytes);
}

static double hash_rate(enum wti_digest_set set, const void *data)
{
	uint64_t begin_ns = cpu_ns();
	volatile uint64_t hash = wti_digest_hash_on(set, data, data_bytes);

	(void)hash;
	return rate(begin_ns, data_bytes);
}

static double digest_rate(enum wti_digest_set set, const void *data, uint32_t dtype, size_t bytes)
{
	uint64_t begin_ns = cpu_ns();
	struct wt_digest digest;

	wti_digest_on(set, data, dtype, bytes / wti_dtype_bytes(dtype), &digest);
	return rate(begin_ns, bytes);
}

static void put_nowhere(void *self, uint32_t first, const void *values, uint32_t bytes)
{
	__asm__ volatile("" ::"r"(values) : "memory");
}

/* 256 elements, and the sketch of all. */
static double sample_rate(const void *data, uint32_t dtype, size_t bytes)
{
	static struct wti_sampler sampler;
	uint64_t begin_ns = cpu_ns();

	wti_sampler_begin(&sampler, dtype, bytes / wti_dtype_bytes(dtype), 256);
	sampler.put = put_nowhere;
	wti_sampler_take(&sampler, data, bytes);
	wti_sampler_end(&sampler);
	return rate(begin_ns, bytes);
}

static void measure_samples(const void *data, char *copy)
{
	static const uint32_t dtypes[] = {WT_DTYPE_F64, WT_DTYPE_F32, WT_DTYPE_BF16, WT_DTYPE_F16,
					  WT_DTYPE_F8E4M3};
	static double rates[sizeof(dtypes) / sizeof(dtypes[0])][ROUNDS], copied[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		copied[round] = copy_rate(copy, data);
		for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
			rates[i][round] = sample_rate(data, dtypes[i], data_bytes / 4);
	}
	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		double value = median(rates[i]);

		printf("samples %-13s %7.2f GB/s  %.2f of memcpy\n", dtype_names[dtypes[i]], value,
		       value / median(copied));
	}
}

static double small_ns(const void *data, size_t count)
{
	uint64_t begin_ns = cpu_ns();
	struct wt_digest digest;

	for (int i = 0; i < BATCH; i++) {
		wti_digest(data, WT_DTYPE_F32, count, &digest);
		__asm__ volatile("" ::"r"(&digest) : "memory");
	}
	return (double)(cpu_ns() - begin_ns) / BATCH;
}

static void print_rate(int set, const char *what, double value, double base)
{
	printf("%-7s %-13s %7.2f GB/s  %.2f of memcpy\n", set_names[set], what, value,
	       value / base);
}

static void measure_large(const void *data, char *copy, bool all)
{
	static double copied[ROUNDS], hashed[SETS][ROUNDS], digested[SETS][DTYPES][ROUNDS];
	const size_t others = data_bytes / 4; /* still larger than the caches */
	double base;

	for (int round = 0; round < ROUNDS; round++) {
		copied[round] = copy_rate(copy, data);
		for (int set = 0; set < SETS; set++) {
			hashed[set][round] = hash_rate(set, data);
			digested[set][WT_DTYPE_F32][round] =
				digest_rate(set, data, WT_DTYPE_F32, data_bytes);
			for (uint32_t dtype = 1; all && dtype < DTYPES; dtype++)
				if (dtype != WT_DTYPE_F32)
					digested[set][dtype][round] =
						digest_rate(set, data, dtype, others);
		}
	}
	base = median(copied);
	printf("memcpy %22.2f GB/s\n", base);
	for (int set = 0; set < SETS; set++)
		print_rate(set, "hash alone", median(hashed[set]), base);
	for (uint32_t dtype = 1; dtype < DTYPES; dtype++)
		for (int set = 0; set < SETS && (all || dtype == WT_DTYPE_F32); set++)
			print_rate(set, dtype_names[dtype], median(digested[set][dtype]), base);
}

static void measure_small(const void *data)
{
	static double costs[SIZES][ROUNDS];

	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < SIZES; i++)
			costs[i][round] = small_ns(data, small_counts[i]);
	for (int i = 0; i < SIZES; i++)
		printf("f32 x %-6zu %17.1f ns\n", small_counts[i], median(costs[i]));
}

/* usage: bench_digest [short]   short: floats only */
int main(int argc, char **argv)
{
	uint8_t *data = aligned_alloc(4096, data_bytes);
	char *copy = aligned_alloc(4096, data_bytes);

	(void)argv;
	if (!data || !copy)
		return 4;
	for (size_t i = 0; i < data_bytes; i++)
		data[i] = (uint8_t)(0x30 + i * 37 % 0x1f); /* finite in every type */
	memset(copy, 1, data_bytes);
	measure_large(data, copy, argc < 2);
	measure_samples(data, copy);
	measure_small(data);
	free(data);
	free(copy);
	return 0;
}
