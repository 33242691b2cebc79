/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of an operation beyond its course: copies of its names, its place and its values. */
#ifndef WTI_DIVERGENCE_COPIES_H
#define WTI_DIVERGENCE_COPIES_H

#include "judgement.h"

void wti_copy_computed(const struct wti_course *course, const struct wti_computed *item,
		       struct wti_first_difference *ret_first);
/* `course`: of `a`, an operation of the first run; `b` is its partner. */
void wti_copy_values(const struct wti_course *course, const struct wti_computed *a,
		     const struct wti_computed *b, struct wti_first_difference *first);

#endif
