/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that later values refer to: see known.h. */
#include "known.h"

#include <stdlib.h>
#include <string.h>

static bool is_same(const struct wti_sampled *a, const struct wti_sampled *b)
{
	return a->hash == b->hash && a->count == b->count && a->dtype == b->dtype;
}

/* Into room that is there already, or new. */
static int copy(double **to, const double *from, size_t count)
{
	double *room;

	if (!from || !count)
		return 0;
	room = realloc(*to, count * sizeof(double));
	if (!room)
		return WT_E_NOMEM;
	memcpy(room, from, count * sizeof(double));
	*to = room;
	return 0;
}

static int copy_samples(struct wti_sampled *to, const struct wti_sampled *from)
{
	int r = copy(&to->reals, from->reals, from->filled);

	r = r ? r : copy(&to->sketch, from->sketch, WTI_SKETCH_BUCKETS);
	if (!r) {
		to->elements = from->elements;
		to->filled = from->filled;
		to->kept_bytes = from->kept_bytes;
	}
	return r;
}

int wti_known_keep(struct wti_sampled_before *known, const struct wti_sampled *value)
{
	struct wti_sampled *place = &known->values[value->hash % WTI_KNOWN_VALUES];

	if (value->flags & WT_TENSOR_NO_HASH || value->filled != value->elements ||
	    value->elements > WTI_KNOWN_REALS_MAX)
		return 0;
	if (!is_same(place, value)) {
		free(place->sketch);
		place->sketch = NULL;
	}
	place->hash = value->hash;
	place->count = value->count;
	place->dtype = value->dtype;
	return copy_samples(place, value);
}

int wti_known_take(const struct wti_sampled_before *known, struct wti_sampled *value)
{
	const struct wti_sampled *place = &known->values[value->hash % WTI_KNOWN_VALUES];

	return is_same(place, value) ? copy_samples(value, place) : 0;
}

void wti_known_release(struct wti_sampled_before *known)
{
	for (size_t i = 0; i < WTI_KNOWN_VALUES; i++) {
		free(known->values[i].reals);
		free(known->values[i].sketch);
	}
}
