/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of two courses, aligned: see pairing.h. */
#include "pairing.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "inspect/core/align.h"
#include "labels.h"

struct job {
	const struct wti_pairing_how *how;
	struct wti_pairing_past *past;
	struct wti_pairing_windows both;
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

/* ---- Aligning -------------------------------------------------------------------------------- */

/* From the most exact to the least: those of the same step, then each likeness. */
#define ROUNDS (1u + WTI_LIKENESSES)

static void fold_tokens(struct wti_pairing_window *w, size_t from, size_t count, unsigned round)
{
	for (size_t i = from; i < from + count; i++) {
		uint64_t token = round ? wti_course_at(w->course, i)->tokens[round - 1]
				       : wti_step_token(w, i, WTI_LIKE_SHAPES);

		w->tokens[i] = (uint32_t)(token ^ token >> 32);
	}
}

/* Recurses once for each round: five deep. */
static void align(struct job *job, size_t a, size_t a_count, size_t b, size_t b_count,
		  unsigned round)
{
	struct wti_pairing_windows *both = &job->both;
	struct wti_edits edits = {0};

	if (!a_count || !b_count || round >= ROUNDS || job->failed)
		return;
	fold_tokens(&both->a, a, a_count, round);
	fold_tokens(&both->b, b, b_count, round);
	job->failed = wti_align(both->a.tokens + a, a_count, both->b.tokens + b, b_count, &edits);
	for (size_t i = 0; i < edits.count && !job->failed; i++) {
		const struct wti_edit *edit = &edits.all[i];

		for (size_t j = 0; edit->is_equal && j < edit->a_count; j++)
			wti_join(both, a + edit->a + j, b + edit->b + j, WTI_PAIR_ALIGNED);
		if (!edit->is_equal)
			align(job, a + edit->a, edit->a_count, b + edit->b, edit->b_count,
			      round + 1);
	}
	wti_edits_release(&edits);
}

/* ---- Handing over ---------------------------------------------------------------------------- */

/* The places behind the last pair that is certain; everything where both tracks end here. */
static void find_cut(struct wti_pairing_windows *both)
{
	size_t a = both->a.count;
	bool is_end = both->a.count < WTI_COURSE_WINDOW && both->b.count < WTI_COURSE_WINDOW;

	while (!is_end && a > 0 && !wti_is_aligned(&both->a, a - 1))
		a--;
	both->a.cut = is_end || !a ? both->a.count : a;
	both->b.cut = is_end || !a ? both->b.count : both->a.partner[a - 1] + 1;
}

static int hand_over(struct wti_pairing_past *past, const struct wti_pairing_how *how,
		     const struct wti_computed *a, const struct wti_computed *b,
		     enum wti_pairing_label label)
{
	if (label == WTI_PAIR_ALIGNED)
		wti_past_take(past, a, b);
	return how->taker(how->self, a, b, label);
}

/* Those of B without a partner, or with one elsewhere, before place `to`. */
static int hand_over_b(struct job *job, size_t *from, size_t to)
{
	int r = 0;

	for (; *from < to && !r; ++*from)
		if (job->both.b.partner[*from] == WTI_NO_PARTNER)
			r = hand_over(job->past, job->how, NULL,
				      wti_course_at(job->both.b.course, *from),
				      (enum wti_pairing_label)job->both.b.label[*from]);
	return r;
}

static int hand_over_all(struct job *job)
{
	size_t b = 0;
	int r = 0;

	for (size_t a = 0; a < job->both.a.cut && !r; a++) {
		uint32_t partner = job->both.a.partner[a];

		if (wti_is_aligned(&job->both.a, a)) {
			r = hand_over_b(job, &b, partner);
			b = partner + 1;
		}
		if (!r)
			r = hand_over(job->past, job->how, wti_course_at(job->both.a.course, a),
				      partner == WTI_NO_PARTNER
					      ? NULL
					      : wti_course_at(job->both.b.course, partner),
				      (enum wti_pairing_label)job->both.a.label[a]);
	}
	return r ? r : hand_over_b(job, &b, job->both.b.cut);
}

static int window_init(struct wti_pairing_window *w, struct wti_course *course)
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

static void window_release(struct wti_pairing_window *w)
{
	free(w->partner);
	free(w->label);
	free(w->tokens);
}

static int take_window(struct wti_course *a, struct wti_course *b, int64_t ahead,
		       struct wti_pairing_past *past, const struct wti_pairing_how *how)
{
	struct job job = {.how = how, .past = past, .both = {.b.ahead = ahead, .past = past}};
	struct wti_pairing_windows *both = &job.both;
	int r = window_init(&both->a, a), other = window_init(&both->b, b);

	r = r ? r : other;
	if (!r) {
		align(&job, 0, both->a.count, 0, both->b.count, 0);
		find_cut(both);
		r = job.failed ? job.failed : wti_label_rest(both);
		r = r ? r : hand_over_all(&job);
		wti_course_drop(a, both->a.cut);
		wti_course_drop(b, both->b.cut);
	}
	window_release(&both->a);
	window_release(&both->b);
	return r;
}

static bool heads_agree(const struct wti_course *a, const struct wti_course *b)
{
	return wti_course_count(a) && wti_course_count(b) &&
	       wti_course_at(a, 0)->tokens[WTI_LIKE_SHAPES] ==
		       wti_course_at(b, 0)->tokens[WTI_LIKE_SHAPES];
}

static int pair(struct wti_course *a, struct wti_course *b, struct wti_pairing_past *past,
		const struct wti_pairing_how *how)
{
	int64_t ahead = 0; /* a run that goes on from another counts its steps anew */
	int r = 0;

	while (!r) {
		r = wti_course_fill(a, 1);
		r = r ? r : wti_course_fill(b, 1);
		if (r || (!wti_course_count(a) && !wti_course_count(b)))
			break;
		if (!heads_agree(a, b)) {
			r = take_window(a, b, ahead, past, how);
			continue;
		}
		if (wti_course_at(a, 0)->step >= 0 && wti_course_at(b, 0)->step >= 0)
			ahead = wti_course_at(a, 0)->step - wti_course_at(b, 0)->step;
		r = hand_over(past, how, wti_course_at(a, 0), wti_course_at(b, 0),
			      WTI_PAIR_ALIGNED);
		wti_course_drop(a, 1);
		wti_course_drop(b, 1);
	}
	return r;
}

int wti_pair_courses(struct wti_course *a, struct wti_course *b, const struct wti_pairing_how *how)
{
	struct wti_pairing_past *past = calloc(1, sizeof(*past));
	int r = past ? pair(a, b, past, how) : WT_E_NOMEM;

	free(past);
	return r;
}
