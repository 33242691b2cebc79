/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting and one sweep. */
#include "covers.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void wti_covers_release(struct wti_covers *set)
{
	free(set->items);
	*set = (struct wti_covers){0};
}

int wti_covers_add(struct wti_covers *set, int64_t from_ns, int64_t to_ns)
{
	int r = wti_grow(&set->items, set->count + 1, &set->capacity, WTI_NO_CEILING);

	if (!r)
		set->items[set->count++] = (struct wti_cover){from_ns, to_ns};
	return r;
}

static int by_from(const void *a, const void *b)
{
	const struct wti_cover *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static void sort(struct wti_covers *set)
{
	for (size_t i = 1; i < set->count; i++) {
		if (set->items[i - 1].from_ns <= set->items[i].from_ns)
			continue;
		qsort(set->items, set->count, sizeof(*set->items), by_from);
		return;
	}
}

void wti_covers_merge(struct wti_covers *set)
{
	size_t kept = 0;

	sort(set);
	for (size_t i = 0; i < set->count; i++) {
		struct wti_cover next = set->items[i];

		if (kept && next.from_ns <= set->items[kept - 1].to_ns) {
			if (next.to_ns > set->items[kept - 1].to_ns)
				set->items[kept - 1].to_ns = next.to_ns;
		} else {
			set->items[kept++] = next;
		}
	}
	set->count = kept;
}

uint64_t wti_covers_length(const struct wti_covers *set)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < set->count; i++)
		sum += (uint64_t)(set->items[i].to_ns - set->items[i].from_ns);
	return sum;
}

/* The next moment at which one of the sets changes. */
static int64_t next_change(const struct wti_covers sets[], unsigned count, const size_t at[],
			   unsigned open)
{
	int64_t next = INT64_MAX;

	for (unsigned i = 0; i < count; i++) {
		const struct wti_cover *item = &sets[i].items[at[i]];
		int64_t ns;

		if (at[i] >= sets[i].count)
			continue;
		ns = open & 1u << i ? item->to_ns : item->from_ns;
		next = ns < next ? ns : next;
	}
	return next;
}

void wti_covers_overlap(const struct wti_covers sets[], unsigned count, uint64_t *ret_ns)
{
	size_t at[WTI_COVER_SETS] = {0};
	unsigned open = 0;
	int64_t now = 0;

	memset(ret_ns, 0, sizeof(*ret_ns) << count);
	for (;;) {
		int64_t next = next_change(sets, count, at, open);

		if (next == INT64_MAX)
			return;
		if (open)
			ret_ns[open] += (uint64_t)(next - now);
		now = next;
		for (unsigned i = 0; i < count; i++) {
			if (at[i] >= sets[i].count)
				continue;
			if (open & 1u << i && sets[i].items[at[i]].to_ns == now) {
				open &= ~(1u << i);
				at[i]++;
			} else if (!(open & 1u << i) && sets[i].items[at[i]].from_ns == now) {
				open |= 1u << i;
			}
		}
	}
}
