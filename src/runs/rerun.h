/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it takes to run a recorded program again: its command, folder, environment and how it was
 * recorded, from run.json. Starts nothing. All of it comes from a file that anybody may have
 * written, so `line` has everything that would be executed or set, for a person to agree to.
 */
#ifndef WTI_RUNS_RERUN_H
#define WTI_RUNS_RERUN_H

#include <wheeltap/result.h>

#include "base/doc.h"
#include "run.h"

struct wti_rerun_plan {
	struct wti_run run;
	struct wti_doc *json;
	char **command;   /* words; ends with NULL */
	char **options;   /* of `record`; ends with NULL */
	char **variables; /* NAME=value, where they are not so already; ends with NULL */
	char *line;       /* variables and command, as a shell would take them */
};

/*
 * `environment`: the variables that there are now. `allows`: which variables may be set. What
 * stands in the way is an error that says so, what may make a difference is a note.
 */
int wti_rerun_plan(const struct wti_front *front, const char *word, char *const *environment,
		   bool (*allows)(const char *name, size_t bytes), struct wti_rerun_plan *ret_plan,
		   struct wt_result *result, struct wt_err *err);
void wti_rerun_plan_release(struct wti_rerun_plan *plan);

/* Grades of being reproducible, as reached by an actual rerun (docs/rerun.md). */
enum wti_grade { WTI_GRADE_R0, WTI_GRADE_R1, WTI_GRADE_R2, WTI_GRADE_R3, WTI_GRADE_R4 };
const char *wti_grade_name(enum wti_grade grade);
/* In words: what that grade means. */
const char *wti_grade_words(enum wti_grade grade);
/* Of bit-identical runs in these folders: R1 on one machine and interpreter, R2 on two. */
enum wti_grade wti_grade_identical(const char *a, const char *b);

#endif
