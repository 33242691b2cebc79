/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the distribution of Mann and Whitney's statistic. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ratio.h"

#define PAIRS_MAX (WTI_RATIO_RUNS_MAX * WTI_RATIO_RUNS_MAX)

/*
 * How many of the pairs may lie on the wrong side by chance: the greatest k such that U is below k
 * with a probability of at most `risk`, if both sets are from the same distribution. The number
 * of ways to get U = u is the coefficient of q^u in the Gaussian binomial (m + n over m), which is
 * built up by factors (1 - q^(n + i)) / (1 - q^i).
 */
static size_t outliers(size_t m, size_t n, double risk)
{
	double ways[PAIRS_MAX + 1] = {1};
	size_t pairs = m * n, k = 0;
	double below = 0;

	for (size_t i = 1; i <= m; i++) {
		double share = (double)i / (double)(n + i);

		for (size_t u = pairs; u >= n + i && u <= pairs; u--)
			ways[u] -= ways[u - n - i];
		for (size_t u = i; u <= pairs; u++)
			ways[u] += ways[u - i];
		/* As shares of all, so that nothing grows beyond what a double can hold. */
		for (size_t u = 0; u <= pairs; u++)
			ways[u] *= share;
	}
	while (k < pairs && below + ways[k] <= risk * (1 + 1e-9))
		below += ways[k++];
	return k;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

bool wti_ratio(const double *now, size_t now_count, const double *before, size_t before_count,
	       double confidence, struct wti_ratio *ret_ratio)
{
	size_t pairs = now_count * before_count, k;
	double *ratios;

	if (!pairs || now_count > WTI_RATIO_RUNS_MAX || before_count > WTI_RATIO_RUNS_MAX)
		return false;
	k = outliers(now_count, before_count, 1 - confidence);
	ratios = k ? malloc(pairs * sizeof(*ratios)) : NULL;
	if (!ratios)
		return false;
	for (size_t i = 0; i < pairs; i++)
		ratios[i] = now[i / before_count] / before[i % before_count];
	qsort(ratios, pairs, sizeof(*ratios), compare);
	*ret_ratio = (struct wti_ratio){
		.estimate = sqrt(ratios[(pairs - 1) / 2] * ratios[pairs / 2]),
		.low = ratios[k - 1],
		.high = ratios[pairs - k],
	};
	free(ratios);
	return true;
}

size_t wti_ratio_runs_needed(double confidence)
{
	size_t count = 1;

	while (count < WTI_RATIO_RUNS_MAX && !outliers(count, count, 1 - confidence))
		count++;
	return count;
}
