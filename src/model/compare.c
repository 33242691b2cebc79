/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how far two numbers of a type are apart: in steps from one representable number to the next
 * (ULP), and as values. Equal pieces are told by memcmp(), so that equal models cost no more than
 * reading them.
 */
#include "model/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/bytes.h"
#include "digest/digest.h"
#include "digest/values.h"

#define PIECE_BYTES 4096u

/* One pair of tensors under way. */
struct pair {
	uint32_t real_a, real_b; /* types of the reals that elements are made of */
	size_t unit_a, unit_b;   /* bytes of an element */
	struct wti_model_difference *difference;
};

/* Floats as integers whose order is that of the numbers: neighbours differ by 1. */
static int64_t ordered(const uint8_t *at, size_t bytes)
{
	uint64_t bits = 0, sign = (uint64_t)1 << (8 * bytes - 1);

	memcpy(&bits, at, bytes);
	return bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

static bool has_steps(uint32_t dtype)
{
	return dtype >= WT_DTYPE_F16 && dtype != WT_DTYPE_F8E8M0;
}

static void measure_steps(struct wti_model_difference *difference, const uint8_t *a,
			  const uint8_t *b, size_t bytes)
{
	int64_t one = ordered(a, bytes), other = ordered(b, bytes);
	uint64_t steps =
		one > other ? (uint64_t)one - (uint64_t)other : (uint64_t)other - (uint64_t)one;

	if (steps > difference->ulp_max)
		difference->ulp_max = steps;
	difference->ulp_one += steps == 1;
}

/* A pair of reals that differ. */
static void measure(const struct pair *pair, const uint8_t *a, const uint8_t *b)
{
	struct wti_model_difference *difference = pair->difference;
	double one, other, distance;

	wti_values(a, pair->real_a, 1, &one);
	wti_values(b, pair->real_b, 1, &other);
	if (!isfinite(one) || !isfinite(other)) {
		difference->not_finite++;
		return;
	}
	distance = fabs(one - other);
	if (distance > difference->abs_max)
		difference->abs_max = distance;
	if (distance > 0 && distance / fmax(fabs(one), fabs(other)) > difference->rel_max)
		difference->rel_max = distance / fmax(fabs(one), fabs(other));
	if (pair->real_a == pair->real_b && has_steps(pair->real_a))
		measure_steps(difference, a, b, wti_dtype_bytes(pair->real_a));
}

static bool is_same_value(const struct pair *pair, const uint8_t *a, const uint8_t *b)
{
	size_t bytes_a = wti_dtype_bytes(pair->real_a), bytes_b = wti_dtype_bytes(pair->real_b);

	if (pair->difference->is_same_type)
		return !memcmp(a, b, pair->unit_a);
	for (size_t at_a = 0, at_b = 0; at_a < pair->unit_a && at_b < pair->unit_b;
	     at_a += bytes_a, at_b += bytes_b) {
		double one, other;

		wti_values(a + at_a, pair->real_a, 1, &one);
		wti_values(b + at_b, pair->real_b, 1, &other);
		if (one != other && !(isnan(one) && isnan(other)))
			return false;
	}
	return true;
}

static void compare_element(const struct pair *pair, const uint8_t *a, const uint8_t *b)
{
	struct wti_model_difference *difference = pair->difference;
	size_t bytes_a = wti_dtype_bytes(pair->real_a), bytes_b = wti_dtype_bytes(pair->real_b);

	if (is_same_value(pair, a, b))
		return;
	if (!difference->differing++) {
		difference->first = difference->count;
		memcpy(difference->first_a, a, pair->unit_a);
		memcpy(difference->first_b, b, pair->unit_b);
	}
	for (size_t at_a = 0, at_b = 0;
	     bytes_a && bytes_b && at_a < pair->unit_a && at_b < pair->unit_b;
	     at_a += bytes_a, at_b += bytes_b) {
		if (bytes_a != bytes_b || memcmp(a + at_a, b + at_b, bytes_a))
			measure(pair, a + at_a, b + at_b);
	}
}

/* The next `elements` of both, or an error. */
static int compare_piece(const struct pair *pair, struct wti_model_elements *a,
			 struct wti_model_elements *b, size_t elements, struct wt_err *err)
{
	const uint8_t *data_a = NULL, *data_b = NULL;
	int64_t got = wti_model_elements_next(a, elements * pair->unit_a, &data_a, err);

	if (got >= 0)
		got = wti_model_elements_next(b, elements * pair->unit_b, &data_b, err);
	if (got < 0)
		return (int)got;
	if (pair->difference->is_same_type && !memcmp(data_a, data_b, elements * pair->unit_a)) {
		pair->difference->count += elements;
		return 0;
	}
	for (size_t i = 0; i < elements; i++) {
		compare_element(pair, data_a + i * pair->unit_a, data_b + i * pair->unit_b);
		pair->difference->count++;
	}
	return 0;
}

static int compare_all(const struct pair *pair, struct wti_model_elements *a,
		       struct wti_model_elements *b, uint64_t count, struct wt_err *err)
{
	/* Both divide the block that elements are read in: pieces never end in the middle. */
	const size_t at_once = PIECE_BYTES / WTI_MODEL_ELEMENT_MAX;
	int r = 0;

	while (count && !r) {
		size_t some = count < at_once ? (size_t)count : at_once;

		r = compare_piece(pair, a, b, some, err);
		count -= some;
	}
	return r;
}

static bool is_same_shape(const struct wti_model_tensor *a, const struct wti_model_tensor *b)
{
	return a->rank == b->rank &&
	       (!a->rank || !memcmp(a->shape, b->shape, a->rank * sizeof(*a->shape)));
}

/* Complex and real numbers, or bytes that are no numbers, are not compared by value. */
static bool can_compare(const struct pair *pair, const struct wti_model_tensor *a,
			const struct wti_model_tensor *b)
{
	const struct wti_model_difference *difference = pair->difference;
	bool is_complex_a = pair->real_a != a->dtype, is_complex_b = pair->real_b != b->dtype;

	if (!difference->is_same_shape)
		return false;
	return difference->is_same_type
		       ? a->bytes == b->bytes
		       : a->dtype != WT_DTYPE_OTHER && b->dtype != WT_DTYPE_OTHER &&
				 is_complex_a == is_complex_b;
}

int wti_model_compare(struct wti_model *a, const struct wti_model_tensor *tensor_a,
		      struct wti_model *b, const struct wti_model_tensor *tensor_b,
		      struct wti_model_difference *ret, struct wt_err *err)
{
	struct pair pair = {.real_a = wti_dtype_real(tensor_a->dtype),
			    .real_b = wti_dtype_real(tensor_b->dtype),
			    .difference = ret};
	struct wti_model_elements elements_a, elements_b;
	int r;

	*ret = (struct wti_model_difference){.is_same_type =
						     tensor_a->dtype == tensor_b->dtype &&
						     (tensor_a->dtype != WT_DTYPE_OTHER ||
						      !strcmp(tensor_a->type, tensor_b->type)),
					     .is_same_shape = is_same_shape(tensor_a, tensor_b)};
	r = wti_model_elements_init(&elements_a, a, tensor_a, err);
	if (r)
		return r;
	r = wti_model_elements_init(&elements_b, b, tensor_b, err);
	if (r) {
		wti_model_elements_release(&elements_a);
		return r;
	}
	pair.unit_a = ret->bytes_a = elements_a.unit;
	pair.unit_b = ret->bytes_b = elements_b.unit;
	if (can_compare(&pair, tensor_a, tensor_b))
		r = compare_all(&pair, &elements_a, &elements_b, tensor_a->bytes / elements_a.unit,
				err);
	wti_model_elements_release(&elements_a);
	wti_model_elements_release(&elements_b);
	return r;
}

void wti_model_index_text(const struct wti_model_tensor *tensor, uint64_t number, char *out,
			  size_t out_bytes)
{
	uint64_t index[64];
	size_t at = 0;

	for (uint32_t i = tensor->rank; i-- > 0;) {
		uint64_t extent = tensor->shape[i] ? tensor->shape[i] : 1;

		index[i] = number % extent;
		number /= extent;
	}
	at += (size_t)snprintf(out, out_bytes, "[");
	for (uint32_t i = 0; i < tensor->rank && at < out_bytes; i++)
		at += (size_t)snprintf(out + at, out_bytes - at, "%s%llu", i ? ", " : "",
				       (unsigned long long)index[i]);
	if (at < out_bytes)
		snprintf(out + at, out_bytes - at, "]");
}
