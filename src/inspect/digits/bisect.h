/* SPDX-License-Identifier: Apache-2.0 */
/* Which few of many are enough: delta debugging (Zeller and Hildebrandt 2002). */
#ifndef WTI_DIGITS_BISECT_H
#define WTI_DIGITS_BISECT_H

#include <stdbool.h>
#include <stddef.h>

#include <wheeltap/err.h>

/* Whether those that are chosen are enough: 1, 0, or an error. */
typedef int (*wti_bisect_test)(void *cookie, const bool *chosen, struct wt_err *err);

/*
 * All of `count` are known to be enough. Leaves in ret_chosen a part of them that is, too, and from
 * which nothing can be taken away, unless `tests_max` tests were not sufficient to see that: then
 * 1 is returned, otherwise 0.
 */
int wti_bisect(size_t count, wti_bisect_test test, void *cookie, size_t tests_max, bool *ret_chosen,
	       struct wt_err *err);

#endif
