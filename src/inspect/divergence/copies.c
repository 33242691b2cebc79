/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of what an operation was and what it was given: see copies.h. */
#include "copies.h"

#include <stdio.h>

static void copy(char *out, size_t bytes, const char *text)
{
	snprintf(out, bytes, "%s", text);
}

void wti_copy_computed(const struct wti_course *course, const struct wti_computed *item,
		       struct wti_first_difference *ret_first)
{
	*ret_first = (struct wti_first_difference){
		.line = item->line,
		.step = item->step,
		.after_step = -1,
		.time_ns = item->time_ns,
		.action = item->action,
		.kind = item->kind,
	};
	copy(ret_first->callee, sizeof(ret_first->callee), wti_course_text(course, item->callee));
	copy(ret_first->module, sizeof(ret_first->module), wti_course_text(course, item->module));
	copy(ret_first->path, sizeof(ret_first->path), wti_course_text(course, item->path));
	copy(ret_first->object, sizeof(ret_first->object), wti_course_text(course, item->object));
	copy(ret_first->file, sizeof(ret_first->file), wti_course_text(course, item->file));
	copy(ret_first->stage, sizeof(ret_first->stage), wti_course_text(course, item->stage));
}

static void add_value(const struct wti_course *course, struct wti_first_difference *first,
		      const struct wti_value_row *a, const struct wti_value_row *b)
{
	struct wti_value_pair *pair;
	const char *name = wti_course_text(course, a->name);

	if (first->value_count >= WTI_FIRST_VALUES)
		return;
	pair = &first->values[first->value_count++];
	*pair = (struct wti_value_pair){.a = *a, .b = *b, .same = wti_compare_values(a, b)};
	copy(pair->shape, sizeof(pair->shape), wti_course_text(course, a->digest.shape));
	if (*name)
		copy(pair->name, sizeof(pair->name), name);
	else if (a->position >= 0)
		snprintf(pair->name, sizeof(pair->name), "argument %d", a->position);
	else
		copy(pair->name, sizeof(pair->name), "result");
}

/* What the operation was called with besides. */
static void add_others(const struct wti_course *course, struct wti_first_difference *first,
		       const struct wti_computed *a)
{
	for (uint32_t i = 0; i < a->value_count && first->other_count < WTI_FIRST_OTHERS; i++) {
		const struct wti_value_row *value = &a->values[i];
		struct wti_other_argument *other = &first->others[first->other_count];

		if (value->position < 0 ||
		    (value->type != WT_VALUE_TYPE_NONE && value->type != WT_VALUE_TYPE_TEXT))
			continue;
		other->position = value->position;
		copy(other->name, sizeof(other->name), wti_course_text(course, value->name));
		copy(other->text, sizeof(other->text), wti_course_text(course, value->text));
		first->other_count++;
	}
}

void wti_copy_values(const struct wti_course *course, const struct wti_computed *a,
		     const struct wti_computed *b, struct wti_first_difference *first)
{
	add_others(course, first, a);
	for (unsigned side = 0; side < 2; side++) {
		for (uint32_t n = 0;; n++) {
			uint32_t i = wti_side_value(a, side, n), j = wti_side_value(b, side, n);

			if (i >= a->value_count || j >= b->value_count)
				break;
			add_value(course, first, &a->values[i], &b->values[j]);
		}
	}
}
