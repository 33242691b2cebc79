/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of elements that fit the first cache go through three loops: sums, distances, and the
 * histogram, whose bins are taken from exponents, since a logarithm an element would cost more than
 * all the rest.
 */
#include "merge.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <wheeltap/trace.h>

#include "element.h"

#define BLOCK 256u
#define LANES 2u /* what every processor of its kind has */

typedef double vector __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t whole __attribute__((vector_size(LANES * sizeof(int64_t))));

struct block {
	vector mean[BLOCK / LANES];
	vector m2[BLOCK / LANES];
	vector ratio[BLOCK / LANES];
	vector farthest;
	vector norm2, scatter2;
};

static inline vector load(const double *from)
{
	vector v;

	memcpy(&v, from, sizeof(v));
	return v;
}

static inline vector larger(vector a, vector b)
{
	whole is = a > b;

	return (vector)((is & (whole)a) | (~is & (whole)b));
}

static inline vector absolute(vector a)
{
	return (vector)((whole)a & INT64_MAX);
}

/* Vectors [from, to) of each run are at the same places. */
static void moments_of(struct block *block, const double *const *runs, unsigned n, size_t vectors)
{
	const double share = 1.0 / n;
	const vector zero = {0};

	for (size_t i = 0; i < vectors; i++) {
		vector sum = load(runs[0] + i * LANES), m2 = {0}, base = sum;
		vector rest = {0}, all = {0};

		for (unsigned r = 1; r < n; r++)
			rest += load(runs[r] + i * LANES) - base;
		sum = base + rest * share; /* exact where all are equal */
		for (unsigned r = 0; r < n; r++) {
			vector away = load(runs[r] + i * LANES) - sum;

			m2 += away * away;
			all += away;
			block->farthest = larger(absolute(away), block->farthest);
		}
		m2 = larger(m2 - all * all * share, zero); /* the mean is rounded itself */
		block->mean[i] = sum;
		block->m2[i] = m2;
		block->norm2 += sum * sum;
		block->scatter2 += m2;
		block->ratio[i] = m2 * share / (sum * sum);
	}
}

/* -log2 of the ratio, from its exponent: twice the bits that an element has. */
static void count_bins(struct wti_spread *spread, const struct block *block, size_t reals)
{
	const double *ratio = (const double *)block->ratio;
	const double *m2 = (const double *)block->m2;

	for (size_t i = 0; i < reals; i++) {
		uint64_t bits;
		int64_t bin;

		if (m2[i] == 0) {
			spread->exact++;
			spread->bins[WTI_SPREAD_BINS - 1]++;
			continue;
		}
		memcpy(&bits, &ratio[i], sizeof(bits));
		bin = 1023 - (int64_t)(bits >> 52 & 0x7ff);
		bin = bin < 0 ? 0 : bin;
		spread->bins[bin > WTI_SPREAD_BINS - 2 ? WTI_SPREAD_BINS - 2 : bin]++;
	}
	spread->reals += reals;
}

static double total(vector v)
{
	return v[0] + v[1];
}

/* One by one, where something is not finite, or where squares overflow. */
static void merge_slowly(struct wti_spread *spread, const double *const *runs, unsigned n,
			 size_t reals)
{
	for (size_t i = 0; i < reals; i++) {
		const double *one[WTI_MERGE_RUNS_MAX];
		double padded[WTI_MERGE_RUNS_MAX][LANES];
		struct block block = {0};
		bool is_finite = true;

		for (unsigned r = 0; r < n; r++) {
			is_finite &= isfinite(runs[r][i]);
			for (unsigned k = 0; k < LANES; k++)
				padded[r][k] = runs[r][i];
			one[r] = padded[r];
		}
		if (is_finite)
			moments_of(&block, one, n, 1);
		if (!is_finite || !isfinite(block.scatter2[0]) || !isfinite(block.norm2[0])) {
			spread->bad++;
			continue;
		}
		spread->norm2 += block.norm2[0];
		spread->scatter2 += block.scatter2[0];
		spread->farthest = fmax(spread->farthest, block.farthest[0]);
		count_bins(spread, &block, 1);
	}
}

static void merge_block(struct wti_spread *spread, const double *const *runs, unsigned n,
			size_t reals)
{
	struct block block;
	size_t vectors = reals / LANES, rest = reals % LANES;
	const double *tail[WTI_MERGE_RUNS_MAX];

	block.farthest = block.norm2 = block.scatter2 = (vector){0};
	moments_of(&block, runs, n, vectors);
	/* Whatever is not finite makes a sum that is not. */
	if (!isfinite(total(block.norm2) + total(block.scatter2))) {
		merge_slowly(spread, runs, n, reals);
		return;
	}
	count_bins(spread, &block, vectors * LANES);
	spread->norm2 += total(block.norm2);
	spread->scatter2 += total(block.scatter2);
	for (unsigned k = 0; k < LANES; k++)
		spread->farthest = fmax(spread->farthest, block.farthest[k]);
	for (unsigned r = 0; rest && r < n; r++)
		tail[r] = runs[r] + vectors * LANES;
	if (rest)
		merge_slowly(spread, tail, n, rest);
}

void wti_merge_doubles(struct wti_spread *spread, const double *const *runs, unsigned n,
		       uint64_t reals)
{
	const double *at[WTI_MERGE_RUNS_MAX];

	spread->runs = n;
	for (uint64_t from = 0; from < reals; from += BLOCK) {
		for (unsigned r = 0; r < n; r++)
			at[r] = runs[r] + from;
		merge_block(spread, at, n, reals - from < BLOCK ? reals - from : BLOCK);
	}
}

#define RUNS_AT_ONCE 16u

/* Types that are not doubles are converted block by block. */
static void merge_converted(struct wti_spread *spread, uint32_t dtype, const void *const *runs,
			    unsigned n, uint64_t reals)
{
	const struct wti_element element = wti_element_of(dtype);
	size_t bytes = element.bytes / element.parts;
	double room[RUNS_AT_ONCE][BLOCK];
	const double *at[RUNS_AT_ONCE];

	for (uint64_t from = 0; from < reals; from += BLOCK) {
		size_t count = reals - from < BLOCK ? reals - from : BLOCK;

		for (unsigned r = 0; r < n; r++) {
			wti_element_read(dtype, (const uint8_t *)runs[r] + from * bytes, count,
					 room[r]);
			at[r] = room[r];
		}
		merge_block(spread, at, n, count);
	}
}

void wti_merge(struct wti_spread *spread, uint32_t dtype, const void *const *runs, unsigned n,
	       uint64_t reals)
{
	spread->runs = n;
	if (dtype == WT_DTYPE_F64 || dtype == WT_DTYPE_C128)
		wti_merge_doubles(spread, (const double *const *)runs, n, reals);
	else if (wti_element_of(dtype).bytes && n <= RUNS_AT_ONCE)
		merge_converted(spread, dtype, runs, n, reals);
}

/* Half of log2 of the ratio of squares. */
static double half_log2(double over, double under)
{
	if (!(over > 0))
		return over == 0 ? WTI_SPREAD_EXACT : NAN;
	return fmin(0.5 * (log2(over) - log2(under)), 1);
}

double wti_spread_norm(const struct wti_spread *spread)
{
	if (!spread->reals)
		return NAN;
	return half_log2(spread->scatter2 / spread->runs, spread->norm2);
}

double wti_spread_quantile(const struct wti_spread *spread, double share)
{
	double wanted = share * (double)spread->reals;
	uint64_t seen = 0;

	if (!spread->reals)
		return NAN;
	for (unsigned bin = 0; bin < WTI_SPREAD_BINS - 1; bin++) {
		seen += spread->bins[bin];
		if (seen && (double)seen >= wanted)
			return -0.5 * bin + 0.25;
	}
	return WTI_SPREAD_EXACT;
}

double wti_spread_farthest(const struct wti_spread *spread)
{
	if (!spread->reals)
		return NAN;
	return half_log2(spread->farthest * spread->farthest, spread->norm2);
}
