/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run examined: opened, read by an inspector, judged by what wheeltap.toml says of thresholds and
 * suppressions, with a status that takes into account what is damaged and how the run ended.
 */
#ifndef WTI_RUNS_EXAMINE_H
#define WTI_RUNS_EXAMINE_H

#include "open.h"

struct wti_check_options;

struct wti_examination { /* what is asked */
	const char *inspector;
	const char *verb;             /* of the result; NULL: of the same name */
	const struct wt_query *query; /* or NULL */
	const void *options;          /* of the inspector */
	/* Of one that judges: gets the thresholds, and what was recorded. Or NULL. */
	struct wti_check_options *judging;
	bool suppress; /* findings, by the suppressions */
	/* Adds what the inspector does not know; or NULL. */
	void (*before)(const struct wti_opened_run *opened, struct wt_result *result);
};

struct wti_examined {
	struct wti_opened_run opened;
	struct wt_result result;
	/* Nothing is damaged, something was measured, and what judges saw the run to its end. */
	bool is_whole;
	bool is_damaged; /* not all of the trace could be read */
};

/* `word` as wti_run_find() takes it. What can be read of a damaged run is examined, with a note. */
int wti_examine(const struct wti_front *front, const struct wti_examination *examination,
		const char *word, struct wti_examined *ret_examined, struct wt_err *err);
void wti_examined_release(struct wti_examined *examined);

/* The step in which the run was when it ended, by a result of a judgement, from 0; -1: none. */
int64_t wti_ended_in_step(const struct wt_result *result);
/* Of a judgement: how the run ended. True: early, so that what was not found is not known. */
bool wti_judged_early(struct wt_result *result, const char *run_status);
/* How many steps it had. */
uint64_t wti_step_count(const struct wt_result *result);
/* Files below the directory in which the program was started (NULL: not known) lose that part. */
void wti_shorten_paths(struct wt_result *result, const char *directory);

#endif
