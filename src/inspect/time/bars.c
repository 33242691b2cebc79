/* SPDX-License-Identifier: Apache-2.0 */
/* When there are too many, the unit within which they are one doubles. */
#include "bars.h"

#include <stdlib.h>

#include "base/grow.h"

void wti_bars_release(struct wti_bars *bars)
{
	free(bars->all);
	*bars = (struct wti_bars){0};
}

static int by_time(const void *a, const void *b)
{
	const struct wti_bar *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return x->to_ns < y->to_ns ? -1 : x->to_ns > y->to_ns;
}

/* As bits: a damaged trace may have times whose difference does not fit into a signed number. */
static uint64_t length_of(int64_t from_ns, int64_t to_ns)
{
	return to_ns > from_ns ? (uint64_t)to_ns - (uint64_t)from_ns : 0;
}

static void join(struct wti_bar *bar, const struct wti_bar *next)
{
	if (next->longest_ns > bar->longest_ns) {
		bar->longest_ns = next->longest_ns;
		bar->name = next->name;
	}
	bar->to_ns = next->to_ns > bar->to_ns ? next->to_ns : bar->to_ns;
	bar->busy_ns += next->busy_ns;
	bar->count = next->count > UINT32_MAX - bar->count ? UINT32_MAX : bar->count + next->count;
}

/* Only as long as the whole stays within the unit: a row of short ones is not one long bar. */
static void merge(struct wti_bars *bars)
{
	size_t kept = 0;

	for (size_t i = 1; i < bars->count; i++) {
		struct wti_bar *bar = &bars->all[kept];
		const struct wti_bar *next = &bars->all[i];
		int64_t to_ns = next->to_ns > bar->to_ns ? next->to_ns : bar->to_ns;

		if (length_of(bar->from_ns, to_ns) <= bars->unit_ns)
			join(bar, next);
		else
			bars->all[++kept] = *next;
	}
	bars->count = kept + 1;
}

static void shrink(struct wti_bars *bars, size_t most)
{
	qsort(bars->all, bars->count, sizeof(*bars->all), by_time);
	merge(bars);
	while (bars->count > most) {
		bars->unit_ns = bars->unit_ns > UINT64_MAX / 2 ? UINT64_MAX
				: bars->unit_ns                ? 2 * bars->unit_ns
							       : 1;
		merge(bars);
	}
}

int wti_bars_add(struct wti_bars *bars, int64_t from_ns, int64_t to_ns, struct wt_text name)
{
	uint64_t length_ns = length_of(from_ns, to_ns);

	if (bars->count == WTI_BARS_KEPT)
		shrink(bars, WTI_BARS_KEPT / 2);
	if (wti_grow(&bars->all, bars->count + 1, &bars->capacity, WTI_BARS_KEPT))
		return WT_E_NOMEM;
	bars->all[bars->count++] = (struct wti_bar){from_ns, to_ns, length_ns, length_ns, name, 1};
	return 0;
}

void wti_bars_settle(struct wti_bars *bars, uint64_t window_ns, size_t most)
{
	uint64_t unit_ns;

	if (!bars->count)
		return;
	most = most ? most : 1;
	unit_ns = window_ns / most;
	bars->unit_ns = unit_ns > bars->unit_ns ? unit_ns : bars->unit_ns;
	shrink(bars, most);
}
