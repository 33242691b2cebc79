/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both quantiles are found by Newton's method on the distribution function, from a rough first
 * guess, inside a bracket that only shrinks. The incomplete gamma function is the usual series to
 * the left of its mean and a continued fraction to the right of it; the density beside both is
 * computed from the distance to the mean, so that it keeps its digits for many degrees of freedom.
 */
#include "quantile.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define ROUNDS_MAX 200
#define TERMS_MAX 1000000

double wti_normal_cdf(double x)
{
	return 0.5 * erfc(-x / M_SQRT2);
}

double wti_normal_tail(double x)
{
	return 0.5 * erfc(x / M_SQRT2);
}

/* Of the lower tail, p <= 1/2: within 5e-4 (Hastings' rational form), then Halley's steps. */
static double normal_lower(double p)
{
	double t = sqrt(-2 * log(p));
	double x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) /
				 (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));

	for (int i = 0; i < 4; i++) {
		double density = exp(-0.5 * x * x) / sqrt(2 * M_PI);
		double step;

		if (density < DBL_MIN)
			break;
		step = (wti_normal_cdf(x) - p) / density;
		x -= step / (1 + 0.5 * x * step);
	}
	return x;
}

double wti_normal_quantile(double p)
{
	if (!(p > 0 && p < 1))
		return NAN;
	return p <= 0.5 ? normal_lower(p) : -normal_lower(1 - p);
}

/* ln Gamma(a) minus Stirling's formula without its series. */
static double stirling_rest(double a)
{
	double b = 1 / (a * a);

	return (1. / 12 - b * (1. / 360 - b * (1. / 1260 - b * (1. / 1680 - b / 1188)))) / a;
}

/* x^a e^-x / Gamma(a) */
static double gamma_density(double a, double x)
{
	double away = (x - a) / a;

	if (a < 16)
		return exp(a * log(x) - x - lgamma(a));
	return exp(-a * (away - log1p(away)) - stirling_rest(a)) * sqrt(a / (2 * M_PI));
}

static double gamma_series(double a, double x)
{
	double term = 1 / a, sum = term;

	for (int i = 1; i < TERMS_MAX && term > sum * DBL_EPSILON / 8; i++) {
		term *= x / (a + i);
		sum += term;
	}
	return sum * gamma_density(a, x);
}

/* Lentz's way of evaluating the continued fraction of the upper part. */
static double gamma_fraction(double a, double x)
{
	double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, h = d;

	for (int i = 1; i < TERMS_MAX; i++) {
		double an = -i * (i - a), delta;

		b += 2;
		d = an * d + b;
		c = b + an / c;
		d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
		c = fabs(c) < DBL_MIN ? DBL_MIN : c;
		delta = c * d;
		h *= delta;
		if (fabs(delta - 1) < DBL_EPSILON)
			break;
	}
	return h * gamma_density(a, x);
}

double wti_chi2_cdf(double x, double freedom)
{
	double a = freedom / 2;

	x /= 2;
	if (!(x > 0))
		return 0;
	return x < a + 1 ? gamma_series(a, x) : 1 - gamma_fraction(a, x);
}

/* Wilson and Hilferty's cube, or the first term of the series where that is no number above 0. */
static double chi2_guess(double p, double freedom)
{
	double z = wti_normal_quantile(p);
	double root = 1 - 2 / (9 * freedom) + z * sqrt(2 / (9 * freedom));
	double a = freedom / 2;

	if (root > 0.3)
		return freedom * root * root * root;
	return 2 * exp((log(p) + lgamma(a + 1)) / a);
}

double wti_chi2_quantile(double p, double freedom)
{
	double low = 0, high = INFINITY, x;

	if (!(p > 0 && p < 1 && freedom > 0))
		return NAN;
	x = chi2_guess(p, freedom);
	for (int i = 0; i < ROUNDS_MAX; i++) {
		double error = wti_chi2_cdf(x, freedom) - p;
		double slope = gamma_density(freedom / 2, x / 2) / x;
		double next = x - error / slope;

		if (error > 0)
			high = x;
		else
			low = x;
		if (!(next > low && next < high))
			next = isinf(high) ? 2 * x : 0.5 * (low + high);
		if (fabs(next - x) <= 2 * DBL_EPSILON * x)
			return next;
		x = next;
	}
	return x;
}

/* By bisection on the series in the angle. */
double wti_student_quantile(double confidence, unsigned freedom)
{
	double low = 0, high = M_PI_2;

	for (int i = 0; i < 200 && high - low > 1e-15; i++) {
		double angle = 0.5 * (low + high), c = cos(angle), s = sin(angle);
		double term = freedom % 2 ? c : 1, sum = freedom == 1 ? 0 : term, area;

		for (unsigned k = freedom % 2 ? 3 : 2; k < freedom; k += 2) {
			term *= c * c * (k - 1) / k;
			sum += term;
		}
		area = freedom % 2 ? (angle + s * sum) * M_2_PI : s * sum;
		if (area < confidence)
			low = angle;
		else
			high = angle;
	}
	return tan(0.5 * (low + high)) * sqrt(freedom);
}
