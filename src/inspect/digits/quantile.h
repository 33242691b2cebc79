/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of the normal, the chi-squared and Student's distribution, to 1e-12 of their value or
 * better. */
#ifndef WTI_DIGITS_QUANTILE_H
#define WTI_DIGITS_QUANTILE_H

/* P(X <= x) of the standard normal distribution, and P(X > x). */
double wti_normal_cdf(double x);
double wti_normal_tail(double x);
/* The x with wti_normal_cdf(x) = p; NaN unless 0 < p < 1. */
double wti_normal_quantile(double p);
/* P(X <= x) of the chi-squared distribution with `freedom` > 0 degrees. */
double wti_chi2_cdf(double x, double freedom);
/* The x with wti_chi2_cdf(x, freedom) = p; NaN unless 0 < p < 1 and freedom > 0. */
double wti_chi2_quantile(double p, double freedom);
/* The x with P(-x <= X <= x) = confidence of Student's distribution; `freedom` from 1 on. */
double wti_student_quantile(double confidence, unsigned freedom);

#endif
