/* SPDX-License-Identifier: Apache-2.0 */
/* Labels by place, by what is around, and by values: see labels.h. */
#include "labels.h"

#include "base/err.h"

static const struct wti_computed *item_at(const struct wti_pairing_window *w, size_t i)
{
	return wti_course_at(w->course, i);
}

static bool is_operation(const struct wti_pairing_window *w, size_t i)
{
	return item_at(w, i)->kind != WTI_COMPUTED_VALUE;
}

static bool is_alone(const struct wti_pairing_window *w, size_t i)
{
	return w->partner[i] == WTI_NO_PARTNER;
}

static uint64_t result_at(const struct wti_pairing_window *w, size_t i)
{
	return wti_computed_result(item_at(w, i));
}

static uint64_t with_step(const struct wti_computed *item, enum wti_likeness level, int64_t ahead)
{
	uint64_t step = (uint64_t)(item->step < 0 ? -1 : item->step + ahead);

	return (item->tokens[level] ^ step) * 0x9e3779b97f4a7c15u;
}

uint64_t wti_step_token(const struct wti_pairing_window *w, size_t i, enum wti_likeness level)
{
	return with_step(item_at(w, i), level, w->ahead);
}

bool wti_is_aligned(const struct wti_pairing_window *w, size_t i)
{
	return !is_alone(w, i) && w->label[i] == WTI_PAIR_ALIGNED;
}

void wti_join(struct wti_pairing_windows *both, size_t a, size_t b, enum wti_pairing_label label)
{
	both->a.partner[a] = (uint32_t)b;
	both->b.partner[b] = (uint32_t)a;
	both->a.label[a] = both->b.label[b] = (uint8_t)label;
}

/* Whatever was found out about one before stays. */
static void label_alone(struct wti_pairing_window *w, size_t from, size_t to,
			enum wti_pairing_label label)
{
	for (size_t i = from; i < to; i++)
		if (is_alone(w, i) && (w->label[i] == WTI_PAIR_ALIGNED ||
				       wti_pair_is_alone((enum wti_pairing_label)w->label[i])))
			w->label[i] = (uint8_t)label;
}

/* ---- The past -------------------------------------------------------------------------------- */

/* A value says how deep the track is: nothing deeper is open any more. */
static void take_last(struct wti_pairing_past *past, unsigned run, const struct wti_computed *item)
{
	if (item->kind != WTI_COMPUTED_VALUE) {
		past->last[run].depth = item->depth;
		past->last[run].result = wti_computed_result(item);
	} else if (item->depth < past->last[run].depth) {
		past->last[run].depth = item->depth;
		past->last[run].result = 0;
	}
}

void wti_past_take(struct wti_pairing_past *past, const struct wti_computed *a,
		   const struct wti_computed *b)
{
	uint64_t line = with_step(a, WTI_LIKE_LINE, 0);

	if (a->kind != WTI_COMPUTED_VALUE)
		past->lines[line % WTI_COURSE_WINDOW] = line;
	take_last(past, 0, a);
	take_last(past, 1, b);
}

/* ---- Reordered ------------------------------------------------------------------------------- */

/* The same line with the same inputs' shapes, elsewhere in the step. */
static int find_reordered(struct wti_pairing_windows *both)
{
	struct wti_map places; /* token: place in b, plus one */
	int r;

	wti_map_init(&places, 2 * WTI_COURSE_WINDOW);
	for (size_t i = both->b.cut; i-- > 0;)
		if (is_alone(&both->b, i))
			wti_map_put(&places, wti_step_token(&both->b, i, WTI_LIKE_SHAPES), i + 1);
	for (size_t i = 0; i < both->a.cut; i++) {
		uint64_t place =
			is_alone(&both->a, i)
				? wti_map_get(&places, wti_step_token(&both->a, i, WTI_LIKE_SHAPES))
				: 0;

		if (place && is_alone(&both->b, place - 1))
			wti_join(both, i, place - 1, WTI_PAIR_REORDERED);
	}
	r = places.failed ? WT_E_NOMEM : 0;
	wti_map_release(&places);
	return r;
}

/* ---- Between two pairs ----------------------------------------------------------------------- */

static size_t gap_end(const struct wti_pairing_window *w, size_t from)
{
	while (from < w->count && !wti_is_aligned(w, from))
		from++;
	return from;
}

/* The label of two stretches that give the same. */
static enum wti_pairing_label by_counts(size_t a, size_t b)
{
	return a > b ? WTI_PAIR_FUSED : a < b ? WTI_PAIR_SPLIT : WTI_PAIR_REPLACED;
}

/* What stands between two pairs on both sides: whether the last of each gives the same. */
static void label_gaps(struct wti_pairing_windows *both)
{
	struct wti_pairing_window *a = &both->a, *b = &both->b;
	size_t i = 0, j = 0;

	while (i < a->count || j < b->count) {
		size_t a_end = gap_end(a, i), b_end = gap_end(b, j);
		uint64_t result = a_end > i && b_end > j ? result_at(a, a_end - 1) : 0;
		bool is_same = result && result == result_at(b, b_end - 1);
		enum wti_pairing_label label = by_counts(a_end - i, b_end - j);

		label_alone(a, i, a_end, is_same ? label : WTI_PAIR_MISSING);
		label_alone(b, j, b_end, is_same ? label : WTI_PAIR_EXTRA);
		i = a_end + (a_end < a->count);
		j = b_end + (b_end < b->count);
	}
}

/* ---- Inside and around ----------------------------------------------------------------------- */

/* Where what is inside an operation begins: it ended before it, and is deeper. */
static size_t inside_of(const struct wti_pairing_window *w, size_t i)
{
	uint32_t depth = item_at(w, i)->depth;

	while (i > 0 && item_at(w, i - 1)->depth > depth)
		i--;
	return i;
}

static size_t count_operations(const struct wti_pairing_window *w, size_t from, size_t to)
{
	size_t count = 0;

	for (size_t i = from; i < to; i++)
		count += is_operation(w, i);
	return count;
}

static bool shares_operations(const struct wti_pairing_window *w, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (is_operation(w, i) && !is_alone(w, i))
			return true;
	return false;
}

/*
 * Both have the operation, and nothing of what it does inside is the same: a compiled graph in the
 * place of calls.
 */
static void label_inside(struct wti_pairing_windows *both, size_t a, size_t b)
{
	size_t from_a = inside_of(&both->a, a), from_b = inside_of(&both->b, b);
	size_t count_a = count_operations(&both->a, from_a, a);
	size_t count_b = count_operations(&both->b, from_b, b);
	uint64_t result = result_at(&both->a, a);
	enum wti_pairing_label label = WTI_PAIR_INSIDE;

	if (shares_operations(&both->a, from_a, a) || shares_operations(&both->b, from_b, b))
		return;
	if ((!from_a && both->past->last[0].depth > item_at(&both->a, a)->depth) ||
	    (!from_b && both->past->last[1].depth > item_at(&both->b, b)->depth))
		return; /* what they share was handed over before */
	if (result && result == result_at(&both->b, b))
		label = by_counts(count_a, count_b);
	label_alone(&both->a, from_a, a, label);
	label_alone(&both->b, from_b, b, label);
}

/* The result of an operation inside that both have is the same. */
static bool passes_on(const struct wti_pairing_windows *both, unsigned run, size_t i)
{
	const struct wti_pairing_window *w = run ? &both->b : &both->a;
	size_t from = inside_of(w, i);
	uint64_t result = result_at(w, i);

	for (size_t j = i; result && j-- > from;)
		if (is_operation(w, j) && !is_alone(w, j) && result_at(w, j) == result)
			return true;
	return result && !from && both->past->last[run].depth > item_at(w, i)->depth &&
	       both->past->last[run].result == result;
}

/* DistributedDataParallel.forward, OptimizedModule.forward */
static void label_around(struct wti_pairing_windows *both, unsigned run)
{
	struct wti_pairing_window *w = run ? &both->b : &both->a;

	for (size_t i = 0; i < w->cut; i++)
		if (is_alone(w, i) && is_operation(w, i) && passes_on(both, run, i))
			w->label[i] = WTI_PAIR_AROUND;
}

/* ---- Repeated -------------------------------------------------------------------------------- */

/* In lines that both have in this step: a loop that goes round more often in one of them. */
static int label_repeated(struct wti_pairing_window *w, const struct wti_pairing_past *past)
{
	struct wti_map lines;
	int r;

	wti_map_init(&lines, 2 * WTI_COURSE_WINDOW);
	for (size_t i = 0; i < w->cut; i++)
		if (is_operation(w, i) && !is_alone(w, i))
			wti_map_put(&lines, wti_step_token(w, i, WTI_LIKE_LINE), 1);
	for (size_t i = 0; i < w->cut; i++) {
		uint64_t line = wti_step_token(w, i, WTI_LIKE_LINE);

		if (is_alone(w, i) && is_operation(w, i) &&
		    wti_pair_is_alone((enum wti_pairing_label)w->label[i]) &&
		    (past->lines[line % WTI_COURSE_WINDOW] == line || wti_map_get(&lines, line)))
			w->label[i] = WTI_PAIR_REPEATED;
	}
	r = lines.failed ? WT_E_NOMEM : 0;
	wti_map_release(&lines);
	return r;
}

int wti_label_rest(struct wti_pairing_windows *both)
{
	int r = find_reordered(both);

	label_gaps(both);
	for (size_t a = 0; a < both->a.cut; a++)
		if (wti_is_aligned(&both->a, a) && is_operation(&both->a, a))
			label_inside(both, a, both->a.partner[a]);
	label_around(both, 0);
	label_around(both, 1);
	r = r ? r : label_repeated(&both->a, both->past);
	return r ? r : label_repeated(&both->b, both->past);
}
