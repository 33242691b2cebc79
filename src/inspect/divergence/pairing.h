/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What two tracks computed, side by side. While both do the same, operations are taken one by one.
 * Where they part, a window of each is aligned: first those of the same step that are alike in
 * everything, then, in what is left between these, those alike in less. What still has no partner
 * gets a label by its place and by the values that flow through it (labels.h). A window is given up
 * only up to its last certain pair, so that nothing is cut where it ends.
 */
#ifndef WTI_DIVERGENCE_PAIRING_H
#define WTI_DIVERGENCE_PAIRING_H

#include "course.h"

enum wti_pairing_label {
	WTI_PAIR_ALIGNED,
	WTI_PAIR_REORDERED, /* both have it, at another place in the order */
	WTI_PAIR_MISSING,   /* only A has it */
	WTI_PAIR_EXTRA,     /* only B has it */
	WTI_PAIR_FUSED,     /* fewer operations of B give the same result, bit by bit */
	WTI_PAIR_SPLIT,     /* more of B do */
	WTI_PAIR_REPLACED,  /* as many of B do */
	WTI_PAIR_ABSORBED,  /* of a crew: done in another order, and nothing remains of it */
	WTI_PAIR_INSIDE,    /* in an operation that both have, of whose inside they share nothing */
	WTI_PAIR_AROUND,    /* around one that both have, whose result it passes on */
	WTI_PAIR_REPEATED,  /* both do it in this step, one of them more often */
	WTI_PAIR_LABELS,
};

struct wti_pairing_how {
	void *self;
	/* One of them NULL: it has no partner. Others than 0 end it. */
	int (*taker)(void *self, const struct wti_computed *a, const struct wti_computed *b,
		     enum wti_pairing_label label);
};

/* Whether one of the runs does something that the other does in no form. */
static inline bool wti_pair_is_alone(enum wti_pairing_label label)
{
	return label == WTI_PAIR_MISSING || label == WTI_PAIR_EXTRA || label == WTI_PAIR_REPEATED;
}

int wti_pair_courses(struct wti_course *a, struct wti_course *b, const struct wti_pairing_how *how);

/* Another way to find partners than wti_pair_courses(). */
struct wti_pairer {
	void *self;
	int (*pair)(void *self, struct wti_course *a, struct wti_course *b,
		    const struct wti_pairing_how *how);
};

/* All that came out, as one number; 0: nothing, or something was not read. */
uint64_t wti_computed_result(const struct wti_computed *item);

#endif
