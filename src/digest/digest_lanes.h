/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 16 lanes of a block, and the loops over its elements that fill them: a first turn for sums,
 * extremes and zeros, a second one for squared distances from the mean. Included by the kernel.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	BLOCK = 4096, /* elements */
	PIECE = 512,  /* elements that are widened at a time; a multiple of LANES */
	LANES = 16,
	WIDTH = WTI_WIDTH,
	VECTORS = LANES / WIDTH, /* of doubles, for all lanes */
	FLOAT_VECTORS = VECTORS / 2,
};

/* What a block is reduced to in a turn over it. */
struct lanes {
	doubles sum[VECTORS]; /* of finite elements; in the second turn, of squared distances */
	doubles min;          /* over all lanes of the same place in a vector */
	doubles max;
	uint64_t nan;
	uint64_t inf;
	uint64_t zeros;
};

INLINE void lanes_clear(struct lanes *lanes)
{
	for (int k = 0; k < VECTORS; k++)
		lanes->sum[k] = (doubles){0};
	lanes->min = (doubles){0} + __builtin_inf();
	lanes->max = (doubles){0} - __builtin_inf();
	lanes->nan = lanes->inf = lanes->zeros = 0;
}

/*
 * Loops have sums of their own: the compiler would keep those of a struct in memory. Not a loop: it
 * would become a copy of memory in smaller parts, which the processor waits for.
 */
INLINE void sums_copy(doubles to[VECTORS], const doubles from[VECTORS])
{
	to[0] = from[0];
	to[1] = from[1];
	if (VECTORS > 2) {
		to[2 % VECTORS] = from[2 % VECTORS];
		to[3 % VECTORS] = from[3 % VECTORS];
	}
	if (VECTORS > 4) {
		to[4 % VECTORS] = from[4 % VECTORS];
		to[5 % VECTORS] = from[5 % VECTORS];
		to[6 % VECTORS] = from[6 % VECTORS];
		to[7 % VECTORS] = from[7 % VECTORS];
	}
}

/* Lane j takes in lane j + 8, then j + 4, j + 2, j + 1. */
INLINE double lanes_fold(const struct lanes *lanes)
{
	doubles sum[VECTORS];

	for (int k = 0; k < VECTORS; k++)
		sum[k] = lanes->sum[k];
	for (int step = VECTORS / 2; step; step /= 2)
		for (int k = 0; k < step; k++)
			sum[k] += sum[k + step];
	if (WIDTH > 4)
		sum[0] += MOVED(sum[0], 4);
	if (WIDTH > 2)
		sum[0] += MOVED(sum[0], 2);
	sum[0] += MOVED(sum[0], 1);
	return sum[0][0];
}

/* The order does not matter: there are no NaNs, and zeros are made one in the end. */
INLINE void lanes_extremes(const struct lanes *lanes, struct wti_part *part)
{
	doubles min = lanes->min;
	doubles max = lanes->max;

	min = MIN_DOUBLES(MOVED(min, 4), min); /* in narrower vectors some of this is idle */
	max = MAX_DOUBLES(MOVED(max, 4), max);
	min = MIN_DOUBLES(MOVED(min, 2), min);
	max = MAX_DOUBLES(MOVED(max, 2), max);
	min = MIN_DOUBLES(MOVED(min, 1), min);
	max = MAX_DOUBLES(MOVED(max, 1), max);
	part->min = min[0];
	part->max = max[0];
}

/* ---- Finite doubles, at any address; `count` is a multiple of LANES -------------------------- */

INLINE doubles load(const void *x, size_t at)
{
	doubles vector;

	memcpy(&vector, (const char *)x + at * sizeof(double), sizeof(vector));
	return vector;
}

/* What is on its way while a block is taken: the elements that the next block is made of. */
struct ahead {
	const char *data;
	size_t size; /* of an element */
};

INLINE void fetch_ahead(struct ahead ahead, size_t i)
{
	__builtin_prefetch(ahead.data + i * ahead.size, 0, 2);
}

INLINE void add_doubles(struct lanes *lanes, const void *x, size_t count, struct ahead ahead)
{
	doubles sum[VECTORS]; /* in registers */
	longs zeros = {0};
	doubles min = lanes->min, max = lanes->max;

	sums_copy(sum, lanes->sum);
	for (size_t i = 0; i < count; i += LANES) {
		for (int k = 0; k < VECTORS; k++) {
			doubles value = load(x, i + (size_t)(k * WIDTH));

			sum[k] += value;
			min = MIN_DOUBLES(value, min);
			max = MAX_DOUBLES(value, max);
			zeros -= value == 0;
		}
		fetch_ahead(ahead, i);
		fetch_ahead(ahead, i + LANES / 2); /* the lanes of doubles are two lines */
	}
	for (int j = 0; j < WIDTH; j++)
		lanes->zeros += (uint64_t)zeros[j];
	lanes->min = min;
	lanes->max = max;
	sums_copy(lanes->sum, sum);
}

INLINE void square_doubles(struct lanes *lanes, const void *x, size_t count, double mean)
{
	doubles sum[VECTORS]; /* in registers */

	sums_copy(sum, lanes->sum);
	for (size_t i = 0; i < count; i += LANES) {
		for (int k = 0; k < VECTORS; k++) {
			doubles distance = load(x, i + (size_t)(k * WIDTH)) - mean;

			sum[k] += distance * distance;
		}
	}
	sums_copy(lanes->sum, sum);
}

/* ---- Finite floats: widened in registers, extremes compared as they are ---------------------- */

INLINE doubles widen(const void *x, size_t at)
{
#if defined(__SSE2__) && !defined(__AVX2__) /* where the compiler takes one at a time */
	return (doubles)_mm_cvtps_pd(
		_mm_castsi128_ps(_mm_loadl_epi64((const void *)((const char *)x + 4 * at))));
#else
	half_floats narrow;

	memcpy(&narrow, (const char *)x + at * sizeof(float), sizeof(narrow));
	return WIDEN(narrow);
#endif
}

INLINE void add_floats(struct lanes *lanes, const void *x, size_t count, struct ahead ahead)
{
	doubles sum[VECTORS]; /* in registers */
	floats min = (floats){0} + __builtin_inff();
	floats max = -min;
	ints zeros = {0};

	sums_copy(sum, lanes->sum);
	for (size_t i = 0; i < count; i += LANES) {
		for (int k = 0; k < FLOAT_VECTORS; k++) {
			floats value;

			memcpy(&value,
			       (const char *)x + (i + (size_t)(2 * k * WIDTH)) * sizeof(float),
			       sizeof(value));
			min = MIN_FLOATS(value, min);
			max = MAX_FLOATS(value, max);
			zeros -= value == 0;
		}
		for (int k = 0; k < VECTORS; k++)
			sum[k] += widen(x, i + (size_t)(k * WIDTH));
		fetch_ahead(ahead, i);
	}
	lanes->min =
		MIN_DOUBLES(WIDEN(LOW_HALF(min)), MIN_DOUBLES(WIDEN(HIGH_HALF(min)), lanes->min));
	lanes->max =
		MAX_DOUBLES(WIDEN(LOW_HALF(max)), MAX_DOUBLES(WIDEN(HIGH_HALF(max)), lanes->max));
	for (int j = 0; j < 2 * WIDTH; j++)
		lanes->zeros += (uint32_t)zeros[j];
	sums_copy(lanes->sum, sum);
}

INLINE void square_floats(struct lanes *lanes, const void *x, size_t count, double mean,
			  struct ahead ahead)
{
	doubles sum[VECTORS]; /* in registers */

	sums_copy(sum, lanes->sum);
	for (size_t i = 0; i < count; i += LANES) {
		for (int k = 0; k < VECTORS; k++) {
			doubles distance = widen(x, i + (size_t)(k * WIDTH)) - mean;

			sum[k] += distance * distance;
		}
		if (ahead.size)
			fetch_ahead(ahead, i);
	}
	sums_copy(lanes->sum, sum);
}

/* ---- Floats or doubles of which some are not finite ------------------------------------------ */

INLINE doubles load_real(const void *x, size_t at, bool is_float)
{
	return is_float ? widen(x, at) : load(x, at);
}

/* All ones where x is finite. */
INLINE longs finite_mask(doubles x)
{
	doubles zero = x - x;

	return zero == zero;
}

/* Elements that are not finite add +0: no lane is ever -0, so that it stays. */
INLINE void add_with_care(struct lanes *lanes, const void *x, size_t count, bool is_float)
{
	doubles sum[VECTORS]; /* in registers */
	const doubles most = (doubles){0} + __builtin_inf();
	longs zeros = {0}, others = {0}, nans = {0};
	doubles min = lanes->min, max = lanes->max;

	sums_copy(sum, lanes->sum);
	for (size_t i = 0; i < count; i += LANES) {
		for (int k = 0; k < VECTORS; k++) {
			doubles value = load_real(x, i + (size_t)(k * WIDTH), is_float);
			longs is_finite = finite_mask(value);

			sum[k] += (doubles)((longs)value & is_finite);
			min = MIN_DOUBLES(CHOOSE(doubles, longs, is_finite, value, most), min);
			max = MAX_DOUBLES(CHOOSE(doubles, longs, is_finite, value, -most), max);
			zeros -= value == 0;
			nans -= value != value;
			others += is_finite + 1;
		}
	}
	lanes->zeros += sum_of(zeros);
	lanes->nan += sum_of(nans);
	lanes->inf += sum_of(others) - sum_of(nans);
	lanes->min = min;
	lanes->max = max;
	sums_copy(lanes->sum, sum);
}

INLINE void square_with_care(struct lanes *lanes, const void *x, size_t count, double mean,
			     bool is_float)
{
	doubles sum[VECTORS]; /* in registers */

	sums_copy(sum, lanes->sum);
	for (size_t i = 0; i < count; i += LANES) {
		for (int k = 0; k < VECTORS; k++) {
			doubles value = load_real(x, i + (size_t)(k * WIDTH), is_float);
			doubles distance = value - mean;

			sum[k] += (doubles)((longs)(distance * distance) & finite_mask(value));
		}
	}
	sums_copy(lanes->sum, sum);
}

/* ---- Fewer elements than lanes --------------------------------------------------------------- */

struct few {
	double add[LANES]; /* +0 for what is not there: no lane is ever -0, so that it stays */
	double min;
	double max;
	uint32_t nan;
	uint32_t inf;
	uint32_t zeros;
};

static void few_add(struct few *few, const double *x, size_t count)
{
	*few = (struct few){.min = __builtin_inf(), .max = -__builtin_inf()};
	for (size_t j = 0; j < count; j++) {
		if (__builtin_isnan(x[j])) {
			few->nan++;
		} else if (__builtin_isinf(x[j])) {
			few->inf++;
		} else {
			few->add[j] = x[j];
			few->zeros += x[j] == 0;
			few->min = x[j] < few->min ? x[j] : few->min;
			few->max = x[j] > few->max ? x[j] : few->max;
		}
	}
}

static void few_square(struct few *few, const double *x, size_t count, double mean)
{
	memset(few->add, 0, sizeof(few->add));
	for (size_t j = 0; j < count; j++) {
		double distance = x[j] - mean;

		if (__builtin_isfinite(x[j]))
			few->add[j] = distance * distance;
	}
}
