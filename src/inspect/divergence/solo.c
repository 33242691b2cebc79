/* SPDX-License-Identifier: Apache-2.0 */
/* What only one run does, before something differs: see solo.h. */
#include "solo.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "known.h"

#define KEPT_MAX 256u
#define MADE_MAX 4096u

void wti_solo_init(struct wti_solo *solo)
{
	wti_map_init(&solo->made, MADE_MAX);
}

void wti_solo_release(struct wti_solo *solo)
{
	wti_map_release(&solo->made);
	free(solo->kept);
}

/* A step that calls another one, of an optimizer that is wrapped, is no second step. */
static void count_step(struct wti_solo *solo, unsigned run, const struct wti_computed *item)
{
	uint32_t *lowest = &solo->lowest[run];
	bool is_around = *lowest > item->depth;

	if (item->kind != WTI_COMPUTED_CALL)
		return;
	if (item->action == WT_ACTION_STEP) {
		solo->steps[run] += !is_around;
		*lowest = item->depth;
	} else if (is_around) {
		*lowest = item->depth;
	}
}

void wti_solo_step(struct wti_solo *solo, const struct wti_computed *a,
		   const struct wti_computed *b)
{
	if (a)
		count_step(solo, 0, a);
	if (b)
		count_step(solo, 1, b);
}

/* Of a number, or a tensor of one element, it would say nothing that it is the same. */
static uint64_t key_of(const struct wti_value_row *value, unsigned run)
{
	uint64_t key = value->type == WTI_VALUE_TENSOR && value->digest.count > 1
			       ? wti_known_key(value)
			       : WTI_VALUE_UNREAD;

	return key == WTI_VALUE_UNREAD ? 0 : key ^ run;
}

static void keep(struct wti_solo *solo, unsigned run, const struct wti_computed *item,
		 const struct wti_first_difference *seen)
{
	bool is_kept = false;

	for (uint32_t i = 0; i < item->value_count; i++) {
		const struct wti_value_row *value = &item->values[i];
		uint64_t key = value->position < 0 ? key_of(value, run) : 0;

		if (!key || wti_map_get(&solo->made, key))
			continue;
		if (!is_kept &&
		    wti_grow(&solo->kept, solo->kept_count + 1, &solo->kept_capacity, KEPT_MAX))
			return;
		if (!is_kept)
			solo->kept[solo->kept_count++] = *seen;
		is_kept = true;
		wti_map_put(&solo->made, key, solo->kept_count);
	}
}

static void set_first(struct wti_only *only, unsigned run, const struct wti_first_difference *seen)
{
	only->is_in_b = run;
	only->line = seen->line;
	only->step = seen->step;
	snprintf(only->callee, sizeof(only->callee), "%s", seen->callee);
	snprintf(only->file, sizeof(only->file), "%s", seen->file);
	snprintf(only->stage, sizeof(only->stage), "%s", seen->stage);
}

void wti_solo_take(struct wti_solo *solo, unsigned run, const struct wti_computed *item,
		   const struct wti_first_difference *seen, bool may_begin)
{
	if (!solo->has_order)
		return;
	if (!solo->single[0] && !solo->single[1])
		set_first(&solo->first, run, seen);
	solo->single[run]++;
	if (may_begin)
		keep(solo, run, item, seen);
}

void wti_solo_before(const struct wti_solo *solo, struct wti_first_difference *first)
{
	for (unsigned run = 0; run < 2; run++) {
		first->single_before[run] = solo->single[run];
		first->steps_before[run] = solo->steps[run];
	}
}

bool wti_solo_made(const struct wti_solo *solo, const struct wti_computed *a,
		   const struct wti_computed *b, struct wti_first_difference *ret_first)
{
	for (uint32_t n = 0;; n++) {
		uint32_t places[2] = {wti_side_value(a, false, n), wti_side_value(b, false, n)};

		if (places[0] >= a->value_count || places[1] >= b->value_count)
			return false;
		if (wti_compare_values(&a->values[places[0]], &b->values[places[1]]) !=
		    WTI_NOT_SAME)
			continue;
		for (unsigned run = 0; run < 2; run++) {
			const struct wti_value_row *value = &(run ? b : a)->values[places[run]];
			uint64_t key = key_of(value, run);
			uint64_t place = key ? wti_map_get(&solo->made, key) : 0;

			if (!place)
				continue;
			*ret_first = solo->kept[place - 1];
			ret_first->how = WTI_BEGINS_ORDER;
			ret_first->single_in = 1 + run;
			ret_first->time_ns = a->time_ns; /* of the first run */
			return true;
		}
	}
}
