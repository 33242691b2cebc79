/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what came out of an examination. */
#include "front.h"
#include "inspect.h"
#include "report.h"
#include "runs/ending.h"
#include "show/verdict.h"

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
		wti_ending_text(&out, run, wti_last_step(result), wti_step_count(result));
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
static int exit_code(const struct wti_inspection *in, const struct wti_examined *examined)
{
	if (in->fail_on && wti_verdict_any_fails(&examined->result, in->fail_on))
		return WTI_EXIT_FINDINGS;
	return examined->is_whole ? WTI_EXIT_CLEAN : WTI_EXIT_TRACE;
}

int wti_inspect_run(const struct wti_inspection *in, const char *word)
{
	const struct wti_examination examination = {.inspector = in->inspector,
						    .verb = in->verb,
						    .query = in->query,
						    .options = in->options,
						    .judging = in->judging,
						    .suppress = in->fail_on,
						    .before = in->before};
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	struct wti_examined examined;
	struct wt_err err = {.offset = -1};
	int code;

	if (wti_examine(&front, &examination, word, &examined, &err))
		return wti_report_error(in->verb ? in->verb : in->inspector, in->json, &err);
	code = print_result(in, &examined.opened.run, &examined.result, exit_code(in, &examined));
	wti_examined_release(&examined);
	return code;
}
