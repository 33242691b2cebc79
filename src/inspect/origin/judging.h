/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the files that judge a model: which save each of its files should be (match.c), what is
 * said of each tensor (verdicts.c), and what is found (judge.c).
 */
#ifndef WTI_INSPECT_ORIGIN_JUDGING_H
#define WTI_INSPECT_ORIGIN_JUDGING_H

#include "own.h"

enum wti_origin_verdict {
	WTI_VERDICT_EQUAL,
	WTI_VERDICT_DIFFERS,    /* from what was saved, and was never seen */
	WTI_VERDICT_EARLIER,    /* saved as it is, but the model had moved on */
	WTI_VERDICT_OTHER_STEP, /* the value that it had in another step */
	WTI_VERDICT_EXCHANGED,  /* the value of another tensor */
	WTI_VERDICT_AVERAGE,    /* the value of a copy of the model */
	WTI_VERDICT_CHANGED, /* saved as it is, but the model held something else, and never this */
	WTI_VERDICT_EXTRA,
	WTI_VERDICT_MISSING,
	WTI_VERDICTS,
};

#define WTI_NO_GROUP UINT32_MAX

/* A file of the model, and the group of saves that it should be. */
struct wti_origin_part {
	const char *file;
	const char *place; /* where it is, absolute */
	uint32_t group;
	bool is_stale; /* saved before the other files of the model, which were saved together */
};

/* Why tensors could not be compared. */
enum wti_unmeasured {
	WTI_UNMEASURED_PART,    /* each rank recorded its own part of them alone */
	WTI_UNMEASURED_NO_HASH, /* the trace describes them without a hash */
	WTI_UNMEASURED_CUT,     /* the trace has not all that was saved */
	WTI_UNMEASURED_REASONS,
};

struct wti_origin_judging {
	struct wti_origin *origin;
	struct wt_result *result;
	struct wt_table *table;
	struct wti_origin_part *parts;
	size_t part_count;
	bool is_whole;     /* one save is that of all parts */
	uint32_t *part_of; /* by tensor */
	uint32_t group;    /* of saves that is being looked at; of the newest part at the end */
	uint32_t *scores;  /* by group: tensors that are equal */
	size_t counts[WTI_VERDICTS];
	size_t unmeasured[WTI_UNMEASURED_REASONS];
	struct wti_buf first[WTI_VERDICTS]; /* evidence of the first */
	int64_t steps[WTI_VERDICTS];
};

static inline const struct wti_origin_save *
wti_judged_save(const struct wti_origin_judging *judging)
{
	return &judging->origin->saves[judging->group];
}

/* ---- match.c -------------------------------------------------------------------------------- */

/* Fills scores, parts and part_of. 0, or WT_E_NOMEM. */
int wti_match_parts(struct wti_origin_judging *judging);
/* The save that has most of the tensors; WTI_NO_GROUP: none has any. */
uint32_t wti_match_best(const struct wti_origin_judging *judging);
/* How many components at the end of two paths are the same. */
size_t wti_match_path(const char *one, const char *other);

/* ---- verdicts.c ----------------------------------------------------------------------------- */

void wti_verdict_columns(struct wt_table *table);
/* " in step 3", unless it is not known. */
void wti_put_step(struct wti_buf *out, int64_t step);
/* Of each tensor of each part, and of those that are missing. */
void wti_judge_tensors(struct wti_origin_judging *judging);

#endif
