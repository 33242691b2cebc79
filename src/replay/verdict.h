/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of each operation, from what its execution showed. An operation is an origin if what
 * it read was the same and what it wrote was not; what only follows from that is inherited.
 */
#ifndef WTI_REPLAY_VERDICT_H
#define WTI_REPLAY_VERDICT_H

#include "pass.h"
#include "races.h"
#include "uninitialised.h"

enum wti_replay_verdict {
	WTI_VERDICT_NONE, /* not executed on purpose, or nothing that could differ */
	WTI_VERDICT_SAME,
	WTI_VERDICT_ORIGIN,
	WTI_VERDICT_INHERITED, /* reads what an origin wrote */
	WTI_VERDICT_MISSING,   /* could not be executed */
	WTI_VERDICT_UNKNOWN,   /* reads what an operation that is missing should have written */
	WTI_VERDICTS,
};

enum wti_replay_origin {
	WTI_ORIGIN_NONE,
	WTI_ORIGIN_INTRINSIC,     /* repeating it alone gives other results */
	WTI_ORIGIN_ORDER,         /* it races with another */
	WTI_ORIGIN_UNINITIALISED, /* it depends on memory that nobody initialised */
	WTI_ORIGIN_RECORDING,     /* other results than recorded, and neither of the above */
};

struct wti_replay_judged {
	uint8_t verdict;     /* enum wti_replay_verdict */
	uint8_t reason;      /* enum wti_replay_origin, of an origin */
	uint32_t cause;      /* the operation that it inherits from, or that is missing */
	uint32_t candidates; /* of reason recording: operations any of which may be the origin */
	const struct wti_replay_pass_found *found; /* where it differs; NULL: nowhere */
};

struct wti_replay_verdicts {
	struct wti_replay_judged *ops;
	uint64_t counts[WTI_VERDICTS];
	uint32_t first_origin; /* WTI_PLAN_NONE: none */
};

const char *wti_replay_verdict_word(enum wti_replay_verdict verdict);

/*
 * `serial` is the execution one at a time, with repetitions; `other` one in another order, or NULL;
 * `uninitialised` is empty where nobody has looked.
 */
int wti_replay_verdicts_judge(const struct wti_replay_plan *plan,
			      const struct wti_replay_races *races,
			      const struct wti_replay_pass *serial,
			      const struct wti_replay_pass *other,
			      const struct wti_replay_uninitialised *uninitialised,
			      struct wti_replay_verdicts *ret_verdicts, struct wt_err *err);
void wti_replay_verdicts_release(struct wti_replay_verdicts *verdicts);

#endif
