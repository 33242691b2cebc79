/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of operations that have no partner after two windows were aligned: reordered, fused,
 * split, replaced, inside or around an operation that both have, repeated, missing, extra.
 */
#ifndef WTI_DIVERGENCE_LABELS_H
#define WTI_DIVERGENCE_LABELS_H

#include "pairing.h"

#define WTI_NO_PARTNER UINT32_MAX

/*
 * What the last pairs were, as labels depend on what was handed over before a window began. Lines
 * that have no room are forgotten: what they are repeated in is then called extra or missing.
 */
struct wti_pairing_past {
	uint64_t lines[WTI_COURSE_WINDOW]; /* of operations, with their steps */
	struct {
		uint32_t depth;
		uint64_t result;
	} last[2]; /* operation of A and of B */
};

/* The beginning of what is left of a course, beside that of the other run. */
struct wti_pairing_window {
	struct wti_course *course;
	size_t count, cut; /* that are there, and that are handed over */
	int64_t ahead;     /* its steps are counted from so many less than those of A */
	uint32_t *partner; /* of each item: its place in the other window, or WTI_NO_PARTNER */
	uint8_t *label;    /* enum wti_pairing_label */
	uint32_t *tokens;
};

struct wti_pairing_windows {
	struct wti_pairing_window a, b;
	const struct wti_pairing_past *past;
};

void wti_past_take(struct wti_pairing_past *past, const struct wti_computed *a,
		   const struct wti_computed *b);

/* Of an item: alike in its step, path, line and shapes. */
uint64_t wti_step_token(const struct wti_pairing_window *w, size_t i, enum wti_likeness level);
bool wti_is_aligned(const struct wti_pairing_window *w, size_t i);
void wti_join(struct wti_pairing_windows *both, size_t a, size_t b, enum wti_pairing_label label);
/* 0, or WT_E_NOMEM. */
int wti_label_rest(struct wti_pairing_windows *both);

#endif
