/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampled elements and the sketch of a value that goes by: which kernel, which places, and pieces
 * that end anywhere.
 */
#include "sample.h"

#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

#include "digest.h"

bool wti_sample_wants(uint32_t dtype)
{
	switch (wti_dtype_real(dtype)) {
	case WT_DTYPE_F16:
	case WT_DTYPE_BF16:
	case WT_DTYPE_F32:
	case WT_DTYPE_F64:
	case WT_DTYPE_F8E4M3:
	case WT_DTYPE_F8E5M2:
	case WT_DTYPE_F8E4M3FNUZ:
	case WT_DTYPE_F8E5M2FNUZ:
	case WT_DTYPE_F8E8M0:
		return true;
	}
	return false;
}

uint64_t wti_sample_place(uint64_t count, uint32_t n, uint32_t j)
{
	unsigned __int128 twice = (unsigned __int128)(2 * (uint64_t)j + 1) * count;

	return count <= n ? j : (uint64_t)(twice / (2 * (uint64_t)n));
}

/* ---- The sketch ------------------------------------------------------------------------------ */

static wti_sketch_kernel *kernel(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return wti_sketch_avx2;
#endif
	return wti_sketch_plain;
}

/* The program's rounding and its treatment of denormals are not ours, and it sees no flag of ours.
 */
static void sketch_in_own_mode(struct wti_sketched *sketch, const void *data, uint32_t dtype,
			       uint64_t first, size_t count)
{
#if defined(__x86_64__)
	const unsigned mode = _mm_getcsr();

	if ((mode & ~0x3fu) != 0x1f80)
		_mm_setcsr(0x1f80);
	kernel()(sketch, data, dtype, first, count);
	if (_mm_getcsr() != mode)
		_mm_setcsr(mode);
#else
	fenv_t mode;

	fegetenv(&mode);
	fesetenv(FE_DFL_ENV);
	kernel()(sketch, data, dtype, first, count);
	fesetenv(&mode);
#endif
}

static void take_sketch(struct wti_sampler *sampler, const void *elements, uint64_t count)
{
	const uint32_t real = wti_dtype_real(sampler->dtype);
	const uint64_t each = real == sampler->dtype ? 1 : 2;

	sketch_in_own_mode(&sampler->sketch, elements, real, sampler->taken * each,
			   (size_t)(count * each));
}

/* ---- Elements -------------------------------------------------------------------------------- */

static void put(struct wti_sampler *sampler)
{
	uint32_t n = sampler->room_used / sampler->item_bytes;

	if (n)
		sampler->put(sampler->self, sampler->next - n, sampler->room, sampler->room_used);
	sampler->room_used = 0;
}

/* The next place, as wti_sample_place() has it, without its division. */
static void advance(struct wti_sampler *sampler)
{
	const uint64_t twice = 2 * (uint64_t)sampler->elements;

	sampler->next++;
	sampler->place += sampler->step;
	sampler->rest += sampler->step_rest;
	if (sampler->rest >= twice) {
		sampler->rest -= twice;
		sampler->place++;
	}
}

static inline __attribute__((always_inline)) void
keep_all(struct wti_sampler *sampler, const char *elements, uint64_t n, uint32_t item_bytes)
{
	while (sampler->next < sampler->elements && sampler->place - sampler->taken < n) {
		if (sampler->room_used + item_bytes > sizeof(sampler->room))
			put(sampler);
		memcpy(sampler->room + sampler->room_used,
		       elements + (sampler->place - sampler->taken) * item_bytes, item_bytes);
		sampler->room_used += item_bytes;
		advance(sampler);
	}
}

/* A copy of a size that is known here is one instruction. */
static void keep(struct wti_sampler *sampler, const char *elements, uint64_t n)
{
	if (sampler->item_bytes == 8)
		keep_all(sampler, elements, n, 8);
	else if (sampler->item_bytes == 4)
		keep_all(sampler, elements, n, 4);
	else
		keep_all(sampler, elements, n, sampler->item_bytes);
}

void wti_sampler_begin(struct wti_sampler *sampler, uint32_t dtype, uint64_t count,
		       uint32_t elements_max)
{
	sampler->dtype = dtype;
	sampler->item_bytes = (uint32_t)wti_dtype_bytes(dtype);
	sampler->count = count;
	sampler->taken = 0;
	sampler->elements = count < elements_max ? (uint32_t)count : elements_max;
	sampler->next = 0;
	if (sampler->elements) {
		sampler->place = wti_sample_place(count, sampler->elements, 0);
		sampler->rest = count % (2 * (uint64_t)sampler->elements);
		sampler->step = count / sampler->elements;
		sampler->step_rest = 2 * (count % sampler->elements);
	}
	sampler->has_sketch = count > sampler->elements;
	sampler->room_used = 0;
	if (sampler->has_sketch)
		memset(&sampler->sketch, 0, sizeof(sampler->sketch));
}

bool wti_sampler_take(void *self, const void *elements, size_t bytes)
{
	struct wti_sampler *sampler = self;
	uint64_t n = bytes / sampler->item_bytes;

	keep(sampler, elements, n);
	if (sampler->has_sketch)
		take_sketch(sampler, elements, n);
	sampler->taken += n;
	return true;
}

void wti_sampler_end(struct wti_sampler *sampler)
{
	put(sampler);
	for (int b = 0; sampler->has_sketch && b < WTI_SKETCH_BUCKETS; b++)
		sampler->sketch.sum[b] += sampler->sketch.rest[b];
}
