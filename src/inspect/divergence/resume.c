/* SPDX-License-Identifier: Apache-2.0 */
/* What was saved is found among what was loaded by the hashes of its tensors: see resume.h. */
#include "resume.h"

#include "base/err.h"
#include "base/map.h"

#define LOADS_MAX 1024u

/* Of all its tensors, in any order; 0: there are none, or one was not read. */
static uint64_t contents_of(const struct wti_computed *item)
{
	uint64_t sum = 0, count = 0;

	for (uint32_t i = 0; i < item->value_count; i++) {
		const struct wti_value_row *value = &item->values[i];

		if (value->type != WTI_VALUE_TENSOR)
			continue;
		if (value->digest.flags & WT_TENSOR_NO_HASH)
			return 0;
		sum += (value->digest.hash ^ value->digest.count) * 0x9e3779b97f4a7c15u;
		count++;
	}
	return count && !item->is_cut ? sum ^ count : 0;
}

/* Contents of its calls of that action: the number of items up to the last such call. */
static int find_all(struct wti_course *course, enum wt_action action, struct wti_map *ret_places)
{
	uint64_t number = 0;
	int r = wti_course_fill(course, 1);

	while (!r && wti_course_count(course)) {
		const struct wti_computed *item = wti_course_at(course, 0);
		uint64_t contents = item->action == action ? contents_of(item) : 0;

		number++;
		if (contents && ret_places->count < LOADS_MAX)
			wti_map_put(ret_places, contents, number);
		wti_course_drop(course, 1);
		r = wti_course_fill(course, 1);
	}
	return r;
}

static int find_save(struct wti_course *course, const struct wti_map *loads,
		     struct wti_resume *resume)
{
	uint64_t number = 0;
	int r = wti_course_fill(course, 1);

	while (!r && wti_course_count(course)) {
		const struct wti_computed *item = wti_course_at(course, 0);
		uint64_t contents = item->action == WT_ACTION_SAVE ? contents_of(item) : 0;
		uint64_t place = contents ? wti_map_get(loads, contents) : 0;

		number++;
		/* What it has loaded itself it does not resume from: both began with it. */
		if (item->action == WT_ACTION_LOAD && wti_map_get(loads, contents_of(item)))
			break;
		if (place) {
			*resume = (struct wti_resume){true, number, place, item->step};
			break;
		}
		wti_course_drop(course, 1);
		r = wti_course_fill(course, 1);
	}
	return r;
}

int wti_resume_find(struct wti_course *a, struct wti_course *b, struct wti_resume *ret_resume)
{
	struct wti_map loads;
	int r;

	*ret_resume = (struct wti_resume){.is_found = false};
	wti_map_init(&loads, LOADS_MAX);
	r = find_all(b, WT_ACTION_LOAD, &loads);
	if (!r && loads.count)
		r = find_save(a, &loads, ret_resume);
	wti_map_release(&loads);
	return r;
}
