/* SPDX-License-Identifier: Apache-2.0 */
/* Patience anchors, then Myers' greedy search between them. */
#include "align.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/map.h"

#define DIFFERENCES_MAX 400 /* of one part between anchors */
#define TOKENS_MAX ((size_t)1 << 24)

struct job {
	const uint32_t *a, *b;
	struct wti_edits *out;
	int failed;
};

/* Appends, joining what belongs together. */
static void add(struct job *j, bool is_equal, size_t a, size_t a_count, size_t b, size_t b_count)
{
	struct wti_edits *out = j->out;
	struct wti_edit *last = out->count ? &out->all[out->count - 1] : NULL;

	if (!a_count && !b_count)
		return;
	if (last && (last->is_equal != 0) == is_equal) {
		last->a_count += a_count;
		last->b_count += b_count;
		return;
	}
	if (wti_grow(&out->all, out->count + 1, &out->capacity, WTI_NO_CEILING)) {
		j->failed = WT_E_NOMEM;
		return;
	}
	out->all[out->count++] = (struct wti_edit){a, a_count, b, b_count, is_equal};
}

/* ---- Between anchors: the shortest edit script ----------------------------------------------- */

/* How far each diagonal gets with d differences: a row of 2 * DIFFERENCES_MAX + 1 for each d. */
struct search {
	int32_t *rows;
	size_t width;
	ptrdiff_t a_count, b_count;
};

static int32_t *row_of(const struct search *s, ptrdiff_t d)
{
	return s->rows + (size_t)d * s->width + DIFFERENCES_MAX;
}

static ptrdiff_t furthest(const struct search *s, ptrdiff_t d, ptrdiff_t k)
{
	const int32_t *before = row_of(s, d - 1);

	if (k == -d || (k != d && before[k - 1] < before[k + 1]))
		return before[k + 1];
	return before[k - 1] + 1;
}

/* The number of differences, or -1 beyond the ceiling. */
static ptrdiff_t forward(const struct job *j, const struct search *s, size_t a, size_t b)
{
	for (ptrdiff_t d = 0; d < DIFFERENCES_MAX; d++) {
		int32_t *row = row_of(s, d);

		for (ptrdiff_t k = -d; k <= d; k += 2) {
			ptrdiff_t x = d ? furthest(s, d, k) : 0;

			while (x < s->a_count && x - k >= 0 && x - k < s->b_count &&
			       j->a[a + (size_t)x] == j->b[b + (size_t)(x - k)])
				x++;
			row[k] = (int32_t)x;
			if (x >= s->a_count && x - k >= s->b_count)
				return d;
		}
	}
	return -1;
}

struct step {
	ptrdiff_t from_x, from_y; /* where the difference begins */
	ptrdiff_t x, y;           /* where what is equal behind it begins */
};

/* Back from the end: the d differences, the last first. */
static void backward(const struct search *s, ptrdiff_t d, struct step *steps)
{
	ptrdiff_t x = s->a_count, y = s->b_count;

	for (; d > 0; d--) {
		const int32_t *before = row_of(s, d - 1);
		ptrdiff_t k = x - y;
		bool down = k == -d || (k != d && before[k - 1] < before[k + 1]);
		ptrdiff_t k_before = down ? k + 1 : k - 1;

		steps[d - 1].from_x = before[k_before];
		steps[d - 1].from_y = steps[d - 1].from_x - k_before;
		steps[d - 1].x = steps[d - 1].from_x + (down ? 0 : 1);
		steps[d - 1].y = steps[d - 1].from_y + (down ? 1 : 0);
		x = steps[d - 1].from_x;
		y = steps[d - 1].from_y;
	}
}

static void add_ranges(struct job *j, const struct search *s, const struct step *steps, ptrdiff_t d,
		       size_t a, size_t b)
{
	size_t x = 0, y = 0;

	for (ptrdiff_t i = 0; i < d; i++) {
		size_t from_x = (size_t)steps[i].from_x, from_y = (size_t)steps[i].from_y;

		add(j, true, a + x, from_x - x, b + y, from_y - y);
		add(j, false, a + from_x, (size_t)steps[i].x - from_x, b + from_y,
		    (size_t)steps[i].y - from_y);
		x = (size_t)steps[i].x;
		y = (size_t)steps[i].y;
	}
	add(j, true, a + x, (size_t)s->a_count - x, b + y, (size_t)s->b_count - y);
}

static void compare_part(struct job *j, size_t a, size_t a_count, size_t b, size_t b_count)
{
	struct search s = {.width = 2 * DIFFERENCES_MAX + 1,
			   .a_count = (ptrdiff_t)a_count,
			   .b_count = (ptrdiff_t)b_count};
	struct step steps[DIFFERENCES_MAX];
	ptrdiff_t d;

	if (!a_count || !b_count) {
		add(j, false, a, a_count, b, b_count);
		return;
	}
	s.rows = malloc((DIFFERENCES_MAX + 1) * s.width * sizeof(*s.rows));
	if (!s.rows) {
		j->failed = WT_E_NOMEM;
		return;
	}
	d = forward(j, &s, a, b);
	if (d < 0) {
		add(j, false, a, a_count, b, b_count);
	} else {
		backward(&s, d, steps);
		add_ranges(j, &s, steps, d, a, b);
	}
	free(s.rows);
}

/* What is the same at both ends needs no search. */
static void compare(struct job *j, size_t a, size_t a_end, size_t b, size_t b_end)
{
	size_t begin = 0, end = 0;

	while (a + begin < a_end && b + begin < b_end && j->a[a + begin] == j->b[b + begin])
		begin++;
	while (a_end - end > a + begin && b_end - end > b + begin &&
	       j->a[a_end - end - 1] == j->b[b_end - end - 1])
		end++;
	add(j, true, a, begin, b, begin);
	compare_part(j, a + begin, a_end - end - a - begin, b + begin, b_end - end - b - begin);
	add(j, true, a_end - end, end, b_end - end, end);
}

/* ---- Anchors --------------------------------------------------------------------------------- */

/* For each token where it stands, plus one; UINT32_MAX: at several places. */
static bool find_places(struct wti_map *map, const uint32_t *tokens, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t *slot = wti_map_number(map, tokens[i]);

		if (!slot)
			return false;
		*slot = *slot ? UINT32_MAX : i + 1;
	}
	return true;
}

struct anchor {
	uint32_t a, b;
	uint32_t before; /* in the longest chain that ends here; index plus one */
};

/* The longest chain of anchors that rise in both: indices of its members in `ret_chain`. */
static size_t longest_chain(struct anchor *anchors, size_t count, uint32_t *piles,
			    uint32_t *ret_chain)
{
	size_t pile_count = 0, length;
	uint32_t at;

	for (size_t i = 0; i < count; i++) {
		size_t low = 0, high = pile_count;

		while (low < high) {
			size_t middle = (low + high) / 2;

			if (anchors[piles[middle]].b < anchors[i].b)
				low = middle + 1;
			else
				high = middle;
		}
		anchors[i].before = low ? piles[low - 1] + 1 : 0;
		piles[low] = (uint32_t)i;
		pile_count += low == pile_count;
	}
	length = pile_count;
	at = length ? piles[length - 1] + 1 : 0;
	while (at) {
		ret_chain[--pile_count] = at - 1;
		at = anchors[at - 1].before;
	}
	return length;
}

static size_t find_anchors(const struct job *j, size_t a_count, size_t b_count,
			   struct anchor *ret_anchors)
{
	struct wti_map in_a, in_b;
	size_t count = 0;

	wti_map_init(&in_a, TOKENS_MAX);
	wti_map_init(&in_b, TOKENS_MAX);
	if (find_places(&in_a, j->a, a_count) && find_places(&in_b, j->b, b_count)) {
		for (size_t i = 0; i < in_a.count; i++) {
			uint64_t place = in_a.entries[i].value;
			const uint64_t *other = wti_map_find_number(&in_b, in_a.entries[i].key);

			if (place != UINT32_MAX && other && *other != UINT32_MAX)
				ret_anchors[count++] = (struct anchor){(uint32_t)place - 1,
								       (uint32_t)*other - 1, 0};
		}
	}
	wti_map_release(&in_a);
	wti_map_release(&in_b);
	return count;
}

static void compare_between(struct job *j, size_t a_count, size_t b_count)
{
	size_t most = a_count < b_count ? a_count : b_count;
	struct anchor *anchors = calloc(most + 1, sizeof(*anchors));
	uint32_t *piles = calloc(2 * (most + 1), sizeof(*piles));
	size_t a = 0, b = 0, length;

	if (!anchors || !piles) {
		j->failed = WT_E_NOMEM;
	} else {
		/* They come in the order of their places in a, as a map keeps its order. */
		length = find_anchors(j, a_count, b_count, anchors);
		length = longest_chain(anchors, length, piles, piles + most + 1);
		for (size_t i = 0; i < length; i++) {
			const struct anchor *anchor = &anchors[(piles + most + 1)[i]];

			compare(j, a, anchor->a, b, anchor->b);
			add(j, true, anchor->a, 1, anchor->b, 1);
			a = anchor->a + 1;
			b = anchor->b + 1;
		}
		compare(j, a, a_count, b, b_count);
	}
	free(anchors);
	free(piles);
}

int wti_align(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
	      struct wti_edits *ret_edits)
{
	struct wti_edits edits = {0};
	struct job j = {a, b, &edits, 0};

	compare_between(&j, a_count, b_count);
	if (j.failed) {
		wti_edits_release(&edits);
		return j.failed;
	}
	*ret_edits = edits;
	return 0;
}

void wti_edits_release(struct wti_edits *edits)
{
	free(edits->all);
	*edits = (struct wti_edits){0};
}
