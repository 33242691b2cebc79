/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples and sketches: places as documented, the same whatever the pieces and the instruction set,
 * against a plain computation of the definition.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "digest/digest.h"
#include "digest/sample.h"

static int count_of_checks, failures;

static void check(bool holds, const char *what)
{
	printf("%s %d - %s\n", holds ? "ok" : "not ok", ++count_of_checks, what);
	failures += !holds;
}

struct taken {
	char bytes[1 << 16];
	uint32_t used;
	uint32_t calls;
	uint32_t next; /* number of the element that is to come */
	uint32_t item_bytes;
	bool in_order;
};

static void put(void *self, uint32_t first, const void *values, uint32_t bytes)
{
	struct taken *taken = self;

	taken->in_order &= first == taken->next && bytes <= WTI_SAMPLE_BYTES;
	memcpy(taken->bytes + taken->used, values, bytes);
	taken->used += bytes;
	taken->next += bytes / taken->item_bytes;
	taken->calls++;
}

static void sample(struct wti_sampler *sampler, struct taken *taken, uint32_t dtype,
		   const char *data, size_t count, uint32_t elements, size_t piece)
{
	const size_t size = wti_dtype_bytes(dtype);

	memset(taken, 0, sizeof(*taken));
	taken->in_order = true;
	taken->item_bytes = (uint32_t)size;
	wti_sampler_begin(sampler, dtype, count, elements);
	sampler->put = put;
	sampler->self = taken;
	for (size_t at = 0; at < count; at += piece)
		wti_sampler_take(sampler, data + at * size,
				 (count - at < piece ? count - at : piece) * size);
	wti_sampler_end(sampler);
}

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* By the definition, in a wider type. */
static void expect(const double *reals, size_t count, long double ret[64])
{
	for (int b = 0; b < 64; b++)
		ret[b] = 0;
	for (size_t i = 0; i < count; i++)
		if (isfinite(reals[i]))
			ret[i % 64] += mix(i / 64) >> i % 64 & 1 ? -(long double)reals[i]
								 : (long double)reals[i];
}

static bool is_near(const struct wti_sketched *sketch, const long double *expected, double within)
{
	for (int b = 0; b < 64; b++)
		if (fabsl((long double)sketch->sum[b] - expected[b]) >
		    within * (fabsl(expected[b]) + 1e-3L))
			return false;
	return true;
}

enum { COUNT = 5003 };

static double wide[COUNT];
static float narrow[COUNT];
static struct wti_sampler sampler, other;
static struct taken taken, again;

static void check_places(void)
{
	bool are_right = true;

	sample(&sampler, &taken, WT_DTYPE_F64, (const char *)wide, COUNT, 700, COUNT);
	for (uint32_t j = 0; j < 700; j++)
		are_right &= memcmp(taken.bytes + 8 * j,
				    &wide[(2 * (uint64_t)j + 1) * COUNT / 1400], 8) == 0;
	check(are_right && taken.next == 700 && taken.in_order && taken.calls == 2,
	      "elements at fixed places, in events of at most 4096 bytes");
	sample(&sampler, &taken, WT_DTYPE_F32, (const char *)narrow, 700, 700, 700);
	check(!sampler.has_sketch && memcmp(taken.bytes, narrow, 700 * sizeof(float)) == 0,
	      "all of a small value, and no sketch");
	check(wti_sample_place(UINT64_MAX / 2, 256, 255) < UINT64_MAX / 2,
	      "places of the largest value");
}

static void check_sketch(void)
{
	static const size_t pieces[] = {1, 7, 63, 64, 65, 1000, 4096};
	long double expected[64];
	double reals[COUNT];
	bool are_same = true;

	expect(wide, COUNT, expected);
	sample(&sampler, &taken, WT_DTYPE_F64, (const char *)wide, COUNT, 16, COUNT);
	check(is_near(&sampler.sketch, expected, 3e-16), "doubles, added up exactly");
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		sample(&other, &again, WT_DTYPE_F64, (const char *)wide, COUNT, 16, pieces[i]);
		are_same &= memcmp(&sampler.sketch.sum, &other.sketch.sum, 512) == 0 &&
			    memcmp(taken.bytes, again.bytes, taken.used) == 0;
	}
	check(are_same, "whatever the pieces");
	for (size_t i = 0; i < COUNT; i++)
		reals[i] = (double)narrow[i];
	expect(reals, COUNT, expected);
	sample(&sampler, &taken, WT_DTYPE_F32, (const char *)narrow, COUNT, 16, 777);
	check(is_near(&sampler.sketch, expected, 1e-12), "floats");
	expect(reals, COUNT - 1, expected);
	sample(&sampler, &taken, WT_DTYPE_C64, (const char *)narrow, COUNT / 2, 16, 100);
	check(is_near(&sampler.sketch, expected, 1e-12), "complex ones are two reals each");
}

static void check_sets(void)
{
	static const uint32_t dtypes[] = {WT_DTYPE_F64, WT_DTYPE_F32,    WT_DTYPE_BF16,
					  WT_DTYPE_F16, WT_DTYPE_F8E4M3, WT_DTYPE_F8E5M2};
	bool are_same = true;

	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		struct wti_sketched plain = {0}, vector = {0};
		size_t count = COUNT * sizeof(float) / 8;

		wti_sketch_plain(&plain, narrow, dtypes[i], 5, count);
#if defined(__x86_64__)
		if (__builtin_cpu_supports("avx2"))
			wti_sketch_avx2(&vector, narrow, dtypes[i], 5, count);
		else
			vector = plain;
#else
		vector = plain;
#endif
		are_same &= memcmp(&plain, &vector, sizeof(plain)) == 0;
	}
	check(are_same, "whatever the instruction set");
	check(wti_sample_wants(WT_DTYPE_BF16) && wti_sample_wants(WT_DTYPE_C128) &&
		      !wti_sample_wants(WT_DTYPE_I64) && !wti_sample_wants(WT_DTYPE_BOOL) &&
		      !wti_sample_wants(WT_DTYPE_OTHER),
	      "floating types alone");
}

/* The norm of a difference: 64 sums estimate it within some sqrt(2 / 64). */
static void check_norm(void)
{
	double norm = 0, estimate = 0;

	sample(&sampler, &taken, WT_DTYPE_F64, (const char *)wide, COUNT, 16, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		double old = wide[i];

		wide[i] *= 1 + ((double)(mix(i + 99) >> 11) * 0x1p-53 - 0.5) * 1e-9;
		if (isfinite(wide[i]))
			norm += (wide[i] - old) * (wide[i] - old);
	}
	sample(&other, &again, WT_DTYPE_F64, (const char *)wide, COUNT, 16, COUNT);
	for (int b = 0; b < 64; b++)
		estimate += pow(sampler.sketch.sum[b] - other.sketch.sum[b], 2);
	check(estimate > 0.3 * norm && estimate < 2 * norm, "the norm of a difference");
}

int main(void)
{
	for (size_t i = 0; i < COUNT; i++) {
		wide[i] = (double)(mix(i) >> 11) * 0x1p-53 - 0.3;
		narrow[i] = (float)wide[i];
	}
	wide[17] = narrow[17] = INFINITY;
	wide[4000] = narrow[4000] = NAN;
	check_places();
	check_sketch();
	check_sets();
	check_norm();
	printf("1..%d\n", count_of_checks);
	return failures != 0;
}
