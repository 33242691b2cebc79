/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of a tensor: which kernel, which element type, and the merge of blocks. Knows how
 * small floats are encoded; hides which instruction set does the work.
 */
#include "digest.h"

#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "digest_types.h"

size_t wti_real_bytes(uint32_t dtype)
{
	static const uint8_t bytes[] = {
		[WT_DTYPE_BOOL] = 1, [WT_DTYPE_U8] = 1,     [WT_DTYPE_I8] = 1,
		[WT_DTYPE_U16] = 2,  [WT_DTYPE_I16] = 2,    [WT_DTYPE_U32] = 4,
		[WT_DTYPE_I32] = 4,  [WT_DTYPE_U64] = 8,    [WT_DTYPE_I64] = 8,
		[WT_DTYPE_F16] = 2,  [WT_DTYPE_BF16] = 2,   [WT_DTYPE_F32] = 4,
		[WT_DTYPE_F64] = 8,  [WT_DTYPE_F8E4M3] = 1, [WT_DTYPE_F8E5M2] = 1,
	};

	return dtype < sizeof(bytes) ? bytes[dtype] : 0;
}

static bool is_complex(uint32_t dtype)
{
	return dtype == WT_DTYPE_C64 || dtype == WT_DTYPE_C128;
}

static uint32_t real_of(uint32_t dtype)
{
	if (!is_complex(dtype))
		return dtype;
	return dtype == WT_DTYPE_C64 ? WT_DTYPE_F32 : WT_DTYPE_F64;
}

size_t wti_dtype_bytes(uint32_t dtype)
{
	return wti_real_bytes(real_of(dtype)) * (is_complex(dtype) ? 2 : 1);
}

/* ---- Elements as doubles --------------------------------------------------------------------- */

/*
 * A small float of any layout, exactly. `special` says what an exponent of all ones means: infinity
 * and NaNs, as in IEEE 754, or, for the "fn" form, ordinary numbers but for the largest mantissa.
 */
static double small_float(uint32_t bits, unsigned exponent_bits, unsigned mantissa_bits,
			  bool has_infinity)
{
	const uint32_t exponent_max = (1u << exponent_bits) - 1;
	const uint32_t mantissa_max = (1u << mantissa_bits) - 1;
	const int bias = (int)(exponent_max >> 1);
	uint32_t exponent = bits >> mantissa_bits & exponent_max;
	uint32_t mantissa = bits & mantissa_max;
	bool negative = bits >> (exponent_bits + mantissa_bits) & 1;
	uint64_t wide;
	double value;

	if (exponent == exponent_max && (has_infinity || mantissa == mantissa_max)) {
		value = mantissa && (!has_infinity || mantissa) ? __builtin_nan("")
								: __builtin_inf();
		return negative ? -value : value;
	}
	if (exponent == 0) { /* mantissa units of the smallest step */
		wide = (uint64_t)(1023 + 1 - bias - (int)mantissa_bits) << 52;
		memcpy(&value, &wide, sizeof(value));
		value *= mantissa;
	} else {
		wide = (uint64_t)(1023 + (int)exponent - bias) << 52 |
		       (uint64_t)mantissa << (52 - mantissa_bits);
		memcpy(&value, &wide, sizeof(value));
	}
	return negative ? -value : value;
}

static double bfloat(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float value;

	memcpy(&value, &wide, sizeof(value));
	return value;
}

#define CONVERT(type, expression)                                                                  \
	do {                                                                                       \
		const uint8_t *at = (const uint8_t *)data + from * sizeof(type);                   \
		for (size_t i = 0; i < count; i++) {                                               \
			type x;                                                                    \
			memcpy(&x, at + i * sizeof(type), sizeof(x));                              \
			ret[i] = (double)(expression);                                             \
		}                                                                                  \
	} while (0)

void wti_to_doubles(const void *data, uint32_t dtype, size_t from, size_t count, double *ret)
{
	switch (dtype) {
	case WT_DTYPE_BOOL:
		CONVERT(uint8_t, x != 0);
		break;
	case WT_DTYPE_U8:
		CONVERT(uint8_t, x);
		break;
	case WT_DTYPE_I8:
		CONVERT(int8_t, x);
		break;
	case WT_DTYPE_U16:
		CONVERT(uint16_t, x);
		break;
	case WT_DTYPE_I16:
		CONVERT(int16_t, x);
		break;
	case WT_DTYPE_U32:
		CONVERT(uint32_t, x);
		break;
	case WT_DTYPE_I32:
		CONVERT(int32_t, x);
		break;
	case WT_DTYPE_U64:
		CONVERT(uint64_t, x);
		break;
	case WT_DTYPE_I64:
		CONVERT(int64_t, x);
		break;
	case WT_DTYPE_F16:
		CONVERT(uint16_t, small_float(x, 5, 10, true));
		break;
	case WT_DTYPE_BF16:
		CONVERT(uint16_t, bfloat(x));
		break;
	case WT_DTYPE_F32:
		CONVERT(float, x);
		break;
	case WT_DTYPE_F64:
		CONVERT(double, x);
		break;
	case WT_DTYPE_F8E4M3:
		CONVERT(uint8_t, small_float(x, 4, 3, false));
		break;
	case WT_DTYPE_F8E5M2:
		CONVERT(uint8_t, small_float(x, 5, 2, true));
		break;
	}
}

/* ---- Parts ------------------------------------------------------------------------------------
 */

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

static wti_digest_kernel *kernel_for(enum wti_digest_set set)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (set == WTI_DIGEST_AVX512 && __builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512dq"))
		return wti_digest_avx512;
	if (set >= WTI_DIGEST_AVX2 && __builtin_cpu_supports("avx2"))
		return wti_digest_avx2;
#endif
	(void)set;
	return wti_digest_plain;
}

static void digest_with(wti_digest_kernel *kernel, const void *data, uint32_t dtype, uint64_t count,
			struct wt_digest *ret)
{
	struct wti_part total = {0};

	*ret = (struct wt_digest){.count = count};
	if (wti_dtype_bytes(dtype) == 0)
		return;
	kernel(data, real_of(dtype), is_complex(dtype) ? 2 * count : count, &total, &ret->hash);
	ret->nan = total.nan;
	ret->inf = total.inf;
	ret->zeros = total.zeros;
	ret->min = plain(total.min);
	ret->max = plain(total.max);
	ret->mean = plain(total.mean);
	ret->m2 = plain(total.m2);
}

/* The program may flush denormals, round otherwise or trap; a digest must not depend on it. */
void wti_digest_on(enum wti_digest_set set, const void *data, uint32_t dtype, uint64_t count,
		   struct wt_digest *ret)
{
#if defined(__x86_64__)
	unsigned mode = _mm_getcsr();

	_mm_setcsr(0x1f80);
	digest_with(kernel_for(set), data, dtype, count, ret);
	_mm_setcsr(mode);
#else
	fenv_t mode;

	fegetenv(&mode);
	fesetenv(FE_DFL_ENV);
	digest_with(kernel_for(set), data, dtype, count, ret);
	fesetenv(&mode);
#endif
}

void wti_digest(const void *data, uint32_t dtype, uint64_t count, struct wt_digest *ret)
{
	wti_digest_on(WTI_DIGEST_AVX512, data, dtype, count, ret);
}
