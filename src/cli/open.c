/* SPDX-License-Identifier: Apache-2.0 */
/* Opening runs for the verbs that look at them. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ending.h"
#include "inspect/check/check.h"
#include "open.h"
#include "packs.h"
#include "progress.h"
#include "report.h"
#include "suppress.h"
#include "thresholds.h"
#include "verdict.h"

#define NOTE_MAX 4096u

int wti_open(const char *word, struct wti_opened_run *ret_opened, struct wt_err *err)
{
	struct wti_opened_run opened = {0};
	int r = wti_run_find(word, &opened.run, err);

	if (r)
		return r;
	r = wt_trace_open(opened.run.path, &opened.trace, err);
	if (r) {
		wti_run_release(&opened.run);
		return r;
	}
	*ret_opened = opened;
	return 0;
}

void wti_close(struct wti_opened_run *opened)
{
	wt_trace_free(opened->trace);
	wti_run_release(&opened->run);
	*opened = (struct wti_opened_run){0};
}

static void note_error(struct wt_result *result, const char *path, const struct wt_err *err)
{
	struct wti_buf line;

	wti_buf_init(&line, NOTE_MAX);
	if (path && !strstr(err->message, path))
		wti_buf_printf(&line, "'%s': ", path);
	wti_buf_text(&line, err->message);
	if (err->offset >= 0 && !strstr(err->message, "byte "))
		wti_buf_printf(&line, " (byte %lld)", (long long)err->offset);
	wt_result_note(result, "%s", wti_buf_cstr(&line));
	wti_buf_release(&line);
}

size_t wti_note_damage(const struct wti_opened_run *opened, struct wt_result *result)
{
	const struct wt_trace *trace = opened->trace;
	size_t failed = wt_trace_failed_count(trace), count = failed;

	if (*opened->run.json_damage) {
		wt_result_note(result, "%s", opened->run.json_damage);
		count++;
	}
	for (size_t i = 0; i < failed; i++)
		note_error(result, NULL, wt_trace_failed(trace, i));
	for (size_t i = 0; i < wt_trace_stream_count(trace); i++) {
		const struct wt_reader *reader = wt_trace_stream(trace, i);
		const struct wt_err *damage = wt_reader_damage(reader);

		if (!damage->code)
			continue;
		/* Of a run that goes on the last block may be half written. */
		if (!strcmp(opened->run.status, "running"))
			continue;
		note_error(result, wt_reader_path(reader), damage);
		count++;
	}
	return count;
}

static int64_t last_step(const struct wt_result *result)
{
	for (size_t i = 0; i < result->fact_count; i++)
		if (!strcmp(result->facts[i].key, "last_step"))
			return (int64_t)result->facts[i].value.count;
	return -1;
}

static int print_result(const struct wti_inspection *in, const struct wti_run *run,
			const struct wt_result *result, int code)
{
	struct wti_style style = wti_style_stdout();
	struct wti_buf out;
	bool ok;

	if (in->json || (!in->text && !in->other) || wt_result_status(result))
		return wti_report_result(result, in->json, code);
	wti_buf_init(&out, 1u << 30);
	if (in->judging)
		wti_ending_text(&out, run, last_step(result));
	if (in->other)
		in->other(&out, result);
	else
		in->text(&out, result, &style);
	ok = in->other || in->is_fixed ? wti_print_buf(&out) : wti_print_lines(&out, style.width);
	wti_buf_release(&out);
	wti_report_notes(result);
	return ok ? code : WTI_EXIT_ENVIRONMENT;
}

/* A finding weighs more than what could not be measured beside it. */
static int exit_code(const struct wti_inspection *in, const struct wt_result *result, bool whole)
{
	for (size_t i = 0; in->fail_on && i < result->finding_count; i++)
		if (wti_verdict_fails(result->findings[i].severity, in->fail_on))
			return WTI_EXIT_FINDINGS;
	return whole ? WTI_EXIT_CLEAN : WTI_EXIT_TRACE;
}

static void suppress(struct wti_suppressions *suppressions, struct wt_result *result)
{
	char day[16];
	const char *today = wti_today(day);

	wti_suppress(suppressions, result, today);
	wti_suppress_say(suppressions, result, today);
}

/* What people have said in wheeltap.toml about how to judge. */
static int read_wishes(const struct wti_inspection *in, struct wti_suppressions **ret_suppressions,
		       struct wti_setting **ret_settings, struct wt_err *err)
{
	int r = in->fail_on ? wti_suppressions_read(WTI_SUPPRESS_FILE, ret_suppressions, err) : 0;

	if (r || !in->judging)
		return r;
	r = wti_thresholds_read(WTI_SUPPRESS_FILE, ret_settings, &in->judging->setting_count, err);
	in->judging->settings = *ret_settings;
	if (r)
		wti_suppressions_free(*ret_suppressions);
	return r;
}

int wti_inspect_run(const struct wti_inspection *in, const char *word)
{
	const struct wt_inspector *inspector = wt_inspector_by_name(in->inspector);
	const char *verb = in->verb ? in->verb : in->inspector;
	struct wti_progress progress;
	struct wti_suppressions *suppressions = NULL;
	struct wti_setting *settings = NULL;
	struct wti_opened_run opened;
	struct wt_result result;
	struct wt_err err = {.offset = -1};
	bool whole;
	int r;

	if (read_wishes(in, &suppressions, &settings, &err))
		return wti_report_error(verb, in->json, &err);
	r = wti_open(word, &opened, &err);
	if (r) {
		wti_suppressions_free(suppressions);
		free(settings);
		return wti_report_error(verb, in->json, &err);
	}
	if (in->judging)
		in->judging->some_calls = opened.run.some_calls;
	wt_result_init(&result, verb);
	if (in->before)
		in->before(&opened, &result);
	wti_progress_begin(&progress, "reading");
	r = wt_inspect(inspector, opened.trace, in->query, in->options, &result, wti_progress_share,
		       &progress, &err);
	wti_progress_end(&progress);
	free(settings);
	if (r == WT_E_NOMEM) {
		wt_result_release(&result);
		wti_suppressions_free(suppressions);
		wti_close(&opened);
		return wti_report_error(verb, in->json, &err);
	}
	if (r)
		note_error(&result, NULL, &err);
	wti_verdict_paths(&result, opened.run.directory);
	suppress(suppressions, &result);
	whole = !wti_note_damage(&opened, &result) && !r;
	if (in->judging)
		wt_result_fact_text(&result, "run_status", "", opened.run.status);
	if (!whole && result.status && !strcmp(result.status, "clean"))
		wt_result_set_status(&result, "damaged");
	if (in->judging && wti_ended_early(&opened.run) && !strcmp(result.status, "clean"))
		wt_result_set_status(&result, "not_measured");
	if (result.status && !strcmp(result.status, "not_measured"))
		whole = false;
	r = print_result(in, &opened.run, &result, exit_code(in, &result, whole));
	wt_result_release(&result);
	wti_suppressions_free(suppressions);
	wti_close(&opened);
	return r;
}
