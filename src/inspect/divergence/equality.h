/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the values of two operations that correspond are the same, bit by bit. */
#ifndef WTI_DIVERGENCE_EQUALITY_H
#define WTI_DIVERGENCE_EQUALITY_H

#include "course.h"

/* Of the inputs, or of the outputs, of two operations. */
struct wti_equality {
	uint32_t compared;
	uint32_t different;
	uint32_t unread;           /* tensors that one of the runs described and did not read */
	uint32_t alone;            /* that only one of them has */
	uint32_t opaque;           /* inputs of which only the type is known */
	uint32_t first_a, first_b; /* places in their values of the first that differs */
};

/* An operation and the course that its names are of. */
struct wti_computed_in {
	const struct wti_course *course;
	const struct wti_computed *item;
};

struct wti_equality wti_compare_side(struct wti_computed_in a, struct wti_computed_in b,
				     bool is_output);
/* The place of the n-th value of that side; value_count: there is none. */
uint32_t wti_side_value(const struct wti_computed *item, bool is_output, uint32_t n);

enum wti_same { WTI_SAME, WTI_NOT_SAME, WTI_SAME_UNREAD };
enum wti_same wti_compare_values(const struct wti_value_row *a, const struct wti_value_row *b);

#endif
