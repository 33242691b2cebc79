/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops here are what encoding and decoding cost. They are plain so that the compiler turns
 * them into vector code; WTI_CLONES asks it to do so for several instruction sets and to pick at
 * run time. Results do not depend on which one is taken: all of it is integer arithmetic.
 */
#include "pack.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
	!defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WTI_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WTI_CLONES
#endif

struct range {
	int64_t low;
	int64_t high;
};

/*
 * The residuals of a transform over one run, and their range, in one pass. Those that look at the
 * row before leave out the first row of the run: nothing predicts it.
 */
#define RESIDUALS(begin, expression)                                                               \
	int64_t low = INT64_MAX;                                                                   \
	int64_t high = INT64_MIN;                                                                  \
                                                                                                   \
	for (uint32_t i = begin; i < rows; i++) {                                                  \
		int64_t residual = (int64_t)(expression);                                          \
                                                                                                   \
		out[i] = (uint64_t)residual;                                                       \
		low = residual < low ? residual : low;                                             \
		high = residual > high ? residual : high;                                          \
	}                                                                                          \
	return (struct range)                                                                      \
	{                                                                                          \
		low, high                                                                          \
	}

WTI_CLONES static struct range differences(const uint64_t *restrict values,
					   const uint64_t *restrict ref, uint32_t rows,
					   uint64_t *restrict out)
{
	(void)ref;
	RESIDUALS(1, values[i] - values[i - 1]);
}

WTI_CLONES static struct range changes(const uint64_t *restrict values,
				       const uint64_t *restrict ref, uint32_t rows,
				       uint64_t *restrict out)
{
	(void)ref;
	RESIDUALS(1, values[i] ^ values[i - 1]);
}

WTI_CLONES static struct range distance_differences(const uint64_t *restrict values,
						    const uint64_t *restrict ref, uint32_t rows,
						    uint64_t *restrict out)
{
	RESIDUALS(1, (values[i] - ref[i]) - (values[i - 1] - ref[i - 1]));
}

WTI_CLONES static struct range gaps(const uint64_t *restrict values, const uint64_t *restrict ref,
				    uint32_t rows, uint64_t *restrict out)
{
	RESIDUALS(1, values[i] - ref[i - 1]);
}

WTI_CLONES static struct range distances(const uint64_t *restrict values,
					 const uint64_t *restrict ref, uint32_t rows,
					 uint64_t *restrict out)
{
	RESIDUALS(0, values[i] - ref[i]);
}

WTI_CLONES static struct range range_of(const uint64_t *values, uint32_t rows)
{
	int64_t low = (int64_t)values[0];
	int64_t high = low;

	for (uint32_t i = 1; i < rows; i++) {
		int64_t value = (int64_t)values[i];

		low = value < low ? value : low;
		high = value > high ? value : high;
	}
	return (struct range){low, high};
}

WTI_CLONES static uint64_t filter(const uint64_t *ids, uint32_t rows)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < rows; i++)
		bits |= 1ull << (ids[i] & 63);
	return bits;
}

uint64_t wti_pack_filter(const uint64_t *ids, uint32_t rows)
{
	return filter(ids, rows);
}

struct bounds {
	uint64_t low;
	uint64_t high;
};

WTI_CLONES static struct bounds bounds_of(const uint64_t *values, uint32_t rows)
{
	uint64_t low = values[0];
	uint64_t high = low;

	for (uint32_t i = 1; i < rows; i++) {
		low = values[i] < low ? values[i] : low;
		high = values[i] > high ? values[i] : high;
	}
	return (struct bounds){low, high};
}

void wti_pack_bounds(const uint64_t *values, uint32_t rows, uint64_t *ret_low, uint64_t *ret_high)
{
	struct bounds bounds = bounds_of(values, rows);

	*ret_low = bounds.low;
	*ret_high = bounds.high;
}

/* Whether so many values from `values` on are all like the one before them. */
static bool goes_on(const uint64_t *values, uint32_t rows)
{
	return !memcmp(values - 1, values, sizeof(*values) * rows);
}

void wti_runs_find(const uint64_t *tracks, uint32_t rows, struct wti_runs *ret_runs)
{
	const uint32_t stride = 256;
	uint32_t count = 1;

	ret_runs->begin[0] = 0;
	for (uint32_t i = 1; i < rows; i++) {
		/* Runs are long: most of them are passed in strides. */
		while (rows - i >= stride && goes_on(tracks + i, stride))
			i += stride;
		if (i == rows || tracks[i] == tracks[i - 1])
			continue;
		if (count == WTI_PATCHES_MAX) {
			*ret_runs = (struct wti_runs){.count = 1};
			return;
		}
		ret_runs->begin[count++] = i;
	}
	ret_runs->count = count;
	ret_runs->complete = true;
}

static uint8_t width_of(uint64_t span)
{
	unsigned bits = span ? 64 - (unsigned)__builtin_clzll(span) : 0;

	return (uint8_t)((bits + 7) / 8);
}

static bool is_constant(const uint64_t *values, uint32_t rows)
{
	return !memcmp(values, values + 1, sizeof(*values) * (rows - 1));
}

static const struct transform {
	struct range (*residuals)(const uint64_t *restrict, const uint64_t *restrict, uint32_t,
				  uint64_t *restrict);
	bool looks_back; /* at the row before */
} transforms[] = {
	[WT_DELTA] = {differences, true}, [WT_XOR] = {changes, true},
	[WT_REL] = {distances, false},    [WT_REL_DELTA] = {distance_differences, true},
	[WT_REL_PREVIOUS] = {gaps, true},
};

static uint32_t run_end(const struct wti_pack_input *input, uint32_t run)
{
	return run + 1 < input->runs->count ? input->runs->begin[run + 1] : input->rows;
}

/* Residuals within each run; their range. Empty (low above high) if every run is a single row. */
static struct range residuals_of_runs(const struct wti_pack_input *input, uint64_t *out)
{
	const struct transform *transform = &transforms[input->transform];
	struct range all = {INT64_MAX, INT64_MIN};

	for (uint32_t i = 0; i < input->runs->count; i++) {
		uint32_t begin = input->runs->begin[i];
		const uint64_t *ref = input->ref ? input->ref + begin : NULL;
		struct range range = transform->residuals(input->values + begin, ref,
							  run_end(input, i) - begin, out + begin);

		all.low = range.low < all.low ? range.low : all.low;
		all.high = range.high > all.high ? range.high : all.high;
	}
	return all;
}

/* The rows at which runs begin: patched, unless they happen to be within the range. */
static void patch_runs(const struct wti_pack_input *input, struct range range, uint64_t *out,
		       struct wti_packing *packing)
{
	const struct transform *transform = &transforms[input->transform];

	for (uint32_t i = 1; i < input->runs->count; i++) {
		uint32_t row = input->runs->begin[i];
		const uint64_t *ref = input->ref ? input->ref + row - 1 : NULL;
		uint64_t pair[2];
		int64_t residual;

		residual = transform->residuals(input->values + row - 1, ref, 2, pair).low;
		out[row] = (uint64_t)residual;
		if (residual >= range.low && residual <= range.high)
			continue;
		out[row] = (uint64_t)range.low;
		packing->patches[packing->patch_count++] = (struct wti_patch){
			.row = row,
			.packed = (uint64_t)residual - (uint64_t)range.low,
		};
	}
}

/*
 * The first row has no predecessor, so we invent one that makes its residual like the others: a
 * column that counts up by a constant then needs no planes at all.
 */
static uint64_t invent_first(const struct wti_pack_input *input, uint64_t residual)
{
	switch (input->transform) {
	case WT_XOR:
		return input->values[0] ^ residual;
	case WT_REL_DELTA:
		return input->values[0] - input->ref[0] - residual;
	default: /* delta, and relative to the row before */
		return input->values[0] - residual;
	}
}

const uint64_t *wti_pack_plan(const struct wti_pack_input *input, uint64_t *scratch,
			      struct wti_packing *ret_packing)
{
	static const struct wti_runs one_run = {.count = 1};
	struct wti_pack_input in = *input;
	struct range range;

	*ret_packing = (struct wti_packing){.transform = in.transform};
	/* A constant is best left alone, whatever was meant to predict it. */
	if (in.transform == WT_PLAIN || is_constant(in.values, in.rows)) {
		range = range_of(in.values, in.transform == WT_PLAIN ? in.rows : 1);
		ret_packing->transform = WT_PLAIN;
		ret_packing->bias = (uint64_t)range.low;
		ret_packing->width = width_of((uint64_t)range.high - (uint64_t)range.low);
		return in.values;
	}
	if (!in.runs || !transforms[in.transform].looks_back)
		in.runs = &one_run;
	range = residuals_of_runs(&in, scratch);
	if (range.low > range.high) {
		in.runs = &one_run;
		range = residuals_of_runs(&in, scratch);
	}
	if (transforms[in.transform].looks_back) {
		patch_runs(&in, range, scratch, ret_packing);
		scratch[0] = (uint64_t)range.low;
		ret_packing->first = invent_first(&in, (uint64_t)range.low);
	}
	ret_packing->bias = (uint64_t)range.low;
	ret_packing->width = width_of((uint64_t)range.high - (uint64_t)range.low);
	return scratch;
}

WTI_CLONES static void cut(const uint64_t *residuals, uint32_t rows, uint64_t bias, unsigned shift,
			   uint8_t *out)
{
	for (uint32_t i = 0; i < rows; i++)
		out[i] = (uint8_t)((residuals[i] - bias) >> shift);
}

/* Not cloned itself: clones of a function that other files see would be visible to the world. */
void wti_pack_plane(const uint64_t *residuals, uint32_t rows, uint64_t bias, unsigned plane,
		    uint8_t *out)
{
	cut(residuals, rows, bias, plane * 8, out);
}

WTI_CLONES static void spread(const uint8_t *plane, unsigned shift, uint32_t rows, uint64_t *values)
{
	for (uint32_t i = 0; i < rows; i++)
		values[i] |= (uint64_t)plane[i] << shift;
}

WTI_CLONES static void spread_two(const uint8_t *low, const uint8_t *high, uint32_t rows,
				  uint64_t *values)
{
	for (uint32_t i = 0; i < rows; i++)
		values[i] = (uint64_t)low[i] | (uint64_t)high[i] << 8;
}

WTI_CLONES static void spread_one(const uint8_t *low, uint32_t rows, uint64_t *values)
{
	for (uint32_t i = 0; i < rows; i++)
		values[i] = low[i];
}

void wti_unpack_planes(const uint8_t *const *planes, unsigned width, uint32_t rows,
		       uint64_t *values)
{
	unsigned done = width >= 2 ? 2 : width;

	if (width == 0) {
		for (uint32_t i = 0; i < rows; i++)
			values[i] = 0;
	} else if (width == 1) {
		spread_one(planes[0], rows, values);
	} else {
		spread_two(planes[0], planes[1], rows, values);
	}
	for (; done < width; done++)
		spread(planes[done], done * 8, rows, values);
}

WTI_CLONES static void add_bias(uint64_t bias, uint32_t rows, uint64_t *values)
{
	for (uint32_t i = 0; i < rows; i++)
		values[i] += bias;
}

WTI_CLONES static void add_ref(const uint64_t *ref, uint64_t bias, uint32_t rows, uint64_t *values)
{
	for (uint32_t i = 0; i < rows; i++)
		values[i] += ref[i] + bias;
}

void wti_unpack_transform(const struct wti_packing *packing, const uint64_t *ref, uint32_t rows,
			  uint64_t *values)
{
	uint64_t bias = packing->bias;
	uint64_t last = packing->first;

	switch (packing->transform) {
	case WT_PLAIN:
		add_bias(bias, rows, values);
		break;
	case WT_DELTA:
		for (uint32_t i = 0; i < rows; i++)
			values[i] = last += values[i] + bias;
		break;
	case WT_XOR:
		for (uint32_t i = 0; i < rows; i++)
			values[i] = last ^= values[i] + bias;
		break;
	case WT_REL:
		add_ref(ref, bias, rows, values);
		break;
	case WT_REL_DELTA:
		for (uint32_t i = 0; i < rows; i++) {
			last += values[i] + bias;
			values[i] = last + ref[i];
		}
		break;
	case WT_REL_PREVIOUS:
		values[0] += last + bias;
		add_ref(ref, bias, rows - 1, values + 1);
		break;
	}
}
