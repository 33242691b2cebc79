/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameter groups of an optimizer, for rules about its rate. All follow one schedule, but one
 * may rest (a frozen one has the rate 0): no group speaks for the others.
 */
#ifndef WTI_INSPECT_GROUPS_H
#define WTI_INSPECT_GROUPS_H

#include <stdio.h>

#include "inspect/judge/rule.h"

#define WTI_GROUP_WORDS 64

static inline uint64_t wti_group_key(const struct wti_object *optimizer, uint32_t group)
{
	return (uint64_t)optimizer->place * WTI_GROUPS_MAX + group;
}

/* What is kept for a group, `which` of the rule's (WTI_PER_KEY). */
static inline void *wti_kept_of_group(struct wti_case *account, unsigned which,
				      const struct wti_object *optimizer, uint32_t group)
{
	return wti_kept_of_key(account, which, optimizer->stream, wti_group_key(optimizer, group));
}

/* NULL: nothing was kept for it. */
static inline const void *wti_kept_find_group(const struct wti_case *account, unsigned which,
					      const struct wti_object *optimizer, uint32_t group)
{
	return wti_kept_find_key(account, which, optimizer->stream,
				 wti_group_key(optimizer, group));
}

/* "its learning rate", "the learning rate of its group 2" */
static inline const char *wti_group_rate(char out[WTI_GROUP_WORDS], uint32_t group)
{
	snprintf(out, WTI_GROUP_WORDS,
		 group ? "the learning rate of its group %u" : "its learning rate", group);
	return out;
}

#endif
