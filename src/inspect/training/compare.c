/* SPDX-License-Identifier: Apache-2.0 */
/* Values of one thing on several ranks. */
#include "compare.h"

#define VALUES_MAX (1u << 16)

enum wti_comparison wti_compare(struct wti_compared *compared, int64_t step, int32_t rank,
				uint64_t value, int32_t *ret_other)
{
	size_t place = (size_t)step % WTI_STEPS_APART;

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

struct count {
	int64_t step;
	uint64_t ordinal; /* in that step */
};

/* Two numbers as one. Both are small (symbols, steps, ordinals): they are spread over all bits
 * before they meet, or many pairs would give the same. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	a ^= b * 0x9e3779b97f4a7c15u;
	a = (a ^ a >> 32) * 0xff51afd7ed558ccdu;
	a = (a ^ a >> 29) * 0xc4ceb9fe1a85ec53u;
	return a ^ a >> 32;
}

static uint64_t ordinal_of(struct wti_repeated *repeated, const struct wti_moment *moment,
			   uint64_t subject)
{
	struct count *count =
		wti_slot(&repeated->counts, mix(subject, moment->process->stream), sizeof(*count));

	if (!count)
		return 0;
	if (count->step != moment->scope.step)
		*count = (struct count){.step = moment->scope.step};
	return ++count->ordinal;
}

bool wti_repeated_compare(struct wti_repeated *repeated, const struct wti_moment *moment,
			  uint64_t subject, uint64_t first, uint64_t second,
			  struct wti_repeated_value *ret_other)
{
	uint64_t ordinal = ordinal_of(repeated, moment, subject);
	struct wti_repeated_value *value;

	if (!ordinal)
		return false;
	if (repeated->values.count > VALUES_MAX) /* the other ranks are long past these */
		wti_slots_release(&repeated->values);
	value = wti_slot(&repeated->values,
			 mix(mix(subject, (uint64_t)moment->scope.step), ordinal), sizeof(*value));
	if (!value)
		return false;
	if (!value->is_set) {
		*value = (struct wti_repeated_value){true, moment->scope.rank, first, second};
		return false;
	}
	*ret_other = *value;
	return value->rank != moment->scope.rank;
}

void wti_repeated_release(struct wti_repeated *repeated)
{
	wti_slots_release(&repeated->counts);
	wti_slots_release(&repeated->values);
}
