/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapiro and Wilk's test of normality, after P. Royston, "Remark AS R94", Applied Statistics 44
 * (1995): the weights are approximated from normal scores, and W is transformed to a normal
 * variable. The polynomials are those of the paper.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantile.h"
#include "statistics.h"

#define VALUES_MAX 5000u

static double polynomial(const double *c, size_t count, double x)
{
	double sum = 0;

	while (count--)
		sum = sum * x + c[count];
	return sum;
}
#define POLYNOMIAL(c, x) polynomial((c), sizeof(c) / sizeof((c)[0]), (x))

static int in_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Weights of the upper half, the largest value first; those of the lower half are their negatives.
 */
static void weights_of(double *weights, size_t n)
{
	static const double last[] = {0, .221157, -.147981, -2.07119, 4.434685, -2.706056};
	static const double before[] = {0, .042981, -.293762, -1.752461, 5.682633, -3.582633};
	size_t half = n / 2, set = n > 5 ? 2 : 1;
	double u = 1 / sqrt((double)n), squares = 0, first, second = 0, rest;

	if (n == 3) {
		weights[0] = M_SQRT1_2;
		return;
	}
	for (size_t i = 0; i < half; i++) {
		weights[i] = -wti_normal_quantile(((double)i + 1 - 0.375) / ((double)n + 0.25));
		squares += 2 * weights[i] * weights[i];
	}
	first = weights[0] / sqrt(squares) + POLYNOMIAL(last, u);
	rest = squares - 2 * weights[0] * weights[0];
	if (set == 2) {
		second = weights[1] / sqrt(squares) + POLYNOMIAL(before, u);
		rest -= 2 * weights[1] * weights[1];
	}
	rest = sqrt(rest / (1 - 2 * first * first - 2 * second * second));
	for (size_t i = set; i < half; i++)
		weights[i] /= rest;
	weights[0] = first;
	if (set == 2)
		weights[1] = second;
}

static double statistic_of(const double *sorted, const double *weights, size_t n)
{
	double mean = 0, squares = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		mean += sorted[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (sorted[i] - mean) * (sorted[i] - mean);
	for (size_t i = 0; i < n / 2; i++)
		sum += weights[i] * (sorted[n - 1 - i] - sorted[i]);
	return fmin(sum * sum / squares, 1);
}

static double probability_of(double w, size_t n)
{
	static const double mean_few[] = {.544, -.39978, .025054, -6.714e-4};
	static const double deviation_few[] = {1.3822, -.77857, .062767, -.0020322};
	static const double mean_many[] = {-1.5861, -.31082, -.083751, .0038915};
	static const double deviation_many[] = {-.4803, -.082676, .0030302};
	double x = n < 12 ? (double)n : log((double)n), y = log(1 - w), limit;

	if (n == 3)
		return fmax(0, 6 / M_PI * (asin(sqrt(w)) - asin(sqrt(.75))));
	if (n < 12) {
		limit = -2.273 + .459 * x;
		if (y >= limit)
			return 0;
		return wti_normal_tail((-log(limit - y) - POLYNOMIAL(mean_few, x)) /
				       exp(POLYNOMIAL(deviation_few, x)));
	}
	return wti_normal_tail((y - POLYNOMIAL(mean_many, x)) / exp(POLYNOMIAL(deviation_many, x)));
}

bool wti_shapiro_wilk(const double *values, size_t n, double *ret_w, double *ret_p)
{
	double *sorted, scale;

	if (n < 3 || n > VALUES_MAX)
		return false;
	sorted = malloc(sizeof(*sorted) * (n + n / 2));
	if (!sorted)
		return false;
	memcpy(sorted, values, sizeof(*sorted) * n);
	qsort(sorted, n, sizeof(*sorted), in_order);
	scale = sorted[n - 1] - sorted[0];
	if (!(scale > 0) || isinf(scale)) {
		free(sorted);
		return false;
	}
	for (size_t i = n; i--;) /* the test does not change, and nothing under- or overflows */
		sorted[i] = (sorted[i] - sorted[0]) / scale;
	weights_of(sorted + n, n);
	*ret_w = statistic_of(sorted, sorted + n, n);
	*ret_p = probability_of(*ret_w, n);
	free(sorted);
	return true;
}
