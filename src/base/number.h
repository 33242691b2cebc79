/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic on numbers that a file claims. What does not fit stays at the end of its range, so
 * that nonsense gives nonsense and never undefined behaviour.
 */
#ifndef WTI_BASE_NUMBER_H
#define WTI_BASE_NUMBER_H

#include <stdint.h>

/* Times, steps and epochs are kept within this: the sum and the difference of any two fit. */
#define WTI_NUMBER_MAX (INT64_MAX / 2)

static inline int64_t wti_bounded(int64_t number)
{
	return number > WTI_NUMBER_MAX    ? WTI_NUMBER_MAX
	       : number < -WTI_NUMBER_MAX ? -WTI_NUMBER_MAX
					  : number;
}

static inline int64_t wti_sum(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static inline int64_t wti_difference(int64_t a, int64_t b)
{
	int64_t difference;

	return __builtin_sub_overflow(a, b, &difference) ? (b < 0 ? INT64_MAX : INT64_MIN)
							 : difference;
}

/* Without its sign: that of INT64_MIN is larger than any positive one. */
static inline uint64_t wti_magnitude(int64_t number)
{
	return number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
}

/* A length as a signed number. */
static inline int64_t wti_i64(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

/* Cut, as a cast does; what is not a number is 0. */
static inline int64_t wti_i64_of(double number)
{
	if (number >= 0x1p63)
		return INT64_MAX;
	if (number <= -0x1p63)
		return INT64_MIN;
	return number == number ? (int64_t)number : 0;
}

static inline uint64_t wti_u64_of(double number)
{
	if (number >= 0x1p64)
		return UINT64_MAX;
	return number > 0 ? (uint64_t)number : 0;
}

#endif
