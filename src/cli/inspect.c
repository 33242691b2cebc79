/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what came out of an examination. */
#include "base/text.h"
#include "front.h"
#include "inspect.h"
#include "report.h"
#include "runs/ending.h"
#include "show/verdict.h"

static int print_result(const struct wti_inspection *in, const struct wti_examined *examined,
			int code)
{
	const struct wt_result *result = &examined->result;
	struct wti_style style = wti_style_stdout();
	struct wti_buf out;
	bool ok;

	if (in->json || (!in->text && !in->other) || wt_result_status(result))
		return wti_report_result(result, in->json, code);
	wti_buf_init(&out, 1u << 30);
	if (in->judging)
		wti_ending_text(&out, &examined->opened.run, wti_ended_in_step(result),
				wti_step_count(result), examined->is_damaged);
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

static int examine(const struct wti_inspection *in, const struct wti_front *front, const char *word,
		   struct wti_examined *ret_examined, struct wt_err *err)
{
	const struct wti_examination examination = {.inspector = in->inspector,
						    .verb = in->verb,
						    .query = in->query,
						    .options = in->options,
						    .judging = in->judging,
						    .suppress = in->fail_on,
						    .before = in->before};

	return wti_examine(front, &examination, word, ret_examined, err);
}

static const char *verb_of(const struct wti_inspection *in)
{
	return in->verb ? in->verb : in->inspector;
}

static int inspect_one(const struct wti_inspection *in, const char *word)
{
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	struct wti_examined examined;
	struct wt_err err = {.offset = -1};
	int code;

	if (examine(in, &front, word, &examined, &err))
		return wti_report_error(verb_of(in), in->json, &err);
	code = print_result(in, &examined, exit_code(in, &examined));
	wti_examined_release(&examined);
	return code;
}

/* ---- Several runs ---------------------------------------------------------------------------- */

/* Which of two exit codes is that of both: a finding weighs more than what was not measured. */
static int worse(int a, int b)
{
	static const int order[] = {WTI_EXIT_CLEAN, WTI_EXIT_TRACE, WTI_EXIT_FINDINGS,
				    WTI_EXIT_USAGE, WTI_EXIT_ENVIRONMENT};
	size_t count = sizeof(order) / sizeof(*order);

	while (count-- && order[count] != a && order[count] != b)
		;
	return count < sizeof(order) / sizeof(*order) ? order[count] : a;
}

static bool print_heading(const char *word, bool is_first)
{
	struct wti_style style = wti_style_stdout();
	struct wti_buf out;
	bool ok;

	wti_buf_init(&out, 1u << 16);
	wti_buf_text(&out, is_first ? "" : "\n");
	wti_ink(&out, &style, WTI_INK_BOLD);
	wti_textf(&out, "== %s", word);
	wti_ink(&out, &style, WTI_INK_END);
	wti_buf_byte(&out, '\n');
	ok = wti_print_buf(&out);
	wti_buf_release(&out);
	return ok;
}

/* {"run": WORD, "result": {...}}, or null for a run that cannot be opened. */
static int add_json(const struct wti_inspection *in, struct wti_json *json, const char *word)
{
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	struct wti_examined examined;
	struct wt_err err = {.offset = -1};
	int code;

	wti_json_object(json);
	wti_json_key(json, "run");
	wti_json_text(json, word);
	wti_json_key(json, "result");
	if (examine(in, &front, word, &examined, &err)) {
		wti_json_null(json);
		code = wti_report_error(verb_of(in), false, &err);
	} else {
		wti_show_json_value(json, &examined.result);
		wti_report_notes(&examined.result);
		code = exit_code(in, &examined);
		wti_examined_release(&examined);
	}
	wti_json_object_end(json);
	return code;
}

static int inspect_json(const struct wti_inspection *in, char **words, size_t count)
{
	static const char *const statuses[] = {"clean", "findings", "error", "not_measured",
					       "error"};
	int code = WTI_EXIT_CLEAN;
	struct wti_json json;
	struct wti_buf out;
	bool ok;

	wti_buf_init(&out, 1u << 30);
	wti_json_init(&json, &out, true);
	wti_json_object(&json);
	wti_json_key(&json, "verb");
	wti_json_text(&json, verb_of(in));
	wti_json_key(&json, "runs");
	wti_json_array(&json);
	for (size_t i = 0; i < count; i++)
		code = worse(code, add_json(in, &json, words[i]));
	wti_json_array_end(&json);
	wti_json_key(&json, "status");
	wti_json_text(&json, statuses[code]);
	wti_json_object_end(&json);
	wti_buf_byte(&out, '\n');
	ok = wti_print_buf(&out);
	wti_buf_release(&out);
	return ok ? code : WTI_EXIT_ENVIRONMENT;
}

int wti_inspect_runs(const struct wti_inspection *in, char **words, size_t count)
{
	int code = WTI_EXIT_CLEAN;

	if (count < 2)
		return inspect_one(in, count ? words[0] : NULL);
	if (in->json)
		return inspect_json(in, words, count);
	for (size_t i = 0; i < count; i++) {
		if (!print_heading(words[i], !i))
			return WTI_EXIT_ENVIRONMENT;
		code = worse(code, inspect_one(in, words[i]));
	}
	return code;
}
