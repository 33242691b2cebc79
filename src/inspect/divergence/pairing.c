/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of two courses, aligned: see pairing.h. */
#include "pairing.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "inspect/core/align.h"

#define NONE UINT32_MAX

struct window {
	struct wti_course *course;
	size_t count;
	uint32_t *partner; /* of each item: its place in the other window, or NONE */
	uint8_t *label;    /* enum wti_pairing_label */
	uint32_t *tokens;
};

struct job {
	const struct wti_pairing_how *how;
	struct window a, b;
	size_t a_cut, b_cut; /* how much of the windows is handed over */
	int failed;
};

uint64_t wti_computed_result(const struct wti_computed *item)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < item->value_count; i++) {
		const struct wti_value_row *value = &item->values[i];

		if (value->position >= 0 || value->type != WTI_VALUE_TENSOR)
			continue;
		if (value->digest.flags & WT_TENSOR_NO_HASH)
			return 0;
		hash = (hash ^ value->digest.hash) * 0x9e3779b97f4a7c15u + 1;
	}
	return hash;
}

static uint64_t token_at(const struct window *w, size_t i, enum wti_likeness level)
{
	return wti_course_at(w->course, i)->tokens[level];
}

/* ---- Aligning -------------------------------------------------------------------------------- */

static void fold_tokens(struct window *w, size_t from, size_t count, enum wti_likeness level)
{
	for (size_t i = from; i < from + count; i++) {
		uint64_t token = token_at(w, i, level);

		w->tokens[i] = (uint32_t)(token ^ token >> 32);
	}
}

static void join(struct job *job, size_t a, size_t b, enum wti_pairing_label label)
{
	job->a.partner[a] = (uint32_t)b;
	job->b.partner[b] = (uint32_t)a;
	job->a.label[a] = job->b.label[b] = (uint8_t)label;
}

/* Recurses once for each likeness: four deep. */
static void align(struct job *job, size_t a, size_t a_count, size_t b, size_t b_count,
		  enum wti_likeness level)
{
	struct wti_edits edits = {0};

	if (!a_count || !b_count || level >= WTI_LIKENESSES || job->failed)
		return;
	fold_tokens(&job->a, a, a_count, level);
	fold_tokens(&job->b, b, b_count, level);
	job->failed = wti_align(job->a.tokens + a, a_count, job->b.tokens + b, b_count, &edits);
	for (size_t i = 0; i < edits.count && !job->failed; i++) {
		const struct wti_edit *edit = &edits.all[i];

		for (size_t j = 0; edit->is_equal && j < edit->a_count; j++)
			join(job, a + edit->a + j, b + edit->b + j, WTI_PAIR_ALIGNED);
		if (!edit->is_equal)
			align(job, a + edit->a, edit->a_count, b + edit->b, edit->b_count,
			      level + 1);
	}
	wti_edits_release(&edits);
}

/* ---- Labels ---------------------------------------------------------------------------------- */

/* The same line with the same inputs' shapes, elsewhere in the window. */
static void find_reordered(struct job *job)
{
	struct wti_map places; /* token: place in b, plus one */

	wti_map_init(&places, 2 * WTI_COURSE_WINDOW);
	for (size_t i = job->b_cut; i-- > 0;)
		if (job->b.partner[i] == NONE)
			wti_map_put(&places, token_at(&job->b, i, WTI_LIKE_SHAPES), i + 1);
	for (size_t i = 0; i < job->a_cut; i++) {
		uint64_t place =
			job->a.partner[i] == NONE
				? wti_map_get(&places, token_at(&job->a, i, WTI_LIKE_SHAPES))
				: 0;

		if (place && job->b.partner[place - 1] == NONE)
			join(job, i, place - 1, WTI_PAIR_REORDERED);
	}
	if (places.failed)
		job->failed = WT_E_NOMEM;
	wti_map_release(&places);
}

static bool is_aligned(const struct window *w, size_t i)
{
	return w->partner[i] != NONE && w->label[i] == WTI_PAIR_ALIGNED;
}

static size_t gap_end(const struct window *w, size_t from)
{
	while (from < w->count && !is_aligned(w, from))
		from++;
	return from;
}

static bool same_result(const struct job *job, size_t a_end, size_t b_end)
{
	uint64_t a = wti_computed_result(wti_course_at(job->a.course, a_end - 1));

	return a && a == wti_computed_result(wti_course_at(job->b.course, b_end - 1));
}

static void label_gap(struct window *w, size_t from, size_t to, enum wti_pairing_label label)
{
	for (size_t i = from; i < to; i++)
		if (w->partner[i] == NONE)
			w->label[i] = (uint8_t)label;
}

/* What stands between two pairs on both sides: whether the last of each gives the same. */
static void label_gaps(struct job *job)
{
	size_t a = 0, b = 0;

	while (a < job->a.count || b < job->b.count) {
		size_t a_end = gap_end(&job->a, a), b_end = gap_end(&job->b, b);
		enum wti_pairing_label label = a_end - a > b_end - b   ? WTI_PAIR_FUSED
					       : a_end - a < b_end - b ? WTI_PAIR_SPLIT
								       : WTI_PAIR_REPLACED;
		bool is_same = a_end > a && b_end > b && same_result(job, a_end, b_end);

		label_gap(&job->a, a, a_end, is_same ? label : WTI_PAIR_MISSING);
		label_gap(&job->b, b, b_end, is_same ? label : WTI_PAIR_EXTRA);
		a = a_end + (a_end < job->a.count);
		b = b_end + (b_end < job->b.count);
	}
}

/* ---- Handing over ---------------------------------------------------------------------------- */

/* The places behind the last pair that is certain; everything where both tracks end here. */
static void find_cut(struct job *job)
{
	size_t a = job->a.count;
	bool is_end = job->a.count < WTI_COURSE_WINDOW && job->b.count < WTI_COURSE_WINDOW;

	while (!is_end && a > 0 && !is_aligned(&job->a, a - 1))
		a--;
	job->a_cut = is_end || !a ? job->a.count : a;
	job->b_cut = is_end || !a ? job->b.count : job->a.partner[a - 1] + 1;
}

static int hand_over(struct job *job, const struct wti_computed *a, const struct wti_computed *b,
		     uint8_t label)
{
	return job->how->taker(job->how->self, a, b, (enum wti_pairing_label)label);
}

/* Those of B without a partner, or with one elsewhere, before place `to`. */
static int hand_over_b(struct job *job, size_t *from, size_t to)
{
	int r = 0;

	for (; *from < to && !r; ++*from)
		if (job->b.partner[*from] == NONE)
			r = hand_over(job, NULL, wti_course_at(job->b.course, *from),
				      job->b.label[*from]);
	return r;
}

static int hand_over_all(struct job *job)
{
	size_t b = 0;
	int r = 0;

	for (size_t a = 0; a < job->a_cut && !r; a++) {
		uint32_t partner = job->a.partner[a];

		if (is_aligned(&job->a, a)) {
			r = hand_over_b(job, &b, partner);
			b = partner + 1;
		}
		r = r ? r
		      : hand_over(job, wti_course_at(job->a.course, a),
				  partner == NONE ? NULL : wti_course_at(job->b.course, partner),
				  job->a.label[a]);
	}
	return r ? r : hand_over_b(job, &b, job->b_cut);
}

static int window_init(struct window *w, struct wti_course *course)
{
	int r = wti_course_fill(course, WTI_COURSE_WINDOW);

	w->course = course;
	w->count = wti_course_count(course);
	w->partner = malloc(sizeof(*w->partner) * (w->count + 1));
	w->label = calloc(w->count + 1, sizeof(*w->label));
	w->tokens = malloc(sizeof(*w->tokens) * (w->count + 1));
	if (r || !w->partner || !w->label || !w->tokens)
		return r ? r : WT_E_NOMEM;
	memset(w->partner, 0xff, sizeof(*w->partner) * w->count);
	return 0;
}

static void window_release(struct window *w)
{
	free(w->partner);
	free(w->label);
	free(w->tokens);
}

static int take_window(struct wti_course *a, struct wti_course *b,
		       const struct wti_pairing_how *how)
{
	struct job job = {.how = how};
	int r = window_init(&job.a, a), other = window_init(&job.b, b);

	r = r ? r : other;
	if (!r) {
		align(&job, 0, job.a.count, 0, job.b.count, WTI_LIKE_SHAPES);
		find_cut(&job);
		find_reordered(&job);
		label_gaps(&job);
		r = job.failed ? job.failed : hand_over_all(&job);
		wti_course_drop(a, job.a_cut);
		wti_course_drop(b, job.b_cut);
	}
	window_release(&job.a);
	window_release(&job.b);
	return r;
}

static bool heads_agree(const struct wti_course *a, const struct wti_course *b)
{
	return wti_course_count(a) && wti_course_count(b) &&
	       wti_course_at(a, 0)->tokens[WTI_LIKE_SHAPES] ==
		       wti_course_at(b, 0)->tokens[WTI_LIKE_SHAPES];
}

int wti_pair_courses(struct wti_course *a, struct wti_course *b, const struct wti_pairing_how *how)
{
	int r = 0;

	while (!r) {
		r = wti_course_fill(a, 1);
		r = r ? r : wti_course_fill(b, 1);
		if (r || (!wti_course_count(a) && !wti_course_count(b)))
			break;
		if (!heads_agree(a, b)) {
			r = take_window(a, b, how);
			continue;
		}
		r = how->taker(how->self, wti_course_at(a, 0), wti_course_at(b, 0),
			       WTI_PAIR_ALIGNED);
		wti_course_drop(a, 1);
		wti_course_drop(b, 1);
	}
	return r;
}
