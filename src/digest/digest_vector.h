/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of the kernel's instruction set, and what the compiler's own operators do not say in one
 * instruction. Included by the kernel with WTI_WIDTH doubles in a vector.
 */
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

typedef double doubles __attribute__((vector_size(8 * WTI_WIDTH)));
typedef int64_t longs __attribute__((vector_size(8 * WTI_WIDTH)));
typedef float floats __attribute__((vector_size(8 * WTI_WIDTH)));
typedef int32_t ints __attribute__((vector_size(8 * WTI_WIDTH)));
typedef float half_floats __attribute__((vector_size(4 * WTI_WIDTH)));
typedef int16_t shorts __attribute__((vector_size(8 * WTI_WIDTH)));
typedef int8_t signed_octets __attribute__((vector_size(8 * WTI_WIDTH)));
typedef uint8_t octets __attribute__((vector_size(8 * WTI_WIDTH)));

/* yes where the mask is set, otherwise no. */
#define CHOOSE(type, bits, mask, yes, no) ((type)(((mask) & (bits)(yes)) | (~(mask) & (bits)(no))))

/* a < b ? a : b and a > b ? a : b in each lane, which is what the instructions do, to the bit. */
#if defined(__AVX512F__)
#define MIN_DOUBLES(a, b) ((doubles)_mm512_min_pd((__m512d)(a), (__m512d)(b)))
#define MAX_DOUBLES(a, b) ((doubles)_mm512_max_pd((__m512d)(a), (__m512d)(b)))
#define MIN_FLOATS(a, b) ((floats)_mm512_min_ps((__m512)(a), (__m512)(b)))
#define MAX_FLOATS(a, b) ((floats)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define WIDEN(floats) ((doubles)_mm512_cvtps_pd((__m256)(floats)))
#define LOW_HALF(floats) _mm512_castps512_ps256((__m512)(floats))
#define HIGH_HALF(floats) _mm512_extractf32x8_ps((__m512)(floats), 1)
#define MIN_SHORTS(a, b) ((shorts)_mm512_min_epi16((__m512i)(a), (__m512i)(b)))
#define MAX_SHORTS(a, b) ((shorts)_mm512_max_epi16((__m512i)(a), (__m512i)(b)))
#define MIN_BYTES(a, b) ((octets)_mm512_min_epu8((__m512i)(a), (__m512i)(b)))
#define MAX_BYTES(a, b) ((octets)_mm512_max_epu8((__m512i)(a), (__m512i)(b)))
#define ADD_BYTES(a) ((longs)_mm512_sad_epu8((__m512i)(a), (__m512i)(octets){0}))
#elif defined(__AVX2__)
#define MIN_DOUBLES(a, b) ((doubles)_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#define MAX_DOUBLES(a, b) ((doubles)_mm256_max_pd((__m256d)(a), (__m256d)(b)))
#define MIN_FLOATS(a, b) ((floats)_mm256_min_ps((__m256)(a), (__m256)(b)))
#define MAX_FLOATS(a, b) ((floats)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define WIDEN(floats) ((doubles)_mm256_cvtps_pd((__m128)(floats)))
#define LOW_HALF(floats) _mm256_castps256_ps128((__m256)(floats))
#define HIGH_HALF(floats) _mm256_extractf128_ps((__m256)(floats), 1)
#define MIN_SHORTS(a, b) ((shorts)_mm256_min_epi16((__m256i)(a), (__m256i)(b)))
#define MAX_SHORTS(a, b) ((shorts)_mm256_max_epi16((__m256i)(a), (__m256i)(b)))
#define MIN_BYTES(a, b) ((octets)_mm256_min_epu8((__m256i)(a), (__m256i)(b)))
#define MAX_BYTES(a, b) ((octets)_mm256_max_epu8((__m256i)(a), (__m256i)(b)))
#define ADD_BYTES(a) ((longs)_mm256_sad_epu8((__m256i)(a), (__m256i)(octets){0}))
#elif defined(__SSE2__)
#define MIN_DOUBLES(a, b) ((doubles)_mm_min_pd((__m128d)(a), (__m128d)(b)))
#define MAX_DOUBLES(a, b) ((doubles)_mm_max_pd((__m128d)(a), (__m128d)(b)))
#define MIN_FLOATS(a, b) ((floats)_mm_min_ps((__m128)(a), (__m128)(b)))
#define MAX_FLOATS(a, b) ((floats)_mm_max_ps((__m128)(a), (__m128)(b)))
#define WIDEN(floats) __builtin_convertvector(floats, doubles)
#define LOW_HALF(floats) __builtin_shufflevector(floats, floats, 0, 1)
#define HIGH_HALF(floats) __builtin_shufflevector(floats, floats, 2, 3)
#define MIN_SHORTS(a, b) ((shorts)_mm_min_epi16((__m128i)(a), (__m128i)(b)))
#define MAX_SHORTS(a, b) ((shorts)_mm_max_epi16((__m128i)(a), (__m128i)(b)))
#define MIN_BYTES(a, b) ((octets)_mm_min_epu8((__m128i)(a), (__m128i)(b)))
#define MAX_BYTES(a, b) ((octets)_mm_max_epu8((__m128i)(a), (__m128i)(b)))
#define ADD_BYTES(a) ((longs)_mm_sad_epu8((__m128i)(a), (__m128i)(octets){0}))
#else
#define MIN_DOUBLES(a, b) CHOOSE(doubles, longs, (a) < (b), a, b)
#define MAX_DOUBLES(a, b) CHOOSE(doubles, longs, (a) > (b), a, b)
#define MIN_FLOATS(a, b) CHOOSE(floats, ints, (a) < (b), a, b)
#define MAX_FLOATS(a, b) CHOOSE(floats, ints, (a) > (b), a, b)
#define WIDEN(floats) __builtin_convertvector(floats, doubles)
#define LOW_HALF(floats) __builtin_shufflevector(floats, floats, 0, 1)
#define HIGH_HALF(floats) __builtin_shufflevector(floats, floats, 2, 3)
#define MIN_SHORTS(a, b) CHOOSE(shorts, shorts, (a) < (b), a, b)
#define MAX_SHORTS(a, b) CHOOSE(shorts, shorts, (a) > (b), a, b)
#define MIN_BYTES(a, b) CHOOSE(octets, octets, (octets)((a) < (b)), a, b)
#define MAX_BYTES(a, b) CHOOSE(octets, octets, (octets)((a) > (b)), a, b)
#define ADD_BYTES(a) add_bytes((longs)(a))

INLINE longs add_bytes(longs a)
{
	a = (a & 0xff00ff00ff00ff) + ((a >> 8) & 0xff00ff00ff00ff);
	a = (a & 0xffff0000ffff) + ((a >> 16) & 0xffff0000ffff);
	return (a & 0xffffffff) + ((a >> 32) & 0xffffffff);
}
#endif

/* Place j of the result is place j + step; what comes to the end does not matter. */
#if WTI_WIDTH == 8
#define MOVED(v, step)                                                                             \
	__builtin_shufflevector(v, v, step, (1 + step) % 8, (2 + step) % 8, (3 + step) % 8,        \
				(4 + step) % 8, (5 + step) % 8, (6 + step) % 8, (7 + step) % 8)
#elif WTI_WIDTH == 4
#define MOVED(v, step)                                                                             \
	__builtin_shufflevector(v, v, step % 4, (1 + step) % 4, (2 + step) % 4, (3 + step) % 4)
#else
#define MOVED(v, step) __builtin_shufflevector(v, v, step % 2, (1 + step) % 2)
#endif

INLINE uint64_t sum_of(longs x)
{
	uint64_t sum = 0;

	for (int j = 0; j < WTI_WIDTH; j++)
		sum += (uint64_t)x[j];
	return sum;
}
