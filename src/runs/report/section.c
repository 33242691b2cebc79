/* SPDX-License-Identifier: Apache-2.0 */
/* What sections share: what is not known, run.json, inspectors, files as they are now. */
#include "section.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/sha.h"
#include "show/report/report.h"

void wti_not_recorded(struct wt_result *result, const char *what, const char *how)
{
	struct wt_table *table = NULL;

	for (size_t i = 0; i < result->table_count; i++)
		if (!strcmp(result->tables[i]->key, "not_recorded"))
			table = result->tables[i];
	if (!table) {
		table = wt_result_table(result, "not_recorded", "");
		wt_table_column(table, "what", "not recorded", WT_CELL_TEXT);
		wt_table_column(table, "how", "how to record it", WT_CELL_TEXT);
	}
	wt_table_row(table);
	wt_table_text(table, what, strlen(what));
	wt_table_text(table, how, strlen(how));
}

void wti_fact_of_json(struct wt_result *result, const struct wti_doc *table, const char *key,
		      const char *title, enum wt_cell_type type)
{
	int64_t count = table ? wti_doc_count(table, key) : -1;

	if (type == WT_CELL_TEXT)
		wt_result_fact_text(result, key, title, table ? wti_doc_text(table, key) : NULL);
	else if (count < 0)
		wt_result_fact_text(result, key, title, NULL);
	else
		wt_result_fact_count(result, key, title, type, (uint64_t)count);
}

int wti_section_inspect(const struct wti_report_source *source, const char *inspector,
			const void *options, struct wt_result *result, struct wt_err *err)
{
	struct wt_err failed = {.offset = -1};
	int r;

	wti_front_progress(source->front, 0);
	r = wt_inspect(wt_inspector_by_name(inspector), source->opened->trace, NULL, options,
		       result, source->front->progress, source->front->cookie, &failed);
	wti_front_progress(source->front, WTI_PROGRESS_OVER);
	if (r == WT_E_NOMEM || wt_result_status(result) == WT_E_NOMEM)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	if (r)
		wti_note_error(result, NULL, &failed);
	return 0;
}

static void take_cell(struct wt_table *into, const struct wt_cell *cell)
{
	switch (cell->type) {
	case WT_CELL_EMPTY:
		wt_table_empty(into);
		break;
	case WT_CELL_TEXT:
		wt_table_text(into, cell->text, cell->text_bytes);
		break;
	case WT_CELL_NUMBER:
	case WT_CELL_PERCENT:
		wt_table_number(into, cell->number);
		break;
	case WT_CELL_NS:
		wt_table_ns(into, cell->ns);
		break;
	default:
		wt_table_count(into, cell->count);
	}
}

bool wti_section_take(struct wt_result *into, const struct wt_result *from, const char *key,
		      const char *title)
{
	const struct wt_table *table = wti_report_table(from, key);
	struct wt_table *made;

	if (!table || !table->row_count)
		return false;
	made = wt_result_table(into, key, title);
	for (size_t i = 0; i < table->column_count; i++) {
		wt_table_column(made, table->columns[i].key, table->columns[i].title,
				table->columns[i].type);
		if (table->columns[i].hide)
			wt_table_hide(made, table->columns[i].hide);
	}
	for (size_t i = 0; i < table->row_count; i++) {
		wt_table_row(made);
		for (size_t j = 0; j < table->column_count; j++)
			take_cell(made, &table->cells[i * table->column_count + j]);
	}
	return true;
}

static bool add_file(struct wti_sha *sha, int fd, uint64_t *ret_bytes)
{
	uint8_t part[65536];
	ssize_t bytes;

	for (*ret_bytes = 0; (bytes = wti_pread_all(fd, part, sizeof(part), *ret_bytes)) > 0;
	     *ret_bytes += (uint64_t)bytes)
		wti_sha_add(sha, part, (size_t)bytes);
	return bytes == 0;
}

bool wti_section_hash(const char *directory, const char *path, char ret_hash[WTI_SHA256_TEXT],
		      uint64_t *ret_bytes, int64_t *ret_changed_ns)
{
	uint8_t hash[WTI_SHA256_BYTES];
	char full[PATH_MAX];
	struct wti_sha sha;
	struct stat info;
	bool ok;
	int fd, length;

	length = *path == '/' || !directory
			 ? snprintf(full, sizeof(full), "%s", path)
			 : snprintf(full, sizeof(full), "%s/%s", directory, path);
	fd = length > 0 && (size_t)length < sizeof(full) ? wti_open_regular(full, NULL) : -1;
	if (fd < 0)
		return false;
	wti_sha_init(&sha, true);
	ok = !fstat(fd, &info) && add_file(&sha, fd, ret_bytes);
	close(fd);
	wti_sha_end(&sha, hash);
	for (size_t i = 0; i < sizeof(hash); i++)
		snprintf(ret_hash + 2 * i, 3, "%02x", hash[i]);
	if (ok)
		*ret_changed_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
	return ok;
}
