/* SPDX-License-Identifier: Apache-2.0 */
/* Values of one thing on several ranks. */
#include "compare.h"

enum wti_comparison wti_compare(struct wti_compared *compared, int64_t step, int32_t rank,
				uint64_t value, int32_t *ret_other)
{
	size_t place = (size_t)step % WTI_STEPS_APART_MAX;

	if (!compared->at[place].is_set || compared->at[place].step < step) {
		compared->at[place].step = step;
		compared->at[place].rank = rank;
		compared->at[place].value = value;
		compared->at[place].is_set = true;
		return WTI_NOTHING_YET;
	}
	if (compared->at[place].step > step || compared->at[place].rank == rank)
		return WTI_NOTHING_YET; /* too far behind, or its own */
	*ret_other = compared->at[place].rank;
	return compared->at[place].value == value ? WTI_EQUAL : WTI_DIFFERENT;
}

/* Two numbers as one. Both are small (symbols, steps, ordinals): they are spread over all bits
 * before they meet, or many pairs would give the same. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	a ^= b * 0x9e3779b97f4a7c15u;
	a = (a ^ a >> 32) * 0xff51afd7ed558ccdu;
	a = (a ^ a >> 29) * 0xc4ceb9fe1a85ec53u;
	return a ^ a >> 32;
}

uint64_t wti_repeated_next(struct wti_repeated_count *count, int64_t step)
{
	if (count->step != step)
		*count = (struct wti_repeated_count){.step = step};
	return ++count->ordinal;
}

uint64_t wti_mix_three(uint64_t a, uint64_t b, uint64_t c)
{
	return mix(mix(a, b), c);
}

bool wti_repeated_meet(struct wti_repeated_value *value, int32_t rank, uint64_t first,
		       uint64_t second, struct wti_repeated_value *ret_other)
{
	if (!value->is_set) {
		*value = (struct wti_repeated_value){true, rank, first, second};
		return false;
	}
	*ret_other = *value;
	return value->rank != rank;
}

bool wti_repeated_compare(struct wti_repeated *repeated, const struct wti_moment *moment,
			  uint64_t subject, uint64_t first, uint64_t second,
			  struct wti_repeated_value *ret_other)
{
	struct wti_repeated_count *count =
		wti_slot(&repeated->counts, mix(subject, moment->process->stream), sizeof(*count));
	struct wti_repeated_value *value;
	uint64_t ordinal;

	if (!count)
		return false;
	ordinal = wti_repeated_next(count, moment->scope.step);
	if (repeated->values.count > WTI_VALUES_MAX)
		wti_slots_release(&repeated->values);
	value = wti_slot(&repeated->values,
			 wti_mix_three(subject, (uint64_t)moment->scope.step, ordinal),
			 sizeof(*value));
	return value && wti_repeated_meet(value, moment->scope.rank, first, second, ret_other);
}

void wti_repeated_release(struct wti_repeated *repeated)
{
	wti_slots_release(&repeated->counts);
	wti_slots_release(&repeated->values);
}
