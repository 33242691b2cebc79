/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same values of n runs, merged element by element: mean, squared distances, extremes. What is
 * kept is what all elements have in common, so that memory does not grow with them: norms and a
 * histogram of relative deviations in half bits.
 */
#ifndef WTI_DIGITS_MERGE_H
#define WTI_DIGITS_MERGE_H

#include <stddef.h>
#include <stdint.h>

#define WTI_MERGE_RUNS_MAX 1024u
#define WTI_SPREAD_BINS 144u
/* Deviations are compared with this: values that are the same in all runs. */
#define WTI_SPREAD_EXACT (-1074.)

struct wti_spread {
	uint64_t reals;  /* finite in all runs */
	uint64_t exact;  /* of them: the same in all runs */
	uint64_t bad;    /* not finite in some run */
	double norm2;    /* sum of squared means */
	double scatter2; /* sum of squared deviations, n times the variance */
	double farthest; /* largest distance from a mean */
	unsigned runs;
	/* Reals whose deviation is 2^-(b/2) of their mean or a bit less; the last: none. */
	uint32_t bins[WTI_SPREAD_BINS];
};

/* `runs`: raw elements of each run in that type; `reals` as of wti_element_read(). */
void wti_merge(struct wti_spread *spread, uint32_t dtype, const void *const *runs, unsigned n,
	       uint64_t reals);
void wti_merge_doubles(struct wti_spread *spread, const double *const *runs, unsigned n,
		       uint64_t reals);

/*
 * log2 of the standard deviation relative to the norm, over all reals; WTI_SPREAD_EXACT if nothing
 * varied, 1 at most: beyond that there is no digit to lose; NaN: nothing finite.
 */
double wti_spread_norm(const struct wti_spread *spread);
/* The same relative to each element's own mean: of the `share` of the elements that vary most. */
double wti_spread_quantile(const struct wti_spread *spread, double share);
/* log2 of the largest distance relative to the norm, for the General method. */
double wti_spread_farthest(const struct wti_spread *spread);

#endif
