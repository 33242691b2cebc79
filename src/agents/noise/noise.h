/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noise on floating-point numbers in memory: what a virtual precision of t bits would leave of them
 * (docs/digits.md). Integer arithmetic on the bits of the numbers only: no flag of the processor is
 * raised, no rounding mode or flushing of the program matters, and there is no call, no allocation
 * and no lock.
 *
 * The random numbers are a function of (seed, key, index of the element): the same whatever the
 * number of threads, the pieces in which a value is passed, and the instruction set.
 */
#ifndef WTI_AGENTS_NOISE_H
#define WTI_AGENTS_NOISE_H

#include <stdbool.h>
#include <stdint.h>

enum wti_noise_mode {
	WTI_NOISE_OFF,
	WTI_NOISE_RR,           /* outputs */
	WTI_NOISE_PB,           /* inputs */
	WTI_NOISE_MCA,          /* both */
	WTI_NOISE_CANCELLATION, /* outputs of sums that are smaller than what was summed */
	WTI_NOISE_SR,           /* outputs, rounded stochastically to `bits` */
};

#define WTI_NOISE_BITS_MAX 52u /* of a double, 53, the last is what noise begins with */

struct wti_noise {
	uint32_t mode; /* enum wti_noise_mode */
	uint32_t bits; /* virtual precision t; 0: one less than the type has, whatever the type */
	uint64_t seed; /* of this run */
};

/* Which number is drawn: a place in the program, how often it was reached, and which value there.
 */
struct wti_noise_key {
	uint64_t site;
	uint64_t call;
	uint32_t value; /* which input or output of the call */
};

/* "off", "rr", "rr:24". False: no such mode, or bits that it cannot have; `ret` is untouched. */
bool wti_noise_parse(const char *text, struct wti_noise *ret);
/* Do inputs, outputs need wti_noise_apply() in this mode? Not in WTI_NOISE_CANCELLATION. */
static inline bool wti_noise_of_inputs(const struct wti_noise *noise)
{
	return noise->mode == WTI_NOISE_PB || noise->mode == WTI_NOISE_MCA;
}
static inline bool wti_noise_of_outputs(const struct wti_noise *noise)
{
	return noise->mode == WTI_NOISE_RR || noise->mode == WTI_NOISE_MCA ||
	       noise->mode == WTI_NOISE_SR;
}
/* Can elements of this type (enum wt_dtype) be perturbed? */
bool wti_noise_takes(uint32_t dtype);

/*
 * Perturbs `count` elements that lie `stride_bytes` apart, the first of which has the index `first`
 * in its value. Complex ones: both parts. 0, Inf, NaN and integers that the type holds exactly stay
 * as they are; no number becomes 0, Inf or changes its sign. Nothing happens if the mode is off or
 * WTI_NOISE_CANCELLATION, or the type is not one of floating-point numbers.
 *
 * In units of the last place, x + U(-1/2, 1/2) * 2^(p - t), rounded to nearest: by default, t = p -
 * 1, that is -1, 0, +1 with 1/4, 1/2, 1/4. WTI_NOISE_SR: one of the two neighbours of t bits, the
 * upper with the probability by which x is nearer to it. t is at most p - 1 (SR: p).
 */
void wti_noise_apply(const struct wti_noise *noise, const struct wti_noise_key *key, uint32_t dtype,
		     void *data, uint64_t first, uint64_t count, int64_t stride_bytes);

/*
 * WTI_NOISE_CANCELLATION, and nothing in other modes: each element of a sum or difference that is
 * at least one binary order below the larger operand gets U(-1/2, 1/2) * 2^(e - t), e being the
 * exponent of that operand: noise in the places that the operands did not have. An operand has the
 * type of the result; stride 0 is one number for all; data NULL is none. `exponent`: of the largest
 * number that went into each sum (wti_noise_exponent()), or WTI_NOISE_NO_EXPONENT.
 */
#define WTI_NOISE_NO_EXPONENT INT32_MIN
struct wti_noise_operands {
	const void *data[2];
	int64_t stride_bytes[2];
	int32_t exponent;
};
void wti_noise_cancel(const struct wti_noise *noise, const struct wti_noise_key *key,
		      uint32_t dtype, void *data, uint64_t first, uint64_t count,
		      int64_t stride_bytes, const struct wti_noise_operands *operands);
/* The largest floor(log2|x|) + 1 of finite numbers that are not 0; NO_EXPONENT: there is none. */
int32_t wti_noise_exponent(uint32_t dtype, const void *data, uint64_t count, int64_t stride_bytes);

/* The same as wti_noise_apply() for one number, or the two parts of a complex one; nothing where
 * the type is not that of the x87. */
void wti_noise_long_double(const struct wti_noise *noise, const struct wti_noise_key *key,
			   long double *data, uint32_t parts);

/* The seed of the run with this number, of a set with this seed. */
uint64_t wti_noise_seed(uint64_t seed, uint32_t run);

/* The same on a given instruction set, for tests: false for the plainest. */
void wti_noise_apply_on(bool is_vector, const struct wti_noise *noise,
			const struct wti_noise_key *key, uint32_t dtype, void *data, uint64_t first,
			uint64_t count, int64_t stride_bytes);

#endif
