/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of a tensor: which kernel, which element type, and the merge of blocks. Hides which
 * instruction set does the work.
 */
#include "digest.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

#include "digest_types.h"

enum { WIDE_BYTES_MIN = 256 << 10 };

size_t wti_dtype_bytes(uint32_t dtype)
{
	static const uint8_t bytes[] = {
		[WT_DTYPE_BOOL] = 1,       [WT_DTYPE_U8] = 1,         [WT_DTYPE_I8] = 1,
		[WT_DTYPE_U16] = 2,        [WT_DTYPE_I16] = 2,        [WT_DTYPE_U32] = 4,
		[WT_DTYPE_I32] = 4,        [WT_DTYPE_U64] = 8,        [WT_DTYPE_I64] = 8,
		[WT_DTYPE_F16] = 2,        [WT_DTYPE_BF16] = 2,       [WT_DTYPE_F32] = 4,
		[WT_DTYPE_F64] = 8,        [WT_DTYPE_C32] = 4,        [WT_DTYPE_C64] = 8,
		[WT_DTYPE_C128] = 16,      [WT_DTYPE_F8E4M3] = 1,     [WT_DTYPE_F8E5M2] = 1,
		[WT_DTYPE_F8E4M3FNUZ] = 1, [WT_DTYPE_F8E5M2FNUZ] = 1, [WT_DTYPE_F8E8M0] = 1,
	};

	return dtype < sizeof(bytes) ? bytes[dtype] : 0;
}

uint32_t wti_dtype_real(uint32_t dtype)
{
	switch (dtype) {
	case WT_DTYPE_C32:
		return WT_DTYPE_F16;
	case WT_DTYPE_C64:
		return WT_DTYPE_F32;
	case WT_DTYPE_C128:
		return WT_DTYPE_F64;
	default:
		return dtype;
	}
}

/* ---- Parts ----------------------------------------------------------------------------------- */

void wti_part_merge(struct wti_part *total, const struct wti_part *part)
{
	double n = (double)total->count;
	double n_part = (double)part->count;
	double all = n + n_part;
	double distance = part->mean - total->mean;

	total->nan += part->nan;
	total->inf += part->inf;
	total->zeros += part->zeros;
	if (part->count == 0)
		return;
	if (total->count == 0) {
		total->min = part->min;
		total->max = part->max;
		total->mean = part->mean;
		total->m2 = part->m2;
		total->count = part->count;
		return;
	}
	total->min = part->min < total->min ? part->min : total->min;
	total->max = part->max > total->max ? part->max : total->max;
	total->mean = total->mean + distance * n_part / all;
	total->m2 = (total->m2 + part->m2) + distance * distance * n * n_part / all;
	total->count += part->count;
}

/* One zero and one NaN, whatever arithmetic left. */
static double plain(double value)
{
	if (value == 0)
		return 0;
	return __builtin_isnan(value) ? __builtin_nan("") : value;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static wti_digest_kernel *kernel_for(enum wti_digest_set set)
{
#if defined(__x86_64__)
	if (set == WTI_DIGEST_AVX512 && __builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi"))
		return wti_digest_avx512;
	if (set >= WTI_DIGEST_AVX2 && __builtin_cpu_supports("avx2"))
		return wti_digest_avx2;
#endif
	(void)set;
	return wti_digest_plain;
}

/* `hash` NULL: it is to be computed. */
static bool digest_with(enum wti_digest_set set, const struct wti_digest_source *source,
			const void *data, const uint64_t *hash, struct wt_digest *ret)
{
	const size_t size = wti_dtype_bytes(source->dtype);
	const uint32_t real = wti_dtype_real(source->dtype);
	const bool is_complex = real != source->dtype;
	const struct wti_reals reals = {
		.data = data,
		.next = source->next,
		.self = source->self,
		.dtype = real,
		.size = (uint32_t)(is_complex ? size / 2 : size),
		.count = is_complex ? 2 * source->count : source->count,
	};
	struct wti_part total = {0};

	*ret = (struct wt_digest){.count = source->count, .hash = hash ? *hash : 0};
	if (size == 0)
		return true;
	if (!kernel_for(set)(&reals, source->is_hash_alone ? NULL : &total,
			     hash ? NULL : &ret->hash))
		return false;
	if (total.count == 0) /* the extremes of nothing are infinite */
		total.min = total.max = 0;
	ret->nan = total.nan;
	ret->inf = total.inf;
	ret->zeros = total.zeros;
	ret->min = plain(total.min);
	ret->max = plain(total.max);
	ret->mean = plain(total.mean);
	ret->m2 = plain(total.m2);
	return true;
}

/*
 * The program may flush denormals, round otherwise or trap; a digest must not depend on it, and
 * must leave no trace in the flags that programs look at. To write the mode costs more than to read
 * it.
 */
static bool digest_in_own_mode(enum wti_digest_set set, const struct wti_digest_source *source,
			       const void *data, const uint64_t *hash, struct wt_digest *ret)
{
	bool done;
#if defined(__x86_64__)
	const unsigned mode = _mm_getcsr();

	if ((mode & ~0x3fu) != 0x1f80)
		_mm_setcsr(0x1f80);
	done = digest_with(set, source, data, hash, ret);
	if (_mm_getcsr() != mode)
		_mm_setcsr(mode);
#else
	fenv_t mode;

	fegetenv(&mode);
	fesetenv(FE_DFL_ENV);
	done = digest_with(set, source, data, hash, ret);
	fesetenv(&mode);
#endif
	return done;
}

void wti_digest_on(enum wti_digest_set set, const void *data, uint32_t dtype, uint64_t count,
		   struct wt_digest *ret)
{
	const struct wti_digest_source source = {.dtype = dtype, .count = count};

	digest_in_own_mode(set, &source, count ? data : "", NULL, ret);
}

uint64_t wti_digest_hash_on(enum wti_digest_set set, const void *data, size_t bytes)
{
	const struct wti_reals reals = {
		.data = bytes ? data : "", .dtype = WT_DTYPE_U8, .size = 1, .count = bytes};
	uint64_t hash = 0;

	kernel_for(set)(&reals, NULL, &hash);
	return hash;
}

/*
 * The 512-bit units of a processor are powered down when idle. Powering them up slows the whole
 * core, the program's own code included, for about 15 us (measured on a program that did not use
 * them). So they are used only for work that takes longer than that.
 */
static enum wti_digest_set set_for(uint64_t bytes)
{
	return bytes >= WIDE_BYTES_MIN ? WTI_DIGEST_AVX512 : WTI_DIGEST_AVX2;
}

void wti_digest(const void *data, uint32_t dtype, uint64_t count, struct wt_digest *ret)
{
	wti_digest_on(set_for(count * wti_dtype_bytes(dtype)), data, dtype, count, ret);
}

void wti_digest_hashed(const void *data, uint32_t dtype, uint64_t count, uint64_t hash,
		       struct wt_digest *ret)
{
	const struct wti_digest_source source = {.dtype = dtype, .count = count};

	digest_in_own_mode(WTI_DIGEST_AVX2, &source, count ? data : "", &hash, ret);
}

uint64_t wti_digest_hash(const void *data, size_t bytes)
{
	return wti_digest_hash_on(set_for(bytes), data, bytes);
}

bool wti_digest_from(const struct wti_digest_source *source, struct wt_digest *ret)
{
	const enum wti_digest_set set = set_for(source->count * wti_dtype_bytes(source->dtype));

	return digest_in_own_mode(set, source, NULL, NULL, ret);
}
