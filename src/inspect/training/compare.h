/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing ranks: by step and by how many times something happened in it, never by time. One rank
 * may be some steps ahead of another.
 */
#ifndef WTI_INSPECT_COMPARE_H
#define WTI_INSPECT_COMPARE_H

#include "slots.h"

enum { WTI_STEPS_APART = 16 }; /* how far ranks may be apart and still be compared */

/* The first rank to come to a step leaves its value; the others are compared with it. */
struct wti_compared {
	struct {
		int64_t step;
		int32_t rank;
		bool is_set;
		uint64_t value;
	} at[WTI_STEPS_APART];
};

enum wti_comparison { WTI_NOTHING_YET, WTI_EQUAL, WTI_DIFFERENT };

enum wti_comparison wti_compare(struct wti_compared *compared, int64_t step, int32_t rank,
				uint64_t value, int32_t *ret_other);

/* What happens several times in a step: two numbers of each time, such as input and output. */
struct wti_repeated {
	struct wti_slots counts; /* by stream and subject: struct wti_repeated_count */
	struct wti_slots values; /* by subject, step and ordinal: struct wti_repeated_value */
};

struct wti_repeated_value {
	bool is_set;
	int32_t rank;
	uint64_t first, second;
};

/*
 * The value that another rank left for the same subject, step and ordinal, in *ret_other; false:
 * there is none yet, and this one is left for it.
 */
bool wti_repeated_compare(struct wti_repeated *repeated, const struct wti_moment *moment,
			  uint64_t subject, uint64_t first, uint64_t second,
			  struct wti_repeated_value *ret_other);
void wti_repeated_release(struct wti_repeated *repeated);

#endif
