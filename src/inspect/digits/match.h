/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of n runs, brought together: those that correspond come as one group. While all runs
 * do the same, calls are taken one by one; where they part, a window of each is aligned, inside the
 * calls around them. Divergence is counted, never an error.
 */
#ifndef WTI_DIGITS_MATCH_H
#define WTI_DIGITS_MATCH_H

#include "lane.h"
#include "merge.h"

/* Calls that correspond; items of runs that have none are NULL. The first that is there leads. */
struct wti_matched {
	const struct wti_item *items[WTI_MERGE_RUNS_MAX];
	const struct wti_item *lead;
	unsigned lead_run;
	unsigned runs;  /* in all */
	unsigned found; /* that have it */
};

/* Where runs part for the first time: after this call, of those that all have. */
struct wti_divergence {
	uint64_t times;
	uint64_t unmatched;   /* calls that not all runs have */
	uint64_t common;      /* calls that all have */
	uint32_t after, next; /* callees: the last in common, and what the first run does next */
	uint32_t other;       /* what another run does instead; 0: it ends */
	uint32_t file, line;
	uint32_t after_file, after_line;
	int64_t step;
	unsigned with_lead; /* runs that go on as the first one does */
};

typedef int (*wti_group_taker)(void *cookie, const struct wti_matched *group);

struct wti_match_how {
	wti_group_taker taker;
	/* Calls of a run other than the leading one that have no partner; NULL: only counted. */
	int (*lone)(void *cookie, const struct wti_item *item, unsigned run);
	void *cookie;
	bool any_line; /* as of wti_lane_open() */
};

struct wti_match_run {
	uint64_t items; /* that it has */
	uint64_t unended;
	uint64_t left_out;
	bool is_short; /* it ended while others went on */
	uint32_t last; /* callee of its last item */
	int64_t last_step;
};

/* `traces`: NULL where a run could not be opened. `ret_runs` has an entry for each. */
int wti_match(struct wt_trace *const *traces, unsigned runs, struct wti_word_ids *texts,
	      const struct wti_match_how *how, struct wti_divergence *ret_divergence,
	      struct wti_match_run *ret_runs, struct wt_err *err);

#endif
