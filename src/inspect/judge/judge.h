/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge: shows the moments of a run to the rules, keeps account of what each of them says, and
 * makes findings of it, one a cause. Does not know whether the run goes on.
 */
#ifndef WTI_INSPECT_JUDGE_H
#define WTI_INSPECT_JUDGE_H

#include "rule.h"

enum { WTI_SUBJECTS_SHOWN = 4, WTI_SUBJECTS_MAX = 4096 };

struct wti_case {
	const struct wti_rule *rule;
	const struct wti_training *training;
	void *state;
	struct wti_keep keeps[WTI_KEEPS_MAX];
	struct wti_kept_memory *asked; /* what see() is called with */
	uint64_t in_a_row;             /* violations of one that was kept, before the rule speaks */
	uint32_t needs; /* enum wt_thinned_flags: from where that is omitted on, the rule is not
			   checked any more */
	enum wt_severity severity; /* the rule's, or graver */
	uint64_t held_count;
	uint64_t violation_count;
	struct wti_map subjects; /* symbol, and above it the owner of a parameter: how often */
	struct wti_map ranks;
	int64_t first_step, last_step;
	int64_t known_step; /* in which the first was certain: its cause began before */
	int64_t since;      /* of the coming violation, where the rule gave one */
	bool has_since;
	struct wti_where where; /* of the first violation */
	char *evidence;
	char *not_this;
	const char *why_not; /* measured */
	bool is_reported;    /* live: its finding has been shown */
	double thresholds[WTI_THRESHOLDS_MAX];
};

struct wti_judge {
	const struct wti_training *training;
	struct wti_case *cases; /* one a rule, in the order of the table */
	size_t count;
	uint32_t *listeners; /* by the type of a moment, those who want it: places in cases */
	uint32_t listener_counts[WTI_MOMENT_TYPES];
	uint64_t lost_count;
	uint32_t omitted;         /* enum wt_thinned_flags, in any process */
	uint64_t lost_call_count; /* of system calls, lost, beyond what is kept, or unseen */
	bool has_alive;           /* somebody outlived the recording */
	bool has_some_calls;      /* only some of them were recorded */
};

/* How much of the system calls of a run is in its ledger. */
struct wti_coverage {
	uint64_t call_count;
	uint64_t missing_count; /* lost, beyond what is kept, or unseen */
	bool has_alive;         /* somebody outlived the recording */
	bool is_whole;          /* every system call was recorded, not only some */
};

int wti_judge_init(struct wti_judge *judge, const struct wti_training *training,
		   struct wt_err *err);
void wti_judge_release(struct wti_judge *judge);
void wti_judge_moment(struct wti_judge *judge, const struct wti_moment *moment);
/* Before anything is judged: other thresholds. */
void wti_judge_set(struct wti_judge *judge, const struct wti_setting *settings, size_t count);
/* The run has ended. The judge does not look into the ledger (wti_habits_audit() does). */
void wti_judge_audit(struct wti_judge *judge, const struct wti_ledger *ledger,
		     const struct wti_coverage *coverage);
/* The same for the work of devices (wti_device_survey() does). */
void wti_judge_survey(struct wti_judge *judge, const struct wti_work *work);
/* Of the findings, and of the table of rules (findings.c). */
void wti_judge_add_findings(const struct wti_judge *judge, struct wt_result *result);
void wti_judge_add_rules(const struct wti_judge *judge, struct wt_result *result);
/* Findings, the table of rules and the closing line. The run has ended. */
void wti_judge_finish(struct wti_judge *judge, struct wt_result *result);
/* Live: the findings that are new since the last time. How many. */
size_t wti_judge_news(struct wti_judge *judge, struct wt_result *result);

#endif
