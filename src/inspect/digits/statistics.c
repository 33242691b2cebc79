/* SPDX-License-Identifier: Apache-2.0 */
/* Significant and contributing digits of one element. */
#include "statistics.h"

#include <math.h>

#include "quantile.h"

struct wti_digits_how wti_digits_usual(bool contributing)
{
	return (struct wti_digits_how){
		.contributing = contributing,
		.probability = contributing ? 0.51 : 0.95,
		.confidence = 0.95,
	};
}

void wti_moments_add(struct wti_moments *moments, double x)
{
	double before = x - moments->mean;

	moments->n++;
	moments->min = moments->n == 1 || x < moments->min ? x : moments->min;
	moments->max = moments->n == 1 || x > moments->max ? x : moments->max;
	moments->mean += before / (double)moments->n;
	moments->m2 += before * (x - moments->mean);
}

void wti_moments_merge(struct wti_moments *moments, const struct wti_moments *more)
{
	double n = (double)moments->n, m = (double)more->n;
	double apart = more->mean - moments->mean;

	if (!more->n)
		return;
	if (!moments->n) {
		*moments = *more;
		return;
	}
	moments->mean += apart * m / (n + m);
	moments->m2 += more->m2 + apart * apart * n * m / (n + m);
	moments->n += more->n;
	moments->min = fmin(moments->min, more->min);
	moments->max = fmax(moments->max, more->max);
}

double wti_digits_delta(const struct wti_digits_how *how, uint64_t n)
{
	double freedom = (double)n - 1;
	double chi2 = wti_chi2_quantile((1 - how->confidence) / 2, freedom);
	double scatter = 0.5 * log2(freedom / chi2);

	if (how->contributing)
		return scatter + log2(how->probability - 0.5) + log2(2 * sqrt(2 * M_PI));
	return scatter + log2(wti_normal_quantile((how->probability + 1) / 2));
}

/* e - 1: the exponent that absolute errors are counted from. */
static double exponent_of(const struct wti_digits_how *how, double reference)
{
	if (!how->absolute || reference == 0)
		return 0;
	return floor(log2(fabs(reference)));
}

static double error_of(const struct wti_digits_how *how, double x, double reference)
{
	return how->absolute ? x - reference : x / reference - 1;
}

static double largest_error(const struct wti_digits_how *how, const double *values, size_t n,
			    double reference)
{
	double largest = 0;

	for (size_t i = 0; i < n; i++) {
		double z = fabs(error_of(how, values[i], reference));

		if (!(z <= largest))
			largest = z;
		if (isnan(z))
			return z;
	}
	return largest;
}

/* Of the errors; they are scaled by the largest, since squares of large numbers overflow. */
static double deviation_of(const struct wti_digits_how *how, const double *values, size_t n,
			   double reference, double largest)
{
	double mean = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		mean += error_of(how, values[i], reference) / largest;
	mean /= (double)n;
	for (size_t i = 0; i < n; i++) {
		double away = error_of(how, values[i], reference) / largest - mean;

		sum += away * away;
	}
	return largest * sqrt(sum / (double)n);
}

static double cnh_bits(const struct wti_digits_how *how, double deviation, double exponent,
		       uint64_t n, unsigned mantissa)
{
	double delta = wti_digits_delta(how, n);

	if (deviation == 0) /* exact, as far as n runs show */
		return mantissa + (how->contributing ? exponent : 0) - delta;
	return -log2(deviation) + exponent - delta;
}

static double general_significant(double largest, double exponent, unsigned mantissa)
{
	double bits = 0;

	for (unsigned k = 0; k <= mantissa; k++) {
		if (!(largest <= ldexp(1, (int)(exponent - k))))
			break;
		bits = k;
	}
	return bits;
}

static bool is_odd(double whole)
{
	return fmod(whole, 2) == 1;
}

static double general_contributing(const struct wti_digits_how *how, const double *values, size_t n,
				   double reference, double exponent, unsigned mantissa)
{
	double bits = 1;

	for (unsigned k = 1; k <= mantissa; k++) {
		for (size_t i = 0; i < n; i++) {
			double z = fabs(error_of(how, values[i], reference));

			if (is_odd(floor(ldexp(z, (int)(k - exponent)))))
				return bits;
		}
		bits = k;
	}
	return bits;
}

double wti_digits_of(const struct wti_digits_how *how, const double *values, size_t n,
		     double reference, unsigned mantissa)
{
	double exponent = exponent_of(how, reference);
	double largest = largest_error(how, values, n, reference);
	double deviation;

	if (how->method == WTI_DIGITS_GENERAL) {
		if (!isfinite(exponent))
			exponent = 0;
		return how->contributing
			       ? general_contributing(how, values, n, reference, exponent, mantissa)
			       : general_significant(largest, exponent, mantissa);
	}
	if (n < 2 || !isfinite(largest) || !isfinite(reference))
		return NAN;
	deviation = largest > 0 ? deviation_of(how, values, n, reference, largest) : 0;
	/* All equal, but not to the reference: how far they are from it is what is known. */
	return cnh_bits(how, deviation > 0 ? deviation : largest, exponent, n, mantissa);
}

double wti_digits_of_moments(const struct wti_digits_how *how, const struct wti_moments *moments,
			     unsigned mantissa)
{
	double scale = how->absolute ? 1 : fabs(moments->mean);
	double exponent = exponent_of(how, moments->mean);
	double largest;

	if (how->method == WTI_DIGITS_GENERAL && how->contributing)
		return NAN;
	if (moments->n < 2 || !isfinite(moments->mean) || !isfinite(moments->m2))
		return NAN;
	if (how->method == WTI_DIGITS_GENERAL) {
		largest = fmax(fabs(error_of(how, moments->min, moments->mean)),
			       fabs(error_of(how, moments->max, moments->mean)));
		return general_significant(largest, exponent, mantissa);
	}
	if (moments->m2 > 0 && scale == 0)
		return NAN;
	return cnh_bits(how, moments->m2 > 0 ? sqrt(moments->m2 / (double)moments->n) / scale : 0,
			exponent, moments->n, mantissa);
}

void wti_digits_of_complex(const struct wti_digits_how *how, const double *values, size_t n,
			   unsigned mantissa, double ret_bits[2])
{
	for (unsigned part = 0; part < 2; part++) {
		struct wti_moments moments = {0};

		for (size_t i = 0; i < n; i++)
			wti_moments_add(&moments, values[2 * i + part]);
		ret_bits[part] = wti_digits_of_moments(how, &moments, mantissa);
	}
}

double wti_digits_cap(double bits, unsigned mantissa)
{
	if (isnan(bits))
		return bits;
	return fmin(fmax(bits, 0), mantissa + 1);
}

double wti_digits_in_base(double bits, double base)
{
	return bits * M_LN2 / log(base);
}

double wti_digits_cestac(const double *values, size_t n, double confidence)
{
	struct wti_moments moments = {0};
	double tau, digits;

	for (size_t i = 0; i < n; i++)
		wti_moments_add(&moments, values[i]);
	if (n < 2 || n > 1000 || !isfinite(moments.m2))
		return NAN;
	if (moments.mean == 0)
		return 0;
	if (moments.m2 == 0)
		return INFINITY;
	tau = wti_student_quantile(confidence, (unsigned)n - 1);
	digits = log10(sqrt((double)n) * fabs(moments.mean) /
		       (sqrt(moments.m2 / ((double)n - 1)) * tau));
	return digits > 0 ? digits : 0;
}

double wti_digits_bernoulli(uint64_t n, uint64_t successes, double confidence)
{
	double s = (double)successes, all = (double)n;

	if (successes == n)
		return 1 + log(1 - confidence) / all;
	return (s + 2) / (all + 4) -
	       wti_normal_quantile(confidence) *
		       sqrt((s + 2) * (all - s + 2) / ((all + 4) * (all + 4) * (all + 4)));
}

uint64_t wti_digits_trials(double probability, double confidence)
{
	return (uint64_t)ceil(log(1 - confidence) / log(probability));
}
