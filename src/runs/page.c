/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what a page about a run consists of. */
#include "page.h"

#include <wheeltap/inspect.h>

#include "ending.h"
#include "inspect/time/stat.h"
#include "inspect/time/timeline.h"

enum { CAUSE_MAX = 4096, POINTS = 400, BARS = 24000 };

static void add_run(const struct wti_run *run, struct wt_result *result)
{
	struct wti_buf cause;

	wti_buf_init(&cause, CAUSE_MAX);
	wt_result_fact_text(result, "run", "run", run->name);
	wt_result_fact_text(result, "command", "command", run->command);
	if (wti_ending_cause(&cause, run))
		wt_result_fact_text(result, "ended_by", "ended by", wti_buf_cstr(&cause));
	wti_buf_release(&cause);
}

int wti_run_page(const struct wti_front *front, const struct wti_opened_run *opened,
		 int64_t from_ns, int64_t to_ns, struct wt_result *result, struct wt_err *err)
{
	const struct wti_stat_options stat = {.until_ns = to_ns, .phases = true};
	const struct wti_timeline_options timeline = {from_ns, to_ns, POINTS, BARS};
	const struct {
		const char *inspector;
		const void *options;
		bool has_window; /* of the events that it reads */
	} parts[] = {{"info", NULL, false}, {"stat", &stat, true}, {"timeline", &timeline, false}};
	struct wt_query query;
	int r = 0;

	wt_query_init(&query);
	query.from_ns = from_ns;
	query.to_ns = to_ns;
	add_run(&opened->run, result);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !r; i++) {
		wti_front_progress(front, 0);
		r = wt_inspect(wt_inspector_by_name(parts[i].inspector), opened->trace,
			       parts[i].has_window ? &query : NULL, parts[i].options, result,
			       front->progress, front->cookie, err);
		wti_front_progress(front, WTI_PROGRESS_OVER);
	}
	/* The status is the run's, whatever a part could not measure. */
	wt_result_set_status(result, opened->run.status);
	return r;
}
