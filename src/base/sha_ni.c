/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 with the instructions that processors have for it. The state lies in two registers, in
 * the order that the instructions ask for (ABEF and CDGH); each takes two rounds.
 */
#include <immintrin.h>

#include "sha_kernel.h"

/* Words of a block come with their first byte highest. */
static __m128i load_words(const uint8_t *at)
{
	const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);

	return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)at), order);
}

/* Four rounds with words `w` and constants from number `first` on. */
#define ROUNDS(w, first)                                                                           \
	do {                                                                                       \
		__m128i sum = _mm_add_epi32(                                                       \
			(w), _mm_loadu_si128((const __m128i *)(const void *)&constants[first]));   \
                                                                                                   \
		cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);                                     \
		abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));            \
	} while (0)

/* The four words after those of a, b, c and d, into a. */
#define NEXT_WORDS(a, b, c, d)                                                                     \
	(a) = _mm_sha256msg2_epu32(                                                                \
		_mm_add_epi32(_mm_sha256msg1_epu32((a), (b)), _mm_alignr_epi8((d), (c), 4)), (d))

void wti_sha256_ni(uint32_t state[8], const uint8_t *block, size_t count,
		   const uint32_t constants[64])
{
	__m128i low = _mm_shuffle_epi32(_mm_loadu_si128((__m128i *)(void *)&state[0]), 0xb1);
	__m128i high = _mm_shuffle_epi32(_mm_loadu_si128((__m128i *)(void *)&state[4]), 0x1b);
	__m128i abef = _mm_alignr_epi8(low, high, 8);
	__m128i cdgh = _mm_blend_epi16(high, low, 0xf0);

	for (; count; count--, block += 64) {
		const __m128i abef_before = abef, cdgh_before = cdgh;
		__m128i a = load_words(block), b = load_words(block + 16);
		__m128i c = load_words(block + 32), d = load_words(block + 48);

		ROUNDS(a, 0);
		ROUNDS(b, 4);
		ROUNDS(c, 8);
		ROUNDS(d, 12);
		for (unsigned first = 16; first < 64; first += 16) {
			NEXT_WORDS(a, b, c, d);
			ROUNDS(a, first);
			NEXT_WORDS(b, c, d, a);
			ROUNDS(b, first + 4);
			NEXT_WORDS(c, d, a, b);
			ROUNDS(c, first + 8);
			NEXT_WORDS(d, a, b, c);
			ROUNDS(d, first + 12);
		}
		abef = _mm_add_epi32(abef, abef_before);
		cdgh = _mm_add_epi32(cdgh, cdgh_before);
	}
	low = _mm_shuffle_epi32(abef, 0x1b);
	high = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128((__m128i *)(void *)&state[0], _mm_blend_epi16(low, high, 0xf0));
	_mm_storeu_si128((__m128i *)(void *)&state[4], _mm_alignr_epi8(high, low, 8));
}
