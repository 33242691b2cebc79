/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a piece of work again and again, with its first allocation failing, its second, and so on to
 * the last: each time it must say that memory ran out, or do without it, and leave none behind.
 */
#ifndef WTI_TESTS_EACH_H
#define WTI_TESTS_EACH_H

#include "../unit/test.h"

#include <wheeltap/err.h>

#include "inject.h"

#define ALLOCATIONS_MAX 100000

/* 0 or a negative code, having freed everything. What it found is counted in *ret_found. */
typedef int work_fn(uint64_t *ret_found);

static void each_allocation(work_fn *work, bool and_after)
{
	uint64_t expected = 0, found;

	CHECK_INT(work(&expected), 0);
	CHECK(expected); /* otherwise nothing would be tested */
	for (uint64_t nth = 1; nth < ALLOCATIONS_MAX; nth++) {
		int status;
		bool fired;

		inject_alloc(nth, and_after);
		found = 0;
		status = work(&found);
		fired = inject_stop();
		/* It may do without (an index can be made up for), but then nothing is missing. */
		if ((status || found != expected) && !(fired && status == WT_E_NOMEM))
			test_fail(__FILE__, __LINE__,
				  "allocation %" PRIu64 "%s: status %d, found %" PRIu64
				  " instead of %" PRIu64,
				  nth, and_after ? " and all after it" : "", status, found,
				  expected);
		CHECK_INT(inject_live(), 0);
		if (test_state.failed)
			return;
		if (!fired) {
			CHECK(nth > 1);
			return;
		}
	}
	CHECK(!"it ends");
}

static void each_allocation_both(work_fn *work)
{
	each_allocation(work, false);
	each_allocation(work, true);
}

#endif
