/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the parts together: lanes are matched, groups measured, the tally reported. */
#include "digits.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "tally.h"
#include "trace/query.h"

int wti_digits(const struct wti_digits_run *runs, unsigned count,
	       const struct wti_digits_options *options, struct wt_result *result,
	       struct wt_err *err)
{
	struct wt_trace *traces[WTI_MERGE_RUNS_MAX];
	struct wti_match_run *about = calloc(count + 1u, sizeof(*about));
	struct wti_divergence divergence = {0};
	struct wti_book tally;
	struct wti_word_ids texts;
	const struct wti_match_how how = {.taker = wti_tally_take, .cookie = &tally};
	int r;

	if (count > WTI_MERGE_RUNS_MAX) {
		free(about);
		return wti_err(err, WT_E_LIMIT, "more than %u runs", WTI_MERGE_RUNS_MAX);
	}
	for (unsigned i = 0; i < count; i++)
		traces[i] = runs[i].trace;
	wti_texts_init(&texts);
	r = wti_tally_init(&tally, options, &texts, count);
	r = r || !about ? wti_err(err, WT_E_NOMEM, "out of memory")
			: wti_match(traces, count, &texts, &how, &divergence, about, err);
	if (!r) {
		wti_digits_report(&tally, &divergence, about, runs, result);
		r = tally.status || wt_result_status(result)
			    ? wti_err(err, WT_E_NOMEM, "out of memory")
			    : 0;
	}
	wti_tally_release(&tally);
	wti_texts_release(&texts);
	free(about);
	return r;
}

bool wti_digits_noise_of(const struct wt_trace *trace, char *ret_text, size_t bytes)
{
	static const char *const kinds[] = {"setting", NULL};
	struct wt_cursor *cursor;
	struct wt_event event;
	bool is_found = false;

	if (wti_cursor_of(trace, kinds, "noise", WT_ALL_FIELDS, &cursor, NULL))
		return false;
	while (!is_found && wt_cursor_next(cursor, &event, NULL) > 0) {
		struct wt_text text = wt_event_text(&event, WT_SETTING_FIELD_TEXT);

		if (!text.bytes || text.bytes >= bytes ||
		    (text.bytes == 3 && !memcmp(text.data, "off", 3)))
			continue;
		memcpy(ret_text, text.data, text.bytes);
		ret_text[text.bytes] = 0;
		is_found = true;
	}
	wt_cursor_free(cursor);
	return is_found;
}
