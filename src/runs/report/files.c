/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which of the things that a run touched are files of its work. */
#include "files.h"

#include <string.h>

#include "base/err.h"
#include "runs/seen.h"

enum { FILES_SHOWN = 200 };

void wti_files_columns(struct wt_table *table)
{
	wt_table_column(table, "size_bytes", "size now", WT_CELL_BYTES);
	wt_table_column(table, "since", "since the run", WT_CELL_TEXT);
	wt_table_column(table, "sha256", "SHA-256 now", WT_CELL_TEXT);
}

/* What the time of the last change says; a running program may write any moment. */
static const char *since(const struct wti_run *run, int64_t changed_ns)
{
	int64_t end_ns = run->start_ns + run->duration_ns;

	if (!run->start_ns || run->duration_ns < 0)
		return "not known";
	if (!strcmp(run->status, "running"))
		return "the run goes on";
	return changed_ns > end_ns ? "CHANGED" : "not changed";
}

void wti_files_cells(const struct wti_report_source *source, struct wt_table *table,
		     const char *path)
{
	const struct wti_run *run = &source->opened->run;
	char hash[WTI_SHA256_TEXT];
	int64_t changed_ns = 0;
	uint64_t bytes = 0;
	const char *words;

	if (!path || !wti_section_hash(run->directory, path, hash, &bytes, &changed_ns)) {
		words = path ? "gone, or not readable" : "its name is not recorded";
		wt_table_empty(table);
		wt_table_text(table, words, strlen(words));
		return;
	}
	words = since(run, changed_ns);
	wt_table_count(table, bytes);
	wt_table_text(table, words, strlen(words));
	wt_table_text(table, hash, strlen(hash));
}

static uint64_t total(const struct wti_effects *effects, const struct wti_thing *thing,
		      enum wti_effect effect)
{
	const struct wti_tally *tally =
		wti_effects_tally(effects, wti_effects_index(effects, thing), effect);

	return tally ? tally->total : 0;
}

static bool is_written(const struct wti_effects *effects, const struct wti_thing *thing)
{
	return total(effects, thing, WTI_EFFECT_MADE) ||
	       total(effects, thing, WTI_EFFECT_REPLACED) ||
	       total(effects, thing, WTI_EFFECT_CHANGED) ||
	       total(effects, thing, WTI_EFFECT_WRITTEN_BYTES);
}

static bool is_wanted(const struct wti_effects *effects, const struct wti_thing *thing,
		      enum wti_files_which which)
{
	if (thing->type != WTI_THING_FILE || thing->is_gone || thing->moved_to)
		return false;
	if (which == WTI_FILES_WRITTEN)
		return is_written(effects, thing);
	return total(effects, thing, WTI_EFFECT_READ_BYTES) && !is_written(effects, thing);
}

static void add_files(struct wti_report_source *source, const struct wti_effects *effects,
		      enum wti_files_which which, struct wt_result *result)
{
	struct wt_table *table =
		which == WTI_FILES_READ
			? wt_result_table(result, "read_files", "Files that were read")
			: wt_result_table(result, "written_files", "Files that were written");
	enum wti_effect moved =
		which == WTI_FILES_READ ? WTI_EFFECT_READ_BYTES : WTI_EFFECT_WRITTEN_BYTES;
	size_t left_out = 0;

	wt_table_column(table, "path", "file", WT_CELL_TEXT);
	wt_table_column(table, "moved_bytes", which == WTI_FILES_READ ? "read" : "written",
			WT_CELL_BYTES);
	wti_files_columns(table);
	for (size_t i = 0; i < effects->thing_count; i++) {
		const struct wti_thing *thing = &effects->things[i];
		const char *path = thing->place_raw ? thing->place_raw : thing->raw;

		if (!path || !is_wanted(effects, thing, which))
			continue;
		if (table->row_count >= FILES_SHOWN) {
			left_out++;
			continue;
		}
		wt_table_row(table);
		wt_table_text(table, path, strlen(path));
		wt_table_count(table, total(effects, thing, moved));
		wti_files_cells(source, table, path);
	}
	if (left_out)
		wt_result_note(result, "%zu more files are not shown", left_out);
}

int wti_files_add(struct wti_report_source *source, enum wti_files_which which,
		  struct wt_result *result, struct wt_err *err)
{
	const struct wti_doc *syscalls =
		source->json ? wti_doc_get(source->json, "syscalls") : NULL;
	struct wt_err failed = {.offset = -1};
	struct wti_seen_run seen;
	struct wt_result notes;
	int r;

	if (!syscalls || syscalls->type == WTI_DOC_NULL) {
		wti_not_recorded(result,
				 which == WTI_FILES_READ ? "files that were read, with their hashes"
							 : "files that were written otherwise",
				 "record with --syscalls");
		return 0;
	}
	wt_result_init(&notes, "files");
	r = wti_seen_open(source->front, source->opened->run.path, &seen, &notes, &failed);
	if (r == WT_E_NOMEM)
		wti_err(err, r, "out of memory");
	else if (r)
		wti_not_recorded(result, "files", failed.message);
	if (!r) {
		add_files(source, &seen.effects, which, result);
		wti_seen_close(&seen);
	}
	wt_result_release(&notes);
	return r == WT_E_NOMEM ? r : 0;
}
