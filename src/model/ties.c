/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors sorted by where they lie, then by what they have: those that are tied are neighbours. */
#include "model/ties.h"

#include <stdlib.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "base/err.h"
#include "digest/digest.h"

/* A tensor among those that are sorted. */
struct place {
	const struct wti_model_tensor *tensor;
	const struct wti_model_examined *examined;
	size_t number;
	uint64_t low, high; /* of the source: from its first byte to the one behind its last */
};

static void find_range(struct place *place)
{
	const struct wti_model_tensor *tensor = place->tensor;
	uint64_t unit = wti_dtype_bytes(tensor->dtype);

	place->low = place->high = tensor->offset;
	if (!tensor->strides || !unit) {
		place->high += tensor->bytes;
		return;
	}
	for (uint32_t i = 0; i < tensor->rank; i++) {
		uint64_t steps = tensor->shape[i] - 1;
		int64_t stride = tensor->strides[i];

		if (stride < 0)
			place->low -= steps * (uint64_t)-stride * unit;
		else
			place->high += steps * (uint64_t)stride * unit;
	}
	place->high += unit;
}

static int by_range(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->tensor->source != y->tensor->source)
		return x->tensor->source < y->tensor->source ? -1 : 1;
	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_content(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = memcmp(x->examined->sha, y->examined->sha, sizeof(x->examined->sha));

	if (order)
		return order;
	if (x->tensor->dtype != y->tensor->dtype)
		return x->tensor->dtype < y->tensor->dtype ? -1 : 1;
	if (x->tensor->rank != y->tensor->rank)
		return x->tensor->rank < y->tensor->rank ? -1 : 1;
	order = x->tensor->rank ? memcmp(x->tensor->shape, y->tensor->shape,
					 x->tensor->rank * sizeof(*x->tensor->shape))
				: 0;
	if (order)
		return order;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* ---- Groups --------------------------------------------------------------------------------- */

/* Ties places[from] to places[to - 1], which overlap, to that with the lowest number. */
static void tie_range(const struct place *places, size_t from, size_t to,
		      struct wti_model_tie *ties)
{
	const struct place *first = &places[from];

	for (size_t i = from; i < to; i++)
		first = places[i].number < first->number ? &places[i] : first;
	for (size_t i = from; i < to; i++) {
		bool is_same = places[i].low == first->low && places[i].high == first->high;

		if (&places[i] != first)
			ties[places[i].number] = (struct wti_model_tie){
				is_same ? WTI_TIE_STORAGE : WTI_TIE_OVERLAP, first->number};
	}
}

static void tie_ranges(struct place *places, size_t count, struct wti_model_tie *ties)
{
	qsort(places, count, sizeof(*places), by_range);
	for (size_t from = 0, to; from < count; from = to) {
		uint64_t reach = places[from].high;

		for (to = from + 1; to < count; to++) {
			if (places[to].tensor->source != places[from].tensor->source ||
			    places[to].low >= reach)
				break;
			reach = places[to].high > reach ? places[to].high : reach;
		}
		tie_range(places, from, to, ties);
	}
}

static bool is_one_value(const struct place *place)
{
	const struct wt_digest *digest = &place->examined->digest;

	return place->tensor->dtype != WT_DTYPE_OTHER && digest->min == digest->max &&
	       !digest->nan && !digest->inf;
}

static bool has_same_content(const struct place *a, const struct place *b)
{
	struct place other = *b;

	other.number = a->number;
	return !by_content(a, &other);
}

/* Those that a storage ties are not asked again. */
static void tie_contents(struct place *places, size_t count, struct wti_model_tie *ties)
{
	qsort(places, count, sizeof(*places), by_content);
	for (size_t from = 0, i = 0; i < count; i++) {
		struct wti_model_tie *tie = &ties[places[i].number];

		if (!has_same_content(&places[i], &places[from]))
			from = i;
		if (i != from && !tie->how && !is_one_value(&places[i]))
			*tie = (struct wti_model_tie){WTI_TIE_BYTES, ties[places[from].number].to};
	}
}

int wti_model_ties(const struct wti_model *model, const struct wti_model_examined *examined,
		   struct wti_model_tie **ret, struct wt_err *err)
{
	struct wti_model_tie *ties = calloc(model->tensor_count + 1, sizeof(*ties));
	struct place *places = calloc(model->tensor_count + 1, sizeof(*places));
	size_t count = 0;

	if (!ties || !places) {
		free(ties);
		free(places);
		return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	for (size_t i = 0; i < model->tensor_count; i++) {
		ties[i].to = i;
		if (!model->tensors[i].bytes)
			continue;
		places[count] = (struct place){&model->tensors[i], &examined[i], i, 0, 0};
		find_range(&places[count++]);
	}
	tie_ranges(places, count, ties);
	tie_contents(places, count, ties);
	free(places);
	*ret = ties;
	return 0;
}

const char *wti_tie_word(enum wti_tie how)
{
	static const char *const words[] = {NULL, "storage", "overlap", "bytes"};

	return words[how];
}
