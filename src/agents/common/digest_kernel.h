/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass over memory, included once for each instruction set with WTI_KERNEL naming the function
 * and WTI_WIDTH the doubles in a vector.
 *
 * Each block is hashed, summed, and, when its mean is known, squared while it is in the cache.
 * Lanes never meet within a block, so that the width of the vectors cannot change a result, and
 * multiplication and addition are not fused (-ffp-contract=off). Runs of finite floats and doubles
 * go through vectors; whatever else there is (NaN, infinity, ends, other types) one by one or
 * through a small buffer of doubles.
 */
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "digest_types.h"

enum {
	BLOCK = 4096, /* elements */
	PIECE = 256,  /* elements that are converted at a time; a multiple of LANES */
	LANES = 16,
	WIDTH = WTI_WIDTH,
	VECTORS = LANES / WIDTH, /* of doubles, for all lanes */
	FLOAT_VECTORS = VECTORS / 2,
};

typedef double doubles __attribute__((vector_size(8 * WTI_WIDTH)));
typedef int64_t longs __attribute__((vector_size(8 * WTI_WIDTH)));
typedef float floats __attribute__((vector_size(8 * WTI_WIDTH)));
typedef int32_t ints __attribute__((vector_size(8 * WTI_WIDTH)));
typedef float half_floats __attribute__((vector_size(4 * WTI_WIDTH)));

/* What a block is reduced to. */
struct lanes {
	double sum[LANES]; /* of finite elements; in the second turn, of squared distances */
	double min[LANES];
	double max[LANES];
	uint64_t nan;
	uint64_t inf;
	uint64_t zeros;
};

/* a < b ? a : b and a > b ? a : b in each lane, which is what the instructions do, to the bit. */
#if defined(__AVX512F__)
#define MIN_DOUBLES(a, b) ((doubles)_mm512_min_pd((__m512d)(a), (__m512d)(b)))
#define MAX_DOUBLES(a, b) ((doubles)_mm512_max_pd((__m512d)(a), (__m512d)(b)))
#define MIN_FLOATS(a, b) ((floats)_mm512_min_ps((__m512)(a), (__m512)(b)))
#define MAX_FLOATS(a, b) ((floats)_mm512_max_ps((__m512)(a), (__m512)(b)))
#elif defined(__AVX2__)
#define MIN_DOUBLES(a, b) ((doubles)_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#define MAX_DOUBLES(a, b) ((doubles)_mm256_max_pd((__m256d)(a), (__m256d)(b)))
#define MIN_FLOATS(a, b) ((floats)_mm256_min_ps((__m256)(a), (__m256)(b)))
#define MAX_FLOATS(a, b) ((floats)_mm256_max_ps((__m256)(a), (__m256)(b)))
#elif defined(__SSE2__)
#define MIN_DOUBLES(a, b) ((doubles)_mm_min_pd((__m128d)(a), (__m128d)(b)))
#define MAX_DOUBLES(a, b) ((doubles)_mm_max_pd((__m128d)(a), (__m128d)(b)))
#define MIN_FLOATS(a, b) ((floats)_mm_min_ps((__m128)(a), (__m128)(b)))
#define MAX_FLOATS(a, b) ((floats)_mm_max_ps((__m128)(a), (__m128)(b)))
#else
#define CHOOSE(type, bits, mask, yes, no) ((type)(((mask) & (bits)(yes)) | (~(mask) & (bits)(no))))
#define MIN_DOUBLES(a, b) CHOOSE(doubles, longs, (a) < (b), a, b)
#define MAX_DOUBLES(a, b) CHOOSE(doubles, longs, (a) > (b), a, b)
#define MIN_FLOATS(a, b) CHOOSE(floats, ints, (a) < (b), a, b)
#define MAX_FLOATS(a, b) CHOOSE(floats, ints, (a) > (b), a, b)
#endif

static void lanes_clear(struct lanes *lanes)
{
	memset(lanes, 0, sizeof(*lanes));
	for (int j = 0; j < LANES; j++) {
		lanes->min[j] = __builtin_inf();
		lanes->max[j] = -__builtin_inf();
	}
}

/* Lane j takes in lane j + 8, then j + 4, j + 2, j + 1. */
static double lanes_fold(const double sum[LANES])
{
	double all[LANES];

	memcpy(all, sum, sizeof(all));
	for (int step = LANES / 2; step; step /= 2)
		for (int j = 0; j < step; j++)
			all[j] += all[j + step];
	return all[0];
}

static void lanes_extremes(const struct lanes *lanes, double *ret_min, double *ret_max)
{
	*ret_min = lanes->min[0];
	*ret_max = lanes->max[0];
	for (int j = 1; j < LANES; j++) {
		*ret_min = lanes->min[j] < *ret_min ? lanes->min[j] : *ret_min;
		*ret_max = lanes->max[j] > *ret_max ? lanes->max[j] : *ret_max;
	}
}

/* ---- One by one ------------------------------------------------------------------------------ */

static void add_any(struct lanes *lanes, const double *x, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t j = i % LANES;

		if (__builtin_isnan(x[i])) {
			lanes->nan++;
		} else if (__builtin_isinf(x[i])) {
			lanes->inf++;
		} else {
			lanes->zeros += x[i] == 0;
			lanes->sum[j] += x[i];
			lanes->min[j] = x[i] < lanes->min[j] ? x[i] : lanes->min[j];
			lanes->max[j] = x[i] > lanes->max[j] ? x[i] : lanes->max[j];
		}
	}
}

static void square_any(struct lanes *lanes, const double *x, size_t count, double mean)
{
	for (size_t i = 0; i < count; i++) {
		double distance = x[i] - mean;

		if (__builtin_isfinite(x[i]))
			lanes->sum[i % LANES] += distance * distance;
	}
}

/* ---- Finite doubles -------------------------------------------------------------------------- */

static inline doubles load(const double *x)
{
	doubles vector;

	memcpy(&vector, x, sizeof(vector));
	return vector;
}

static bool doubles_are_finite(const double *x, size_t count)
{
	longs all = (longs){0} - 1;

	for (size_t i = 0; i + WIDTH <= count; i += WIDTH) {
		doubles magnitude = (doubles)((longs)load(x + i) & INT64_MAX);

		all &= magnitude < __builtin_inf();
	}
	for (int j = 0; j < WIDTH; j++)
		if (!all[j])
			return false;
	return true;
}

static void add_doubles(struct lanes *lanes, const double *x, size_t count)
{
	doubles sum[VECTORS];
	doubles min = load(lanes->min);
	doubles max = load(lanes->max);
	longs zeros = {0};

	memcpy(sum, lanes->sum, sizeof(sum));
	for (size_t i = 0; i < count; i += LANES) {
		__builtin_prefetch(x + i + BLOCK, 0,
				   2); /* the next block is on its way meanwhile */
		__builtin_prefetch(x + i + BLOCK + 8, 0, 2);
		for (int k = 0; k < VECTORS; k++) {
			doubles value = load(x + i + k * WIDTH);

			sum[k] += value;
			min = MIN_DOUBLES(value, min);
			max = MAX_DOUBLES(value, max);
			zeros -= value == 0;
		}
	}
	memcpy(lanes->sum, sum, sizeof(sum));
	memcpy(lanes->min, &min, sizeof(min));
	memcpy(lanes->max, &max, sizeof(max));
	for (int j = 0; j < WIDTH; j++)
		lanes->zeros += (uint64_t)zeros[j];
}

static void square_doubles(struct lanes *lanes, const double *x, size_t count, double mean)
{
	doubles sum[VECTORS];

	memcpy(sum, lanes->sum, sizeof(sum));
	for (size_t i = 0; i < count; i += LANES) {
		for (int k = 0; k < VECTORS; k++) {
			doubles distance = load(x + i + k * WIDTH) - mean;

			sum[k] += distance * distance;
		}
	}
	memcpy(lanes->sum, sum, sizeof(sum));
}

/* ---- Finite floats: widened in registers, extremes compared as they are -----------------------
 */

static inline doubles widen(const float *x)
{
	half_floats narrow;

	memcpy(&narrow, x, sizeof(narrow));
	return __builtin_convertvector(narrow, doubles);
}

static void add_floats(struct lanes *lanes, const float *x, size_t count)
{
	doubles sum[VECTORS];
	floats min = (floats){0} + __builtin_inff();
	floats max = -min;
	ints zeros = {0};

	memcpy(sum, lanes->sum, sizeof(sum));
	for (size_t i = 0; i < count; i += LANES) {
		__builtin_prefetch(x + i + BLOCK, 0, 2);
		for (int k = 0; k < FLOAT_VECTORS; k++) {
			floats value;

			memcpy(&value, x + i + 2 * k * WIDTH, sizeof(value));
			min = MIN_FLOATS(value, min);
			max = MAX_FLOATS(value, max);
			zeros -= value == 0;
		}
		for (int k = 0; k < VECTORS; k++)
			sum[k] += widen(x + i + k * WIDTH);
	}
	memcpy(lanes->sum, sum, sizeof(sum));
	for (int j = 0; j < 2 * WIDTH; j++) {
		lanes->min[j] = min[j];
		lanes->max[j] = max[j];
		lanes->zeros += (uint64_t)zeros[j];
	}
}

static void square_floats(struct lanes *lanes, const float *x, size_t count, double mean)
{
	doubles sum[VECTORS];

	memcpy(sum, lanes->sum, sizeof(sum));
	for (size_t i = 0; i < count; i += LANES) {
		for (int k = 0; k < VECTORS; k++) {
			doubles distance = widen(x + i + k * WIDTH) - mean;

			sum[k] += distance * distance;
		}
	}
	memcpy(lanes->sum, sum, sizeof(sum));
}

/* ---- A block of any type --------------------------------------------------------------------- */

/* The two turns over a block: the second knows the mean. */
struct turn {
	bool second;
	double mean;
};

static void turn_any(struct lanes *lanes, const double *x, size_t count, struct turn turn)
{
	if (turn.second)
		square_any(lanes, x, count, turn.mean);
	else
		add_any(lanes, x, count);
}

static void turn_doubles(struct lanes *lanes, const double *x, size_t count, struct turn turn)
{
	size_t full = doubles_are_finite(x, count) ? count / LANES * LANES : 0;

	if (turn.second)
		square_doubles(lanes, x, full, turn.mean);
	else
		add_doubles(lanes, x, full);
	turn_any(lanes, x + full, count - full, turn);
}

static void turn_pieces(struct lanes *lanes, const void *data, uint32_t dtype, size_t from,
			size_t count, struct turn turn)
{
	double piece[PIECE];

	for (size_t at = from; at < count; at += PIECE) {
		size_t n = count - at < PIECE ? count - at : PIECE;

		wti_to_doubles(data, dtype, at, n, piece);
		turn_doubles(lanes, piece, n, turn);
	}
}

/* `direct`: floats or doubles, taken for finite, at their natural addresses. */
static void turn_block(struct lanes *lanes, const void *data, uint32_t dtype, size_t count,
		       bool direct, struct turn turn)
{
	size_t full = direct ? count / LANES * LANES : 0;

	if (full && dtype == WT_DTYPE_F32 && turn.second)
		square_floats(lanes, data, full, turn.mean);
	else if (full && dtype == WT_DTYPE_F32)
		add_floats(lanes, data, full);
	else if (full && turn.second)
		square_doubles(lanes, data, full, turn.mean);
	else if (full)
		add_doubles(lanes, data, full);
	turn_pieces(lanes, data, dtype, full, count, turn);
}

static bool may_be_direct(const void *data, uint32_t dtype)
{
	return (dtype == WT_DTYPE_F32 || dtype == WT_DTYPE_F64) &&
	       (uintptr_t)data % wti_real_bytes(dtype) == 0;
}

/*
 * Most blocks are finite. A sum that is not tells of an element that is not (or of an overflow),
 * and then the block is taken again, with care.
 */
static bool add_block(struct lanes *lanes, const void *data, uint32_t dtype, size_t count)
{
	const struct turn first = {false, 0};
	bool direct = may_be_direct(data, dtype);

	lanes_clear(lanes);
	turn_block(lanes, data, dtype, count, direct, first);
	if (direct && !__builtin_isfinite(lanes_fold(lanes->sum))) {
		direct = false;
		lanes_clear(lanes);
		turn_block(lanes, data, dtype, count, direct, first);
	}
	return direct;
}

static void block_digest(const void *data, uint32_t dtype, size_t count, struct wti_part *part)
{
	struct turn second = {true, 0};
	struct lanes lanes;
	bool direct = add_block(&lanes, data, dtype, count);

	part->nan = lanes.nan;
	part->inf = lanes.inf;
	part->zeros = lanes.zeros;
	part->count = count - part->nan - part->inf;
	lanes_extremes(&lanes, &part->min, &part->max);
	part->mean = part->count ? lanes_fold(lanes.sum) / (double)part->count : 0;
	second.mean = part->mean;
	memset(lanes.sum, 0, sizeof(lanes.sum));
	turn_block(&lanes, data, dtype, count, direct, second);
	part->m2 = lanes_fold(lanes.sum);
}

void WTI_KERNEL(const void *data, uint32_t dtype, uint64_t count, struct wti_part *total,
		uint64_t *ret_hash)
{
	const size_t size = wti_real_bytes(dtype);
	const uint8_t *at = data;
	XXH3_state_t state;

	XXH3_64bits_reset(&state);
	for (uint64_t done = 0; done < count; done += BLOCK) {
		size_t n = count - done < BLOCK ? (size_t)(count - done) : BLOCK;
		struct wti_part part;

		XXH3_64bits_update(&state, at, n * size);
		block_digest(at, dtype, n, &part);
		wti_part_merge(total, &part);
		at += n * size;
	}
	*ret_hash = XXH3_64bits_digest(&state);
}
