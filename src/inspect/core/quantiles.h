/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantiles of any numbers in bounded memory: a bucket is a sign, an exponent and 7 bits of the
 * mantissa, so that a quantile is off by at most 1/256 of its value (0.4 %). What is not finite is
 * not counted.
 */
#ifndef WTI_INSPECT_QUANTILES_H
#define WTI_INSPECT_QUANTILES_H

#include "base/map.h"

struct wti_quantiles {
	struct wti_map buckets; /* number of the bucket: how many */
	uint64_t count;
	double min, max;
};

void wti_quantiles_init(struct wti_quantiles *quantiles);
void wti_quantiles_release(struct wti_quantiles *quantiles);
void wti_quantiles_add(struct wti_quantiles *quantiles, double value);
/* `share` from 0 to 1: the value that this share of all is at most; NAN if there is none. Never
 * outside of what was added. */
double wti_quantiles_at(const struct wti_quantiles *quantiles, double share);

#endif
