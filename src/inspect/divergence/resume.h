/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that was resumed against one that was not: where to begin. The second run loads what the
 * first has saved, tensor by tensor the same; what the first did up to there, and the second before
 * it, has no counterpart.
 */
#ifndef WTI_DIVERGENCE_RESUME_H
#define WTI_DIVERGENCE_RESUME_H

#include "course.h"

struct wti_resume {
	bool is_found;
	uint64_t a_skip, b_skip; /* items before the point where both go on */
	int64_t a_step;          /* of the first run, when it saved */
};

/* Both are read to their ends, and have to be opened again. */
int wti_resume_find(struct wti_course *a, struct wti_course *b, struct wti_resume *ret_resume);

#endif
