/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TrainCheck's invariants judged on a run, as TrainCheck would judge them: on calls by their full
 * names, on variables by their records, under conditions on any meta variable. It sees the events
 * of the run and gives occasions, one for each time that an invariant applies, so that accounts and
 * findings are those of every other invariant. Of an imported trace, what a record does not say is
 * not so; of a recording of ours it is not known, and what is not known is not judged.
 */
#ifndef WTI_TRAINCHECK_JUDGE_H
#define WTI_TRAINCHECK_JUDGE_H

#include "inspect/learn/pack.h"

struct wti_relation;
struct wti_tc_judge;

/* How packs name them. */
extern const struct wti_relation wti_relation_traincheck;

/* NULL in *ret_judge: the pack has no such invariants. `levels` are those of the run, as far as
 * they are known. */
int wti_tc_judge_open(struct wti_tc_judge **ret_judge, const struct wti_pack *pack,
		      const struct wti_training *training, struct wti_sink_of_occasions sink,
		      const uint32_t *levels, struct wt_err *err);
void wti_tc_judge_free(struct wti_tc_judge *judge);
/* After the training has seen it. */
int wti_tc_judge_event(struct wti_tc_judge *judge, const struct wt_event *event,
		       struct wt_err *err);
/* Optimizer steps of our own recordings: which parameters moved. */
void wti_tc_judge_moment(struct wti_tc_judge *judge, const struct wti_moment *moment);
/* There were more values of variables than could be kept or compared: not all were judged. */
bool wti_tc_judge_is_cut(const struct wti_tc_judge *judge);
int wti_tc_judge_finish(struct wti_tc_judge *judge, struct wt_err *err);

#endif
