/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison of operations, printed: see tensors.h. */
#include "tensors.h"

#include <stdlib.h>

#include "base/err.h"
#include "cli/front.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "show/divergence.h"
#include "values.h"

static int code_of(enum wti_repeat verdict)
{
	return verdict == WTI_REPEAT_IDENTICAL || verdict == WTI_REPEAT_WITHIN ? WTI_EXIT_CLEAN
	       : verdict == WTI_REPEAT_DIFFERENT                               ? WTI_EXIT_FINDINGS
									       : WTI_EXIT_TRACE;
}

int wti_tensors_print(const struct wti_compared_runs *runs, const struct wt_result *result,
		      bool json)
{
	struct wti_style style = wti_style_stdout();
	int code = code_of(runs->report.verdict);
	struct wti_buf out;
	bool ok;

	if (json || wt_result_status(result))
		return wti_report_result(result, json, code);
	wti_buf_init(&out, 1u << 26);
	wti_show_divergence(&out, &runs->report, runs->has_elements, runs->elements, &style);
	ok = wti_print_lines(&out, style.width);
	wti_buf_release(&out);
	wti_report_notes(result);
	return ok ? code : WTI_EXIT_ENVIRONMENT;
}

int wti_tensors_diff(const char *verb, const char *const words[2], const char *tolerances,
		     bool json)
{
	const struct wti_within_line everywhere = {.file = NULL};
	struct wti_progress progress;
	struct wti_front front = wti_front_here(&progress);
	struct wt_err err = {.offset = -1};
	struct wti_compared_runs *runs = calloc(1, sizeof(*runs));
	struct wt_result result;
	int code;

	wt_result_init(&result, verb);
	if (!runs)
		wti_err(&err, WT_E_NOMEM, "out of memory");
	if (!runs || wti_compare_tensors(&front, words, &everywhere, runs, &result, &err) ||
	    wti_tolerate(tolerances, runs, &result, &err))
		code = wti_report_error(verb, json, &err);
	else
		code = wti_tensors_print(runs, &result, json);
	if (runs)
		wti_compared_runs_close(runs);
	free(runs);
	wt_result_release(&result);
	return code;
}
