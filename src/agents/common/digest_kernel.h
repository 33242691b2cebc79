/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass over memory, included once for each instruction set with WTI_KERNEL naming the function
 * and WTI_WIDTH the doubles in a vector.
 *
 * Each block is hashed, summed, and, when its mean is known, squared while it is in the cache.
 * Lanes never meet within a block, so that the width of the vectors cannot change a result, and
 * multiplication and addition are not fused (-ffp-contract=off). Floats and doubles are read where
 * they lie, other types are widened a piece at a time. Blocks are taken for finite first; those
 * that are not are done again, with care.
 */
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* A page ahead: what fetches memory by itself stops at the end of a page. */
#define XXH_PREFETCH_DIST 4096
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "digest_types.h"

#include "digest_convert.h"

enum {
	BLOCK = 4096, /* elements */
	PIECE = 512,  /* elements that are widened at a time; a multiple of LANES */
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

/* What a block is reduced to in a turn over it. */
struct lanes {
	doubles sum[VECTORS]; /* of finite elements; in the second turn, of squared distances */
	doubles min;          /* over all lanes of the same place in a vector */
	doubles max;
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
#define WIDEN(floats) ((doubles)_mm512_cvtps_pd((__m256)(floats)))
#define LOW_HALF(floats) _mm512_castps512_ps256((__m512)(floats))
#define HIGH_HALF(floats) _mm512_extractf32x8_ps((__m512)(floats), 1)
#elif defined(__AVX2__)
#define MIN_DOUBLES(a, b) ((doubles)_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#define MAX_DOUBLES(a, b) ((doubles)_mm256_max_pd((__m256d)(a), (__m256d)(b)))
#define MIN_FLOATS(a, b) ((floats)_mm256_min_ps((__m256)(a), (__m256)(b)))
#define MAX_FLOATS(a, b) ((floats)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define WIDEN(floats) ((doubles)_mm256_cvtps_pd((__m128)(floats)))
#define LOW_HALF(floats) _mm256_castps256_ps128((__m256)(floats))
#define HIGH_HALF(floats) _mm256_extractf128_ps((__m256)(floats), 1)
#elif defined(__SSE2__)
#define MIN_DOUBLES(a, b) ((doubles)_mm_min_pd((__m128d)(a), (__m128d)(b)))
#define MAX_DOUBLES(a, b) ((doubles)_mm_max_pd((__m128d)(a), (__m128d)(b)))
#define MIN_FLOATS(a, b) ((floats)_mm_min_ps((__m128)(a), (__m128)(b)))
#define MAX_FLOATS(a, b) ((floats)_mm_max_ps((__m128)(a), (__m128)(b)))
#define WIDEN(floats) __builtin_convertvector(floats, doubles)
#define LOW_HALF(floats) __builtin_shufflevector(floats, floats, 0, 1)
#define HIGH_HALF(floats) __builtin_shufflevector(floats, floats, 2, 3)
#else
#define CHOOSE(type, bits, mask, yes, no) ((type)(((mask) & (bits)(yes)) | (~(mask) & (bits)(no))))
#define MIN_DOUBLES(a, b) CHOOSE(doubles, longs, (a) < (b), a, b)
#define MAX_DOUBLES(a, b) CHOOSE(doubles, longs, (a) > (b), a, b)
#define MIN_FLOATS(a, b) CHOOSE(floats, ints, (a) < (b), a, b)
#define MAX_FLOATS(a, b) CHOOSE(floats, ints, (a) > (b), a, b)
#define WIDEN(floats) __builtin_convertvector(floats, doubles)
#define LOW_HALF(floats) __builtin_shufflevector(floats, floats, 0, 1)
#define HIGH_HALF(floats) __builtin_shufflevector(floats, floats, 2, 3)
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE void lanes_clear(struct lanes *lanes)
{
	for (int k = 0; k < VECTORS; k++)
		lanes->sum[k] = (doubles){0};
	lanes->min = (doubles){0} + __builtin_inf();
	lanes->max = (doubles){0} - __builtin_inf();
	lanes->nan = lanes->inf = lanes->zeros = 0;
}

/* Place j of the result is place j + step; what comes to the end does not matter. */
#if WTI_WIDTH == 8
#define MOVED(v, step)                                                                             \
	__builtin_shufflevector(v, v, step, (1 + step) % 8, (2 + step) % 8, (3 + step) % 8,        \
				(4 + step) % 8, (5 + step) % 8, (6 + step) % 8, (7 + step) % 8)
#elif WTI_WIDTH == 4
#define MOVED(v, step)                                                                             \
	__builtin_shufflevector(v, v, step % 4, (1 + step) % 4, (2 + step) % 4, (3 + step) % 4)
#else
#define MOVED(v, step) __builtin_shufflevector(v, v, step % 2, (1 + step) % 2)
#endif

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

/* ---- Finite doubles, at any address; `count` is a multiple of LANES ---------------------------
 */

INLINE doubles load(const void *x, size_t at)
{
	doubles vector;

	memcpy(&vector, (const char *)x + at * sizeof(double), sizeof(vector));
	return vector;
}

INLINE void add_doubles(struct lanes *lanes, const void *x, size_t count)
{
	struct lanes own = *lanes; /* in registers */
	longs zeros = {0};

	for (size_t i = 0; i < count; i += LANES) {
		for (int k = 0; k < VECTORS; k++) {
			doubles value = load(x, i + (size_t)(k * WIDTH));

			own.sum[k] += value;
			own.min = MIN_DOUBLES(value, own.min);
			own.max = MAX_DOUBLES(value, own.max);
			zeros -= value == 0;
		}
		/* The next block is on its way meanwhile. */
		__builtin_prefetch((const char *)x + (i + BLOCK) * sizeof(double), 0, 2);
		__builtin_prefetch((const char *)x + (i + BLOCK + 8) * sizeof(double), 0, 2);
	}
	for (int j = 0; j < WIDTH; j++)
		own.zeros += (uint64_t)zeros[j];
	*lanes = own;
}

INLINE void square_doubles(struct lanes *lanes, const void *x, size_t count, double mean)
{
	struct lanes own = *lanes; /* in registers */

	for (size_t i = 0; i < count; i += LANES) {
		for (int k = 0; k < VECTORS; k++) {
			doubles distance = load(x, i + (size_t)(k * WIDTH)) - mean;

			own.sum[k] += distance * distance;
		}
	}
	*lanes = own;
}

/* ---- Finite floats: widened in registers, extremes compared as they are -----------------------
 */

INLINE doubles widen(const void *x, size_t at)
{
	half_floats narrow;

	memcpy(&narrow, (const char *)x + at * sizeof(float), sizeof(narrow));
	return WIDEN(narrow);
}

INLINE void add_floats(struct lanes *lanes, const void *x, size_t count)
{
	struct lanes own = *lanes; /* in registers */
	floats min = (floats){0} + __builtin_inff();
	floats max = -min;
	ints zeros = {0};

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
			own.sum[k] += widen(x, i + (size_t)(k * WIDTH));
		__builtin_prefetch((const char *)x + (i + BLOCK) * sizeof(float), 0, 2);
	}
	own.min = MIN_DOUBLES(WIDEN(LOW_HALF(min)), MIN_DOUBLES(WIDEN(HIGH_HALF(min)), own.min));
	own.max = MAX_DOUBLES(WIDEN(LOW_HALF(max)), MAX_DOUBLES(WIDEN(HIGH_HALF(max)), own.max));
	for (int j = 0; j < 2 * WIDTH; j++)
		own.zeros += (uint32_t)zeros[j];
	*lanes = own;
}

INLINE void square_floats(struct lanes *lanes, const void *x, size_t count, double mean)
{
	struct lanes own = *lanes; /* in registers */

	for (size_t i = 0; i < count; i += LANES) {
		for (int k = 0; k < VECTORS; k++) {
			doubles distance = widen(x, i + (size_t)(k * WIDTH)) - mean;

			own.sum[k] += distance * distance;
		}
	}
	*lanes = own;
}

/* ---- Fewer elements than lanes, or some that are not finite -----------------------------------
 */

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

/* ---- A block of any type --------------------------------------------------------------------- */

/* How elements are taken: constants where these functions are called, so that each way is a
 * function of its own, with everything in registers. */
enum way {
	FLOATS,  /* where they lie */
	DOUBLES, /* where they lie */
	PIECES,  /* of any type: widened first */
	CARE,    /* the same, and some are not finite */
};

struct block {
	const char *data;
	uint32_t dtype;
	size_t size; /* of an element */
	size_t count;
	bool is_second; /* turn: the mean is known */
	double mean;
};

INLINE void take_few(struct lanes *lanes, const double *x, size_t count, const struct block *block)
{
	struct few few;

	if (block->is_second) {
		few_square(&few, x, count, block->mean);
	} else {
		few_add(&few, x, count);
		lanes->nan += few.nan;
		lanes->inf += few.inf;
		lanes->zeros += few.zeros;
		lanes->min = MIN_DOUBLES((doubles){0} + few.min, lanes->min);
		lanes->max = MAX_DOUBLES((doubles){0} + few.max, lanes->max);
	}
	for (int k = 0; k < VECTORS; k++)
		lanes->sum[k] += load(few.add, (size_t)(k * WIDTH));
}

INLINE void take_doubles(struct lanes *lanes, const char *x, size_t count,
			 const struct block *block, bool with_care)
{
	size_t full = with_care ? 0 : count / LANES * LANES;
	double few[LANES];

	if (block->is_second)
		square_doubles(lanes, x, full, block->mean);
	else
		add_doubles(lanes, x, full);
	for (; full < count; full += LANES) {
		size_t n = count - full < LANES ? count - full : LANES;

		memcpy(few, x + full * sizeof(double), n * sizeof(double));
		take_few(lanes, few, n, block);
	}
}

INLINE void take_floats(struct lanes *lanes, const char *x, size_t count, const struct block *block,
			bool with_care)
{
	size_t full = with_care ? 0 : count / LANES * LANES;
	double few[LANES];

	if (block->is_second)
		square_floats(lanes, x, full, block->mean);
	else
		add_floats(lanes, x, full);
	for (; full < count; full += LANES) {
		size_t n = count - full < LANES ? count - full : LANES;

		for (size_t j = 0; j < n; j++) {
			float value;

			memcpy(&value, x + (full + j) * sizeof(value), sizeof(value));
			few[j] = value;
		}
		take_few(lanes, few, n, block);
	}
}

INLINE void take_pieces(struct lanes *lanes, const struct block *block, bool with_care)
{
	union {
		float narrow[PIECE];
		double wide[PIECE];
		char bytes[1];
	} piece;

	for (size_t at = 0; at < block->count; at += PIECE) {
		const char *data = block->data + at * block->size;
		size_t n = block->count - at < PIECE ? block->count - at : PIECE;

		if (is_narrow(block->dtype)) {
			to_floats(data, block->dtype, n, piece.narrow);
			take_floats(lanes, piece.bytes, n, block, with_care);
		} else {
			to_doubles(data, block->dtype, n, piece.wide);
			take_doubles(lanes, piece.bytes, n, block, with_care);
		}
	}
}

INLINE void take(struct lanes *lanes, const struct block *block, enum way way)
{
	if (way == FLOATS)
		take_floats(lanes, block->data, block->count, block, false);
	else if (way == DOUBLES)
		take_doubles(lanes, block->data, block->count, block, false);
	else
		take_pieces(lanes, block, way == CARE);
}

INLINE void take_twice(struct block block, struct wti_part *part, enum way way)
{
	struct lanes lanes;

	lanes_clear(&lanes);
	take(&lanes, &block, way);
	part->nan = lanes.nan;
	part->inf = lanes.inf;
	part->zeros = lanes.zeros;
	part->count = block.count - part->nan - part->inf;
	part->mean = part->count ? lanes_fold(&lanes) / (double)part->count : 0;
	if (way != CARE && !__builtin_isfinite(part->mean))
		return;
	lanes_extremes(&lanes, part);
	lanes_clear(&lanes);
	block.is_second = true;
	block.mean = part->mean;
	take(&lanes, &block, way);
	part->m2 = lanes_fold(&lanes);
}

static void take_pieces_twice(const struct block *block, struct wti_part *part)
{
	take_twice(*block, part, PIECES);
}

static void take_twice_with_care(const struct block *block, struct wti_part *part)
{
	take_twice(*block, part, CARE);
}

/*
 * Most blocks are finite. A mean that is not tells of an element that is not (or of an overflow),
 * and then the block is taken again, with care.
 */
static void block_digest(const struct block *block, struct wti_part *part)
{
	if (block->dtype == WT_DTYPE_F32)
		take_twice(*block, part, FLOATS);
	else if (block->dtype == WT_DTYPE_F64)
		take_twice(*block, part, DOUBLES);
	else
		take_pieces_twice(block, part);
	if (!__builtin_isfinite(part->mean))
		take_twice_with_care(block, part);
}

/* One block, or all that needs no statistics: hashed at one go, which spares the state. */
static bool digest_at_once(const struct wti_reals *reals, struct wti_part *total,
			   uint64_t *ret_hash)
{
	const size_t bytes = (size_t)reals->count * reals->size;
	const void *data = reals->data || !bytes ? reals->data : reals->next(reals->self, bytes);

	if (bytes && !data)
		return false;
	*ret_hash = XXH3_64bits(data, bytes);
	if (total && reals->count) {
		const struct block block = {data, reals->dtype, reals->size, (size_t)reals->count};

		block_digest(&block, total);
	}
	return true;
}

bool WTI_KERNEL(const struct wti_reals *reals, struct wti_part *total, uint64_t *ret_hash)
{
	const char *at = reals->data;
	XXH3_state_t state;

	if (reals->count <= BLOCK || (reals->data && !total))
		return digest_at_once(reals, total, ret_hash);
	XXH3_64bits_reset(&state);
	for (uint64_t done = 0; done < reals->count; done += BLOCK) {
		size_t n = reals->count - done < BLOCK ? (size_t)(reals->count - done) : BLOCK;
		struct wti_part part;

		if (!reals->data)
			at = reals->next(reals->self, n * reals->size);
		if (!at)
			return false;
		XXH3_64bits_update(&state, at, n * reals->size);
		if (total) {
			const struct block block = {at, reals->dtype, reals->size, n};

			block_digest(&block, &part);
			wti_part_merge(total, &part);
		}
		at += n * reals->size;
	}
	*ret_hash = XXH3_64bits_digest(&state);
	return true;
}
