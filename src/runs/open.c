/* SPDX-License-Identifier: Apache-2.0 */
/* Opens runs; knows which damage is worth a note. */
#include <string.h>

#include "base/buf.h"
#include "open.h"

#define NOTE_MAX 4096u

int wti_open(const struct wti_front *front, const char *word, struct wti_opened_run *ret_opened,
	     struct wt_err *err)
{
	struct wti_opened_run opened = {0};
	int r = wti_run_find(front, word, &opened.run, err);

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

void wti_note_error(struct wt_result *result, const char *path, const struct wt_err *err)
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
		wti_note_error(result, NULL, wt_trace_failed(trace, i));
	for (size_t i = 0; i < wt_trace_stream_count(trace); i++) {
		const struct wt_reader *reader = wt_trace_stream(trace, i);
		const struct wt_err *damage = wt_reader_damage(reader);

		if (!damage->code)
			continue;
		/* Of a run that goes on the last block may be half written. */
		if (!strcmp(opened->run.status, "running"))
			continue;
		wti_note_error(result, wt_reader_path(reader), damage);
		count++;
	}
	return count;
}
