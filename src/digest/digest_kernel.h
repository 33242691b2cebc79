/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass over memory, included once for each instruction set with WTI_KERNEL naming the function
 * and WTI_WIDTH the doubles in a vector.
 *
 * Each block is hashed, summed, and, when its mean is known, squared while it is in the cache.
 * Lanes never meet within a block, so that the width of the vectors cannot change a result, and
 * multiplication and addition are not fused (-ffp-contract=off). Floats and doubles are read where
 * they lie, types that fit a float are widened once, to a block of floats or, if they have 8 bits,
 * of tops of doubles, and larger integers a piece at a time. Blocks are taken for finite
 * first; those that are not are done again, with care.
 */
#include <stdbool.h>
#include <string.h>

/* A page ahead: what fetches memory by itself stops at the end of a page. */
#define XXH_PREFETCH_DIST 4096
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "digest_types.h"

#include "digest_vector.h"

#include "digest_convert.h"
#include "digest_lanes.h"

#include "digest_float8.h"
#include "digest_survey.h"

/* ---- A block of any type --------------------------------------------------------------------- */

/* How elements are taken: constants where these functions are called, so that each way is a
 * function of its own, with everything in registers. */
enum way {
	FLOATS,  /* where they lie, or a block of them that was widened */
	DOUBLES, /* where they lie */
	PIECES,  /* of any type: widened first */
	CARE,    /* the same, and some are not finite */
};

struct block {
	const char *data;
	uint32_t dtype;
	size_t size; /* of an element */
	size_t count;
	const char *floats; /* the elements as floats, for FLOATS */
	double mean;        /* for the second turn */
};

INLINE void take_few(struct lanes *lanes, const double *x, size_t count, const struct block *block,
		     bool is_second)
{
	struct few few;

	if (is_second) {
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

/* `data`: the elements that x was made of. */
INLINE void take_doubles(struct lanes *lanes, const char *x, size_t count, const char *data,
			 const struct block *block, bool is_second, bool with_care)
{
	const struct ahead ahead = {data + BLOCK * block->size, block->size};
	const size_t full = count / LANES * LANES;
	double few[LANES];

	if (is_second && with_care)
		square_with_care(lanes, x, full, block->mean, false);
	else if (is_second)
		square_doubles(lanes, x, full, block->mean);
	else if (with_care)
		add_with_care(lanes, x, full, false);
	else
		add_doubles(lanes, x, full, ahead);
	if (full == count)
		return;
	memcpy(few, x + full * sizeof(double), (count - full) * sizeof(double));
	take_few(lanes, few, count - full, block, is_second);
}

/* What does not fill the lanes. */
INLINE void take_last_floats(struct lanes *lanes, const char *x, size_t count,
			     const struct block *block, bool is_second)
{
	double few[LANES];

	for (size_t j = 0; j < count; j++) {
		float value;

		memcpy(&value, x + j * sizeof(value), sizeof(value));
		few[j] = value;
	}
	if (count)
		take_few(lanes, few, count, block, is_second);
}

INLINE void take_floats(struct lanes *lanes, const char *x, size_t count, const struct block *block,
			bool is_second, bool with_care)
{
	const struct ahead ahead = {block->data + BLOCK * block->size, block->size};
	const size_t full = count / LANES * LANES;

	if (is_second && with_care)
		square_with_care(lanes, x, full, block->mean, true);
	else if (is_second)
		square_floats(lanes, x, full, block->mean, (struct ahead){0});
	else if (with_care)
		add_with_care(lanes, x, full, true);
	else
		add_floats(lanes, x, full, ahead);
	take_last_floats(lanes, x + full * sizeof(float), count - full, block, is_second);
}

INLINE void take_pieces(struct lanes *lanes, const struct block *block, bool is_second,
			bool with_care)
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
			take_floats(lanes, piece.bytes, n, block, is_second, with_care);
		} else {
			to_doubles(data, block->dtype, n, piece.wide);
			take_doubles(lanes, piece.bytes, n, data, block, is_second, with_care);
		}
	}
}

INLINE void take(struct lanes *lanes, const struct block *block, bool is_second, enum way way)
{
	if (way == FLOATS)
		take_floats(lanes, block->floats, block->count, block, is_second, false);
	else if (way == DOUBLES)
		take_doubles(lanes, block->data, block->count, block->data, block, is_second,
			     false);
	else
		take_pieces(lanes, block, is_second, way == CARE);
}

INLINE void take_twice(struct block block, struct wti_part *part, enum way way)
{
	struct lanes lanes;

	lanes_clear(&lanes);
	take(&lanes, &block, false, way);
	part->nan = lanes.nan;
	part->inf = lanes.inf;
	part->zeros = lanes.zeros;
	part->count = block.count - part->nan - part->inf;
	part->mean = part->count ? lanes_fold(&lanes) / (double)part->count : 0;
	if (way != CARE && !__builtin_isfinite(part->mean))
		return;
	lanes_extremes(&lanes, part);
	lanes_clear(&lanes);
	block.mean = part->mean;
	take(&lanes, &block, true, way);
	part->m2 = lanes_fold(&lanes);
}

static __attribute__((noinline)) void take_floats_twice(const struct block *block,
							struct wti_part *part)
{
	take_twice(*block, part, FLOATS);
}

static __attribute__((noinline)) void take_pieces_twice(const struct block *block,
							struct wti_part *part)
{
	take_twice(*block, part, PIECES);
}

static __attribute__((noinline)) void take_twice_with_care(const struct block *block,
							   struct wti_part *part)
{
	take_twice(*block, part, CARE);
}

/* ---- Small elements: known from their bits, but for the squares ------------------------------ */

static double squares_of_floats(struct block block, double mean)
{
	const struct ahead ahead = {block.data + BLOCK * block.size, block.size};
	const size_t full = block.count / LANES * LANES;
	struct lanes lanes;

	lanes_clear(&lanes);
	block.mean = mean;
	square_floats(&lanes, block.floats, full, mean, ahead);
	take_last_floats(&lanes, block.floats + full * sizeof(float), block.count - full, &block,
			 true);
	return lanes_fold(&lanes);
}

static double real_of(uint32_t dtype, const void *element)
{
	float value;

	to_floats(element, dtype, 1, &value);
	return value;
}

/* An exponent alone. False: some element is not finite. */
static bool extremes_of_e8m0(const struct block *block, uint8_t *ret_min, uint8_t *ret_max)
{
	struct survey survey;

	survey_bytes(&survey, (const uint8_t *)block->data, block->count, AS_IT_IS);
	*ret_min = (uint8_t)survey.min;
	*ret_max = (uint8_t)survey.max;
	return survey.max < 0xff;
}

/* The others. False: some element is not finite. */
static bool extremes_of_signed(const struct block *block, uint8_t *ret_min, uint8_t *ret_max,
			       uint64_t *ret_zeros)
{
	const bool is_zero_unsigned =
		block->dtype == WT_DTYPE_F8E4M3FNUZ || block->dtype == WT_DTYPE_F8E5M2FNUZ;
	const int most = block->dtype == WT_DTYPE_F8E5M2 ? 0x7b : is_zero_unsigned ? 0x7f : 0x7e;
	struct float8_survey survey;

	survey_float8(&survey, (const uint8_t *)block->data, block->count);
	*ret_min = float8_of_key(survey.min);
	*ret_max = float8_of_key(survey.max);
	*ret_zeros = survey.zeros;
	if (is_zero_unsigned && survey.zeros && memchr(block->data, 0x80, block->count))
		return false;
	return survey.max <= (0x80 | most) && survey.min >= (0x7f & ~most);
}

/* False: some element is not finite. */
static bool extremes_of_float8(const struct block *block, struct wti_part *part)
{
	uint8_t min, max;

	part->zeros = 0;
	if (block->dtype == WT_DTYPE_F8E8M0 ? !extremes_of_e8m0(block, &min, &max)
					    : !extremes_of_signed(block, &min, &max, &part->zeros))
		return false;
	part->min = real_of(block->dtype, &min);
	part->max = real_of(block->dtype, &max);
	return true;
}

/* What comes next is fetched by the hash, which is a page, here a block, ahead. */
static void float8_digest(struct block block, struct wti_part *part)
{
	const size_t full = block.count / LANES * LANES;
	top tops[BLOCK] __attribute__((aligned(64)));
	struct lanes lanes;
	float last[LANES];

	part->mean = __builtin_nan("");
	if (!extremes_of_float8(&block, part))
		return;
	lanes_clear(&lanes);
	sum_float8(&lanes, (const uint8_t *)block.data, block.dtype, full, tops);
	to_floats(block.data + full, block.dtype, block.count - full, last);
	take_last_floats(&lanes, (const char *)last, block.count - full, &block, false);
	part->mean = block.mean = lanes_fold(&lanes) / (double)block.count;
	lanes_clear(&lanes);
	square_tops(&lanes, tops, full, block.mean);
	take_last_floats(&lanes, (const char *)last, block.count - full, &block, true);
	part->m2 = lanes_fold(&lanes);
}

/* Returns the sum. */
static int64_t mean_of_integers(const struct block *block, struct wti_part *part)
{
	const uint8_t *data = (const uint8_t *)block->data;
	struct survey survey;
	int first = 0; /* what the key 0 stands for */

	if (block->dtype == WT_DTYPE_I16 || block->dtype == WT_DTYPE_U16)
		survey_shorts(&survey, block->data, block->count,
			      block->dtype == WT_DTYPE_U16 ? OTHER_SIGN : AS_IT_IS);
	else if (block->dtype == WT_DTYPE_I8)
		survey_bytes(&survey, data, block->count, OTHER_SIGN);
	else
		survey_bytes(&survey, data, block->count, AS_IT_IS);
	if (block->dtype == WT_DTYPE_BOOL) {
		survey.sum = (int64_t)(block->count - survey.zeros);
		survey.min = survey.min != 0;
		survey.max = survey.max != 0;
	}
	if (block->dtype == WT_DTYPE_U16)
		first = 0x8000;
	if (block->dtype == WT_DTYPE_I8)
		first = -0x80;
	survey.sum += first * (int64_t)block->count;
	part->min = survey.min + first;
	part->max = survey.max + first;
	part->zeros = survey.zeros;
	part->mean = (double)survey.sum / (double)block->count;
	return survey.sum;
}

/*
 * Where the count is a power of two, the mean of integers of 8 bits is exact and has at most 12
 * bits after the point; then no distance, square or sum of the definition is rounded (at most 52
 * bits), and any other way to the same number is as good: the sum of x^2, less the square of the
 * sum over the count.
 */
static bool has_exact_squares(const struct block *block)
{
	return block->size == 1 && (block->count & (block->count - 1)) == 0;
}

static double exact_squares(const struct block *block, int64_t sum)
{
	const int64_t count = (int64_t)block->count;
	int64_t squares = sum; /* of flags */

	if (block->dtype == WT_DTYPE_U8)
		squares = squares_of_bytes(block->data, block->count, false);
	else if (block->dtype == WT_DTYPE_I8)
		squares = squares_of_bytes(block->data, block->count, true);
	return (double)(squares * count - sum * sum) / (double)count;
}

static void small_integers_digest(struct block block, struct wti_part *part)
{
	float wide[BLOCK] __attribute__((aligned(64)));
	const int64_t sum = mean_of_integers(&block, part);

	if (has_exact_squares(&block)) {
		part->m2 = exact_squares(&block, sum);
		return;
	}
	to_floats(block.data, block.dtype, block.count, wide);
	block.floats = (const char *)wide;
	part->m2 = squares_of_floats(block, part->mean);
}

/* Each element is widened once: the floats of a block stay in the nearest cache. */
static void small_floats_digest(struct block block, struct wti_part *part)
{
	float wide[BLOCK] __attribute__((aligned(64)));

	to_finite_floats(block.data, block.dtype, block.count, wide);
	block.floats = (const char *)wide;
	take_floats_twice(&block, part);
	if (block.dtype == WT_DTYPE_F16 && (part->max >= 65536 || part->min <= -65536))
		part->mean = __builtin_nan("");
}

/* On its own, so that floats and doubles, most often few of them, have a small frame. */
static __attribute__((noinline)) void narrow_digest(const struct block *block,
						    struct wti_part *part)
{
	part->count = block->count;
	part->nan = part->inf = 0;
	if (is_float8(block->dtype))
		float8_digest(*block, part);
	else if (is_integer(block->dtype))
		small_integers_digest(*block, part);
	else
		small_floats_digest(*block, part);
}

/*
 * Most blocks are finite. A mean that is not means an element that is not (or an overflow),
 * and then the block is taken again, with care.
 */
static void block_digest(const struct block *block, struct wti_part *part)
{
	if (block->dtype == WT_DTYPE_F32)
		take_twice(*block, part, FLOATS);
	else if (block->dtype == WT_DTYPE_F64)
		take_twice(*block, part, DOUBLES);
	else if (is_narrow(block->dtype))
		narrow_digest(block, part);
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
	if (ret_hash)
		*ret_hash = XXH3_64bits(data, bytes);
	if (total && reals->count) {
		const struct block block = {data, reals->dtype, reals->size, (size_t)reals->count,
					    data};

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
			const struct block block = {at, reals->dtype, reals->size, n, at};

			block_digest(&block, &part);
			wti_part_merge(total, &part);
		}
		at += n * reals->size;
	}
	*ret_hash = XXH3_64bits_digest(&state);
	return true;
}
