/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two runs, operation by operation: are they bit-identical, and if not, which operation is the
 * first whose inputs were equal and whose outputs differ (docs/rerun.md)?
 *
 * Tracks correspond by rank, worker and the order of threads (posts.h), or, where these differ, by
 * what was done (crew.h). Each gets a verdict of its own: there is no order between ranks.
 */
#ifndef WTI_DIVERGENCE_H
#define WTI_DIVERGENCE_H

#include <wheeltap/result.h>
#include <wheeltap/trace.h>

#include "judgement.h"

enum wti_repeat {
	WTI_REPEAT_NOT_MEASURED,
	WTI_REPEAT_IDENTICAL, /* in everything that was recorded */
	WTI_REPEAT_DIFFERENT,
	WTI_REPEAT_WITHIN, /* in bits only: values lie within the tolerances */
};

/* A track of both runs, or of one of them. */
struct wti_track_verdict {
	char label[96]; /* "rank 0", "thread 2" */
	int32_t rank;   /* -1: not one of several */
	bool in_a, in_b;
	bool is_helper; /* another thread or process than the first of its rank */
	struct wti_judgement judgement;
};

struct wti_divergence_report {
	enum wti_repeat verdict;
	struct wti_track_verdict *tracks;
	size_t count, capacity;
	size_t first; /* of tracks: where the earliest difference is; count: nowhere */
	uint64_t lost, thinned;
	uint64_t lone;       /* operations that only one of the runs has */
	uint64_t absorbed;   /* done in another order, without a difference that remains */
	uint64_t shared_out; /* tracks that were compared by what was done: see crew.h */
	bool by_order;       /* they did too much for that */
	uint64_t compared, values_compared, unread, shards, aligned, operations;
	int64_t steps; /* that both runs have, at least; -1: none */
};

/* `where`: its file is NULL where a difference may begin everywhere. */
int wti_diverge(const struct wt_trace *a, const struct wt_trace *b,
		const struct wti_within_line *where, struct wti_divergence_report *ret_report,
		struct wt_err *err);
void wti_divergence_release(struct wti_divergence_report *report);
/* Tables, facts and notes of the result, and its status. */
void wti_divergence_show(const struct wti_divergence_report *report, struct wt_result *result);

/* The earliest difference; NULL: there is none. */
const struct wti_first_difference *wti_divergence_first(const struct wti_divergence_report *report);
const char *wti_beginning_words(enum wti_beginning how);

#endif
