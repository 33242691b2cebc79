/* SPDX-License-Identifier: Apache-2.0 */
/* Values by hash and bits: see equality.h. */
#include "equality.h"

/*
 * Other text is no input of a computation that could be judged: names of files have dates in them,
 * and what is private was replaced before it was recorded.
 */
static bool is_comparable(const struct wti_value_row *value)
{
	switch (value->type) {
	case WT_VALUE_TYPE_BOOL:
	case WT_VALUE_TYPE_INT:
	case WT_VALUE_TYPE_FLOAT:
	case WT_VALUE_TYPE_HASH:
	case WTI_VALUE_TENSOR:
		return true;
	case WT_VALUE_TYPE_TEXT: /* a tuple of numbers: see course.c */
		return value->bits != 0;
	default:
		return false;
	}
}

enum wti_same wti_compare_values(const struct wti_value_row *a, const struct wti_value_row *b)
{
	if (a->type != b->type)
		return WTI_NOT_SAME;
	if (a->type != WTI_VALUE_TENSOR)
		return a->bits == b->bits ? WTI_SAME : WTI_NOT_SAME;
	if (a->digest.dtype != b->digest.dtype || a->digest.count != b->digest.count)
		return WTI_NOT_SAME;
	if ((a->digest.flags | b->digest.flags) & WT_TENSOR_NO_HASH)
		return WTI_SAME_UNREAD;
	return a->digest.hash == b->digest.hash ? WTI_SAME : WTI_NOT_SAME;
}

uint32_t wti_side_value(const struct wti_computed *item, bool is_output, uint32_t n)
{
	uint32_t i = 0;

	for (; i < item->value_count; i++)
		if ((item->values[i].position < 0) == is_output &&
		    is_comparable(&item->values[i]) && !n--)
			break;
	return i;
}

struct wti_equality wti_compare_side(struct wti_computed_in a, struct wti_computed_in b,
				     bool is_output)
{
	struct wti_equality equality = {.opaque = is_output ? 0 : a.item->opaque};

	for (uint32_t n = 0;; n++) {
		uint32_t i = wti_side_value(a.item, is_output, n);
		uint32_t j = wti_side_value(b.item, is_output, n);
		bool has_a = i < a.item->value_count, has_b = j < b.item->value_count;
		enum wti_same same;

		if (!has_a && !has_b)
			break;
		if (!has_a || !has_b) {
			equality.alone++;
			continue;
		}
		same = wti_compare_values(&a.item->values[i], &b.item->values[j]);
		equality.compared += same != WTI_SAME_UNREAD;
		equality.unread += same == WTI_SAME_UNREAD;
		if (same != WTI_NOT_SAME || equality.different++)
			continue;
		equality.first_a = i;
		equality.first_b = j;
	}
	return equality;
}
