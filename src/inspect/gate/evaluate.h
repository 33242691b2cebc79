/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files that judge: how outcomes are reported, and what a recording has to have. */
#ifndef WTI_GATE_JUDGE_H
#define WTI_GATE_JUDGE_H

#include "gate.h"

enum wti_gate_unit { WTI_UNIT_COUNT, WTI_UNIT_BYTES, WTI_UNIT_NS, WTI_UNIT_NUMBER };

void wti_not_evaluated(struct wti_outcome *outcome, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What is spoken of does not occur in the run. */
void wti_absent(const struct wti_assertion *assertion, struct wti_outcome *outcome,
		const char *what, const char *name);
/* A measured number against min and max. */
void wti_judge_number(const struct wti_assertion *assertion, double value, enum wti_gate_unit unit,
		      const char *of, struct wti_outcome *outcome);
/* False, and the outcome says why, if these system calls were not all recorded. `calls` is an
 * expression, NULL: all. */
bool wti_was_recorded(const struct wti_gate_run *run, const char *calls,
		      struct wti_outcome *outcome);
/* What was not seen is no proof: nothing that was found false by what is missing stays so, nor true
 * where more may have happened. `about`: enum wti_about. */
void wti_doubt(const struct wti_gate_run *run, unsigned about, bool is_doubtful,
	       struct wti_outcome *outcome);
/* A program that failed may have done less than it would have: what holds so far is not measured.
 */
void wti_doubt_failed(const struct wti_assertion *assertion, const struct wti_gate_run *run,
		      struct wti_outcome *outcome);
/* Of what matches a glob or a regular expression; NULL matches all. */
bool wti_gate_matches(const char *pattern, bool is_regex, const char *text);

void wti_judge_file(const struct wti_assertion *assertion, const struct wti_gate_run *run,
		    struct wti_outcome *outcome);
void wti_judge_forbidden(const struct wti_assertion *assertion, const struct wti_gate_run *run,
			 struct wti_outcome *outcome);
void wti_judge_required(const struct wti_assertion *assertion, const struct wti_gate_run *run,
			struct wti_outcome *outcome);
void wti_judge_rule(const struct wti_assertion *assertion, const struct wti_gate_run *run,
		    struct wti_outcome *outcome);
void wti_judge_expression(const struct wti_assertion *assertion, const struct wti_gate_run *run,
			  struct wti_outcome *outcome);
void wti_judge_span(const struct wti_assertion *assertion, const struct wti_gate_run *run,
		    struct wti_outcome *outcome);
void wti_judge_spans(const struct wti_assertion *assertion, const struct wti_gate_run *run,
		     struct wti_outcome *outcome);
void wti_judge_pattern(const struct wti_assertion *assertion, const struct wti_gate_run *run,
		       struct wti_outcome *outcome);

#endif
