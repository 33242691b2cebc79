/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between golden_causes.c, which knows in which order causes are looked for, causes_known.c, which
 * knows each deviation for itself, and the other causes_*.c, which know what follows from what.
 */
#ifndef WTI_GOLDEN_CAUSES_H
#define WTI_GOLDEN_CAUSES_H

#include "deviation.h"

/* ---- Of one deviation (causes_known.c) ------------------------------------------------------- */

/* The kind of process of one of the first that did this to the thing; 0: no more. */
uint32_t wti_cause_role_at(const struct wti_checking *checking, const struct wti_tally *tally,
			   size_t i);
bool wti_cause_has_role(const struct wti_checking *checking, const struct wti_tally *tally,
			uint32_t role);
/* The word is that of an effect that changes a file, or its name. */
bool wti_cause_is_writing(const char *word);
/* It is written in another way, or was written before, or is now. */
bool wti_cause_is_written(const struct wti_checking *checking,
			  const struct wti_deviation *deviation);
/* Nothing was done to it, and nothing found in it: other names were asked for, or more often. */
bool wti_cause_is_only_looked_at(const struct wti_checking *checking,
				 const struct wti_deviation *deviation);
bool wti_cause_is_only_more(const struct wti_deviation *deviation);
bool wti_cause_is_only_less(const struct wti_deviation *deviation);

/* The place in a role from which its last program stands: behind "make > " in "make > cc". */
size_t wti_role_last(const char *role);
/* `role` is that of a process that the process of `ancestor` started, itself or by others. */
bool wti_role_is_below(const char *role, const char *ancestor);

/* ---- What follows from what ------------------------------------------------------------------ */

/* Deviation i is said with `leader`, if it may be. What is worse is never hidden behind what is not
 * so bad, nor what is sure behind what is in doubt and therefore not reported. */
bool wti_cause_follow(struct wti_checking *checking, size_t i, size_t leader);

/* causes_processes.c */
int wti_follow_new_processes(struct wti_checking *checking);
void wti_follow_inputs(struct wti_checking *checking);
void wti_follow_missing_processes(struct wti_checking *checking);
/* causes_files.c */
void wti_follow_absent(struct wti_checking *checking);
void wti_follow_modes(struct wti_checking *checking);
void wti_follow_files(struct wti_checking *checking);
void wti_follow_flow(struct wti_checking *checking);
void wti_follow_alike(struct wti_checking *checking);
/* causes_programs.c */
void wti_follow_first(struct wti_checking *checking);
void wti_follow_writes(struct wti_checking *checking);
void wti_follow_looks(struct wti_checking *checking);
void wti_follow_doing(struct wti_checking *checking);

#endif
