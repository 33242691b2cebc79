/* SPDX-License-Identifier: Apache-2.0 */
/* Opens runs; knows which damage is worth a note. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "open.h"
#include "run_folders.h"
#include "runjson.h"

#define NOTE_MAX 4096u

/* Somebody named the folder that their runs are in. */
static void suggest_run_below(const struct wti_run *run, struct wt_err *err)
{
	struct wti_run_folders below;

	if (!err || err->code != WT_E_MISSING || !run->is_folder ||
	    wti_run_folders(run->path, &below, NULL))
		return;
	if (below.count)
		wti_err(err, WT_E_MISSING,
			"no trace in '%.200s', but %zu run%s: name %s, such as '%.200s'", run->path,
			below.count, below.count == 1 ? "" : "s",
			below.count == 1 ? "it" : "one of them", below.items[0].path);
	wti_run_folders_release(&below);
}

int wti_open(const struct wti_front *front, const char *word, struct wti_opened_run *ret_opened,
	     struct wt_err *err)
{
	struct wti_opened_run opened = {0};
	int r = wti_run_find(front, word, &opened.run, err);

	if (r)
		return r;
	r = wt_trace_open(opened.run.path, &opened.trace, err);
	if (r) {
		suggest_run_below(&opened.run, err);
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

/* A flight recording names its files by a pattern, and keeps only the last of them. */
static bool is_missing(const char *folder, const char *file)
{
	char path[4096];

	if (!file || strpbrk(file, "*/"))
		return false;
	return snprintf(path, sizeof(path), "%s/%s", folder, file) < (int)sizeof(path) &&
	       access(path, F_OK) != 0;
}

/* Streams that run.json names and the folder does not have. Of a run that goes on it names none. */
static size_t note_missing(const struct wti_run *run, struct wt_result *result)
{
	struct wt_err err = {.offset = -1};
	struct wti_doc *root = NULL;
	const struct wti_doc *streams;
	size_t count = 0;

	if (!run->is_folder || wti_runjson_read(run->path, &root, &err) || !root)
		return 0;
	streams = wti_doc_get(root, "streams");
	if (streams && streams->type == WTI_DOC_ARRAY)
		for (const struct wti_doc *at = streams->first; at; at = at->next) {
			const char *file = wti_doc_text(at, "file");

			if (!is_missing(run->path, file))
				continue;
			wt_result_note(
				result,
				"'%s/%s' is missing: %lld events of '%s' were recorded there",
				run->path, file, (long long)wti_doc_count(at, "events"),
				wti_doc_text(at, "command") ? wti_doc_text(at, "command") : "?");
			count++;
		}
	wti_doc_free(root);
	return count;
}

size_t wti_note_damage(const struct wti_opened_run *opened, struct wt_result *result)
{
	const struct wt_trace *trace = opened->trace;
	size_t failed = wt_trace_failed_count(trace), count = failed;

	if (*opened->run.json_damage) {
		wt_result_note(result, "%s", opened->run.json_damage);
		count++;
	}
	count += note_missing(&opened->run, result);
	for (size_t i = 0; i < failed; i++)
		wti_note_error(result, NULL, wt_trace_failed(trace, i));
	for (size_t i = 0; i < wt_trace_stream_count(trace); i++) {
		const struct wt_reader *reader = wt_trace_stream(trace, i);
		const struct wt_err *damage = wt_reader_damage(reader);

		if (!damage->code)
			continue;
		/* Of a run that goes on the last block may be half written; whether one of another
		 * host does is not known. */
		if (!strcmp(opened->run.status, "running") && !opened->run.elsewhere[0])
			continue;
		wti_note_error(result, wt_reader_path(reader), damage);
		count++;
	}
	return count;
}
