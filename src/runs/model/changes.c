/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guesses that can be proven. A single flipped bit: the sum of all elements tells by how much one
 * of them changed, and the hash whether flipping it back gives what was saved. A cast to a narrower
 * type and back: every element fits that type, and the extremes that were saved round to those of
 * the file.
 */
#include "runs/model/changes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/text.h"
#include "digest/digest.h"

#define BYTES_MAX ((uint64_t)64 << 20) /* of a tensor that is kept in memory to try bits */
#define TRIES_MAX 256u                 /* hashes of it */

struct content {
	uint8_t *data;
	size_t bytes;
};

static int take(void *cookie, const void *data, size_t bytes)
{
	struct content *content = cookie;

	memcpy(content->data + content->bytes, data, bytes);
	content->bytes += bytes;
	return 0;
}

/* ---- A flipped bit -------------------------------------------------------------------------- */

static float as_float(uint32_t bits)
{
	float number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

/* Whether flipping a bit of one element makes the sum what it was, about. */
static bool is_likely(uint32_t bits, unsigned bit, double missing, double tolerance)
{
	double change = (double)as_float(bits ^ 1u << bit) - (double)as_float(bits);

	return !isfinite(change) || fabs(change - missing) <= tolerance + fabs(change) * 1e-6;
}

static bool try_bit(struct content *content, size_t byte, unsigned bit, uint64_t hash)
{
	bool is_it;

	content->data[byte] ^= (uint8_t)(1u << bit);
	is_it = wti_digest_hash(content->data, content->bytes) == hash;
	content->data[byte] ^= (uint8_t)(1u << bit);
	return is_it;
}

/* Looks for the element; the sums are rounded, so several are tried. */
static bool find_flip(struct content *content, const struct wt_digest *now,
		      const struct wti_digest_row *saved, size_t *ret_element, unsigned *ret_bit)
{
	double count = (double)now->count;
	double missing = saved->mean * count - now->mean * count;
	double tolerance =
		1e-12 * count * (fabs(saved->mean) + fabs(now->mean) + sqrt(saved->m2 / count));
	bool is_unknown = !isfinite(missing) || now->nan != saved->nan || now->inf != saved->inf;
	unsigned tries = 0;

	for (size_t i = 0; i < now->count; i++) {
		uint32_t bits;

		memcpy(&bits, content->data + 4 * i, sizeof(bits));
		/* An element that is not finite is outside of the sums. */
		if (is_unknown && isfinite(as_float(bits)))
			continue;
		for (unsigned bit = 0; bit < 32; bit++) {
			if (!is_unknown && !is_likely(bits, bit, missing, tolerance))
				continue;
			if (tries++ == TRIES_MAX)
				return false;
			if (try_bit(content, 4 * i + bit / 8, bit % 8, saved->hash)) {
				*ret_element = i;
				*ret_bit = bit;
				return true;
			}
		}
	}
	return false;
}

/* ---- A narrower type ------------------------------------------------------------------------ */

static float round_bf16(float number)
{
	uint32_t bits;

	memcpy(&bits, &number, sizeof(bits));
	bits += 0x7fff + (bits >> 16 & 1);
	return as_float(bits & 0xffff0000u);
}

/* By hand, as not every compiler has the type: clang only for processors that compute in it. */
static float round_f16(float number)
{
	static const float least = 0x1p-24f, least_normal = 0x1p-14f, beyond = 65520.0f;
	uint32_t bits;

	if (fabsf(number) < least_normal)
		return rintf(number / least) * least;
	if (fabsf(number) >= beyond)
		return copysignf(INFINITY, number);
	memcpy(&bits, &number, sizeof(bits));
	bits += 0xfff + (bits >> 13 & 1);
	return as_float(bits & 0xffffe000u);
}

static bool fits(const struct content *content, float (*rounded)(float))
{
	for (size_t i = 0; i + 4 <= content->bytes; i += 4) {
		float number;

		memcpy(&number, content->data + i, sizeof(number));
		if (isfinite(number) && rounded(number) != number)
			return false;
	}
	return true;
}

static bool is_rounded(const struct content *content, const struct wt_digest *now,
		       const struct wti_digest_row *saved, float (*rounded)(float))
{
	return (double)rounded((float)saved->min) == now->min &&
	       (double)rounded((float)saved->max) == now->max && fits(content, rounded);
}

/* ---- In words ------------------------------------------------------------------------------- */

static void explain_content(struct content *content, const struct wt_digest *now,
			    const struct wti_digest_row *saved, struct wti_buf *out)
{
	size_t element;
	unsigned bit;

	if (is_rounded(content, now, saved, round_bf16)) {
		wti_textf(out, ": every element is rounded to bf16; it was cast to it and back");
	} else if (is_rounded(content, now, saved, round_f16)) {
		wti_textf(out, ": every element is rounded to f16; it was cast to it and back");
	} else if (find_flip(content, now, saved, &element, &bit)) {
		wti_textf(out, ": bit %u of element %zu is flipped, and all else is the same", bit,
			  element);
	} else {
		wti_textf(out, "; mean %g, saved %g; deviation %g, saved %g", now->mean,
			  saved->mean, sqrt(now->m2 / (double)now->count),
			  sqrt(saved->m2 / (double)now->count));
	}
}

void wti_model_explain_change(struct wti_model *model, const struct wti_model_tensor *tensor,
			      const struct wt_digest *now, const struct wti_digest_row *saved,
			      struct wti_buf *out)
{
	struct content content = {0};

	if (tensor->dtype != saved->dtype) {
		wti_textf(out, ": its type is %s, and it was saved as another",
			  wti_model_dtype_word(tensor));
		return;
	}
	if (tensor->count != saved->count) {
		wti_textf(out, ": it has %" PRIu64 " elements, and was saved with %" PRIu64,
			  tensor->count, saved->count);
		return;
	}
	if (tensor->dtype != WT_DTYPE_F32 || !tensor->count || tensor->bytes > BYTES_MAX ||
	    saved->flags & WT_TENSOR_NO_STATISTICS)
		return;
	content.data = malloc((size_t)tensor->bytes);
	if (content.data && !wti_model_walk(model, tensor, take, &content, NULL))
		explain_content(&content, now, saved, out);
	free(content.data);
}
