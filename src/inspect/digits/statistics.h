/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many digits of a value that was computed n times under noise are real (docs/digits.md).
 *
 * Knows the estimators of Sohier and others for significant and contributing digits, with
 * (CNH) and without (General) the assumption of a normal distribution. Values are those of one
 * element; whole tensors are in merge.h. All digits are bits unless converted.
 */
#ifndef WTI_DIGITS_STATISTICS_H
#define WTI_DIGITS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wti_digits_method { WTI_DIGITS_CNH, WTI_DIGITS_GENERAL };

struct wti_digits_how {
	enum wti_digits_method method;
	bool contributing; /* otherwise significant */
	bool absolute;     /* errors are differences, otherwise ratios */
	double probability;
	double confidence;
};

/* The usual: CNH, relative, confidence 0.95, probability 0.95, or 0.51 of contributing digits. */
struct wti_digits_how wti_digits_usual(bool contributing);

/* What an element is like over the runs. */
struct wti_moments {
	uint64_t n;
	double mean, m2; /* m2: sum of squared distances from the mean */
	double min, max;
};

void wti_moments_add(struct wti_moments *moments, double x);
/* As if all values of `more` had been added. */
void wti_moments_merge(struct wti_moments *moments, const struct wti_moments *more);

/* What the CNH estimators subtract for n runs. */
double wti_digits_delta(const struct wti_digits_how *how, uint64_t n);

/*
 * Bits of the element that has these values, against `reference` (usually their mean). `mantissa`:
 * bits of its type that are stored, 52 of a double. CNH is not limited to what the type has: see
 * wti_digits_cap(). NaN: cannot be said.
 */
double wti_digits_of(const struct wti_digits_how *how, const double *values, size_t n,
		     double reference, unsigned mantissa);
/* The same against the mean, from the moments alone; NaN of General contributing, which needs
 * values.
 */
double wti_digits_of_moments(const struct wti_digits_how *how, const struct wti_moments *moments,
			     unsigned mantissa);
/* Both parts of complex values, each against its own mean. */
void wti_digits_of_complex(const struct wti_digits_how *how, const double *values, size_t n,
			   unsigned mantissa, double ret_bits[2]);

/* At least 0, at most what the type holds: its stored bits and the one that is understood. */
double wti_digits_cap(double bits, unsigned mantissa);
/* Digits of another base. */
double wti_digits_in_base(double bits, double base);

/* Decimal digits by CESTAC: n small, errors normal; 0: a computational zero. */
double wti_digits_cestac(const double *values, size_t n, double confidence);

/* A lower bound of the probability of what came true in `successes` of n runs. */
double wti_digits_bernoulli(uint64_t n, uint64_t successes, double confidence);
/* Runs that must all agree to say so with that probability and confidence. */
uint64_t wti_digits_trials(double probability, double confidence);

/* Shapiro and Wilk's test (Royston 1995); false: 3 to 5000 values that are not all equal are
 * needed. */
bool wti_shapiro_wilk(const double *values, size_t n, double *ret_w, double *ret_p);

#endif
