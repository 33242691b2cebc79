/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks among which work is shared out as they happen to be free: threads and processes of a pool.
 * Which of them did what says nothing, so their operations correspond by what was done (call path,
 * line, shapes, and the values that went in and came out), whoever did it:
 *
 *   1. all of it is the same: it is the same operation;
 *   2. the inputs are: its outputs differ, an origin;
 *   3. what is left and leaves no trace is *absorbed*: each of its results is also a result of that
 *      line in the other run, or goes only into operations that are absorbed themselves. So parts
 *      of an exact sum that are added in any order differ, and the sum does not;
 *   4. what is left then, by call path and line, in the order of time.
 */
#ifndef WTI_DIVERGENCE_CREW_H
#define WTI_DIVERGENCE_CREW_H

#include "judgement.h"

struct wti_crew_member {
	size_t stream;
	uint32_t track;
};

struct wti_crew {
	const struct wt_trace *trace;
	const struct wti_crew_member *members;
	size_t count;
};

/*
 * A judgement for each member of A, then one for each of B: of its work that nobody in A did.
 * WT_E_LIMIT: they did more than is kept in mind.
 */
int wti_crew_judge(const struct wti_crew *a, const struct wti_crew *b,
		   const struct wti_within_line *where, struct wti_judgement *ret_judgements,
		   struct wt_err *err);

#endif
