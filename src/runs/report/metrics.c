/* SPDX-License-Identifier: Apache-2.0 */
/* What the run measured of itself, as figures and curves, and where its time went. */
#include "inspect/time/stat.h"
#include "section.h"
#include "show/report/report.h"

enum { PROFILE_ROWS = 15 };

int wti_section_metrics(struct wti_report_source *source, struct wt_result *result,
			struct wt_err *err)
{
	int r = wti_section_inspect(source, "metrics", NULL, result, err);

	if (!r && !result->series_count)
		wti_not_recorded(result, "metrics",
				 "emit counters (wheeltap.log(), wt_counter()), or record a "
				 "training with torch: its losses are recorded by themselves");
	return r;
}

int wti_section_time(struct wti_report_source *source, struct wt_result *result, struct wt_err *err)
{
	const struct wti_stat_options options = {
		.order = WTI_PROFILE_BY_SELF, .phases = true, .limit = PROFILE_ROWS};
	struct wt_result stat;
	int r;

	wt_result_init(&stat, "stat");
	r = wti_section_inspect(source, "stat", &options, &stat, err);
	if (!r) {
		if (!wti_section_take(result, &stat, "steps", "Where a step's time goes"))
			wti_not_recorded(result, "parts of training steps",
					 "record a training with torch, or mark steps with "
					 "wt_step()");
		wti_section_take(result, &stat, "speed", "How fast it trains");
		if (!wti_section_take(result, &stat, "profile", "Functions by their own time"))
			wti_not_recorded(result, "calls and spans",
					 "record with --detail normal, or mark spans");
		for (size_t i = 0; i < stat.note_count; i++)
			wt_result_note(result, "%s", stat.notes[i]);
	}
	wt_result_release(&stat);
	return r;
}
