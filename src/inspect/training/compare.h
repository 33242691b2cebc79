/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing ranks: by step and by how many times something happened in it, never by time. One rank
 * may be some steps ahead of another.
 */
#ifndef WTI_INSPECT_COMPARE_H
#define WTI_INSPECT_COMPARE_H

#include "slots.h"

enum {
	WTI_STEPS_APART_MAX = 16, /* further apart ranks are not compared */
	WTI_VALUES_MAX =
		1 << 16, /* of what is repeated: the other ranks are long past older ones */
};

/* Instead of a stream, for what is called the same on all ranks. */
enum { WTI_ALL_RANKS = 0 };

/* The first rank to come to a step leaves its value; the others are compared with it. */
struct wti_compared {
	struct {
		int64_t step;
		int32_t rank;
		bool is_set;
		uint64_t value;
	} at[WTI_STEPS_APART_MAX];
};

enum wti_comparison { WTI_NOTHING_YET, WTI_EQUAL, WTI_DIFFERENT };

enum wti_comparison wti_compare(struct wti_compared *compared, int64_t step, int32_t rank,
				uint64_t value, int32_t *ret_other);

/*
 * What happens several times in a step: two numbers of each time, such as input and output. By
 * stream and subject there is a count, by subject, step and ordinal a value, both zeroed at first.
 */
struct wti_repeated_count {
	int64_t step;
	uint64_t ordinal; /* in that step */
};

struct wti_repeated_value {
	bool is_set;
	int32_t rank;
	uint64_t first, second;
};

/* Three numbers as one, such as subject, step and ordinal. */
uint64_t wti_mix_three(uint64_t a, uint64_t b, uint64_t c);
/* One more time: how many it is in its step. */
uint64_t wti_repeated_next(struct wti_repeated_count *count, int64_t step);
/*
 * The value that another rank left, in *ret_other; false: there is none yet, and this one is left
 * for it.
 */
bool wti_repeated_meet(struct wti_repeated_value *value, int32_t rank, uint64_t first,
		       uint64_t second, struct wti_repeated_value *ret_other);

/* The same, with memory of its own. */
struct wti_repeated {
	struct wti_slots counts; /* by stream and subject */
	struct wti_slots values; /* by subject, step and ordinal */
};

bool wti_repeated_compare(struct wti_repeated *repeated, const struct wti_moment *moment,
			  uint64_t subject, uint64_t first, uint64_t second,
			  struct wti_repeated_value *ret_other);
void wti_repeated_release(struct wti_repeated *repeated);

#endif
