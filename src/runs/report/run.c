/* SPDX-License-Identifier: Apache-2.0 */
/* What was run, when, and how it ended. */
#include <stdio.h>
#include <string.h>

#include "runs/ending.h"
#include "section.h"

#define CAUSE_MAX 4096u

static const char *status_words(const char *status)
{
	static const struct {
		const char *status, *words;
	} all[] = {
		{"running", "still running: this report shows what was recorded so far"},
		{"abandoned", "abandoned: the recorder ended before the program did"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i].status, status))
			return all[i].words;
	return status;
}

/* "2026-03-01T12:30:00.123456789Z" for people: without what nobody reads. */
static void add_moment(struct wt_result *result, const struct wti_doc *json, const char *key,
		       const char *title)
{
	const char *text = json ? wti_doc_text(json, key) : NULL;
	char moment[40];

	if (!text || strlen(text) < 19 || text[10] != 'T') {
		wt_result_fact_text(result, key, title, NULL);
		return;
	}
	snprintf(moment, sizeof(moment), "%.10s %.8s UTC", text, text + 11);
	wt_result_fact_text(result, key, title, moment);
	snprintf(moment, sizeof(moment), "%s_utc", key);
	wt_result_fact_text(result, moment, "", text);
}

static void add_end(const struct wti_run *run, const struct wti_doc *json, struct wt_result *result)
{
	struct wti_buf cause;

	wti_buf_init(&cause, CAUSE_MAX);
	if (wti_ending_cause(&cause, run))
		wt_result_fact_text(result, "ended_by", "ended by", wti_buf_cstr(&cause));
	wti_buf_release(&cause);
	add_moment(result, json, "start", "started");
	if (!strcmp(run->status, "running"))
		wt_result_fact_text(result, "end", "ended", "still running");
	else if (!strcmp(run->status, "abandoned"))
		wt_result_fact_text(result, "end", "ended", "not known: the recorder ended first");
	else
		add_moment(result, json, "end", "ended");
	if (run->duration_ns >= 0)
		wt_result_fact_count(result, "duration_ns", "duration", WT_CELL_NS,
				     (uint64_t)run->duration_ns);
	else
		wt_result_fact_text(result, "duration_ns", "duration", NULL);
}

static void add_exit(const struct wti_run *run, const struct wti_doc *json,
		     struct wt_result *result)
{
	if (!strcmp(run->status, "running") || !strcmp(run->status, "abandoned"))
		return;
	if (json && wti_doc_count(json, "signal") > 0)
		wti_fact_of_json(result, json, "signal", "signal", WT_CELL_ID);
	else
		wti_fact_of_json(result, json, "exit_status", "exit status", WT_CELL_ID);
	wti_fact_of_json(result, json, "cpu_ns", "CPU time", WT_CELL_NS);
	wti_fact_of_json(result, json, "memory_peak_bytes", "peak of memory", WT_CELL_BYTES);
}

static void add_trace(const struct wti_report_source *source, struct wt_result *result)
{
	const struct wti_run *run = &source->opened->run;
	const struct wt_fact *steps = wt_result_fact(&source->contents, "steps");
	const struct wt_fact *ranks = wt_result_fact(&source->contents, "ranks");

	if (steps)
		wt_result_fact_count(result, "steps", "training steps", WT_CELL_COUNT,
				     steps->value.count);
	if (ranks)
		wt_result_fact_count(result, "ranks", "ranks", WT_CELL_COUNT, ranks->value.count);
	if (run->events >= 0)
		wt_result_fact_count(result, "events", "events", WT_CELL_COUNT,
				     (uint64_t)run->events);
	if (run->lost >= 0)
		wt_result_fact_count(result, "lost", "events lost", WT_CELL_COUNT,
				     (uint64_t)run->lost);
}

int wti_section_run(struct wti_report_source *source, struct wt_result *result, struct wt_err *err)
{
	const struct wti_run *run = &source->opened->run;

	wt_result_fact_text(result, "run_status", "", run->status);
	wt_result_fact_text(result, "run_status_words", "status", status_words(run->status));
	wt_result_fact_text(result, "command", "command", *run->command ? run->command : NULL);
	wt_result_fact_text(result, "directory", "folder", run->directory);
	add_end(run, source->json, result);
	add_exit(run, source->json, result);
	add_trace(source, result);
	wt_result_fact_text(result, "path", "trace", run->path);
	if (!source->json)
		wti_not_recorded(result, "command, times and exit status",
				 "this is a single stream without a run.json: wheeltap record");
	wti_note_damage(source->opened, result);
	return 0;
}
