/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the run left behind: checkpoints, files, and its own trace, each with its hash. Hashes are
 * of the files as they are when the report is made.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/err.h"
#include "files.h"
#include "saved.h"
#include "show/report/report.h"
#include "trace/run_folder.h"

/* A trace that is larger is not hashed: that would take longer than all the rest. */
#define TRACE_BYTES_MAX (1ull << 30)
#define WORDS_MAX 4096u

static void put_cell(struct wt_table *table, const struct wt_cell *cell)
{
	if (!cell || cell->type == WT_CELL_EMPTY)
		wt_table_empty(table);
	else if (cell->type == WT_CELL_TEXT)
		wt_table_text(table, cell->text, cell->text_bytes);
	else
		wt_table_count(table, cell->count);
}

/* Whether a later row saves to the same file: only the last can be what is there. */
static bool is_overwritten(const struct wt_table *files, size_t row, const char *path)
{
	for (size_t i = row + 1; path && i < files->row_count; i++) {
		const char *later = wti_report_cell_text(files, i, "path");
		const char *action = wti_report_cell_text(files, i, "action");

		if (later && action && !strcmp(action, "save") && !strcmp(later, path))
			return true;
	}
	return false;
}

/* What is known of a save that nothing has overwritten: the file, and whether it is what was saved.
 */
static int put_saved(const struct wti_report_source *source, struct wt_table *table, size_t row,
		     const char *path, struct wt_err *err)
{
	struct wti_buf words;
	int r = 0;

	wti_buf_init(&words, WORDS_MAX);
	if (path)
		r = wti_saved_compare(source, row, path, &words, err);
	if (words.bytes)
		wt_table_text(table, (const char *)words.data, words.bytes);
	else
		wt_table_empty(table);
	wti_buf_release(&words);
	return r;
}

static int add_checkpoints(const struct wti_report_source *source, const struct wt_table *files,
			   struct wt_result *result, struct wt_err *err)
{
	static const char *const keys[] = {"action", "path",    "function",
					   "step",   "tensors", "outcome"};
	struct wt_table *table = wt_result_table(result, "checkpoints", "Checkpoints");
	int r = 0;

	wt_table_column(table, "action", "action", WT_CELL_TEXT);
	wt_table_column(table, "path", "file", WT_CELL_TEXT);
	wt_table_column(table, "function", "by", WT_CELL_TEXT);
	wt_table_column(table, "step", "step", WT_CELL_ID);
	wt_table_column(table, "tensors", "tensors", WT_CELL_COUNT);
	wt_table_column(table, "outcome", "outcome", WT_CELL_TEXT);
	wt_table_column(table, "contents", "what is in it", WT_CELL_TEXT);
	wti_files_columns(table);
	for (size_t i = 0; i < files->row_count && !r; i++) {
		const char *path = wti_report_cell_text(files, i, "path");
		const char *action = wti_report_cell_text(files, i, "action");

		wt_table_row(table);
		for (size_t j = 0; j < sizeof(keys) / sizeof(*keys); j++)
			put_cell(table, wti_report_cell(files, i, keys[j]));
		if (action && !strcmp(action, "save") && is_overwritten(files, i, path)) {
			static const char words[] = "overwritten by a later save";

			wt_table_text(table, words, sizeof(words) - 1);
			continue;
		}
		if (action && !strcmp(action, "save"))
			r = put_saved(source, table, i, path, err);
		else
			wt_table_empty(table);
		wti_files_cells(source, table, path);
	}
	return r;
}

/* ---- The trace ------------------------------------------------------------------------------- */

static int is_of_trace(const struct dirent *entry)
{
	return wti_ends_with(entry->d_name, ".wt") || !strcmp(entry->d_name, WTI_RUN_JSON);
}

static void add_trace(const struct wti_report_source *source, struct wt_result *result)
{
	const struct wti_run *run = &source->opened->run;
	struct dirent **names = NULL;
	struct wt_table *table;
	int count;

	if (!run->is_folder || !strcmp(run->status, "running")) {
		wti_not_recorded(result, "digests of the trace", "wait until the run is over");
		return;
	}
	if (wti_run_size(run->path).stream_bytes > TRACE_BYTES_MAX) {
		wti_not_recorded(result, "digests of the trace", "it has more than 1 GiB");
		return;
	}
	table = wt_result_table(result, "trace", "");
	wt_table_column(table, "path", "file", WT_CELL_TEXT);
	wt_table_column(table, "size_bytes", "size", WT_CELL_BYTES);
	wt_table_column(table, "sha256", "SHA-256", WT_CELL_TEXT);
	count = scandir(run->path, &names, is_of_trace, alphasort);
	for (int i = 0; i < count; i++) {
		char hash[WTI_SHA256_TEXT];
		int64_t changed_ns;
		uint64_t bytes;

		if (wti_section_hash(run->path, names[i]->d_name, hash, &bytes, &changed_ns)) {
			wt_table_row(table);
			wt_table_text(table, names[i]->d_name, strlen(names[i]->d_name));
			wt_table_count(table, bytes);
			wt_table_text(table, hash, strlen(hash));
		}
		free(names[i]);
	}
	free(names);
}

int wti_section_artifacts(struct wti_report_source *source, struct wt_result *result,
			  struct wt_err *err)
{
	const struct wt_table *files = wti_report_table(&source->contents, "files");
	int r = 0;

	if (files && files->row_count)
		r = add_checkpoints(source, files, result, err);
	else
		wti_not_recorded(result, "checkpoints",
				 "save with torch.save(), which is recorded by itself");
	if (r)
		return r;
	add_trace(source, result);
	return wti_files_add(source, WTI_FILES_WRITTEN, result, err);
}
