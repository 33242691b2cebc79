/* SPDX-License-Identifier: Apache-2.0 */
/* Opens two runs for the comparison of their operations: see divergence_runs.h. */
#include "divergence_runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"

#define BLOB_BYTES_MAX ((size_t)1 << 30)

/* ---- Contents -------------------------------------------------------------------------------- */

bool wti_blob_read(const struct wti_run *run, const struct wti_digest_row *digest,
		   struct wti_buf *ret_bytes)
{
	char path[PATH_MAX];
	size_t bytes = wti_elements_bytes(digest->dtype);

	if (!(digest->flags & WT_TENSOR_BLOB) || !bytes || digest->count > BLOB_BYTES_MAX / bytes)
		return false;
	if (snprintf(path, sizeof(path), "%s/blobs/%016" PRIx64, run->path, digest->hash) >=
	    (int)sizeof(path))
		return false;
	return !wti_file_read(path, BLOB_BYTES_MAX, ret_bytes, NULL) &&
	       ret_bytes->bytes == digest->count * bytes;
}

static void compare_contents(const struct wti_compared_runs *runs,
			     const struct wti_value_pair *pair, bool *ret_has,
			     struct wti_elements *ret_elements)
{
	struct wti_buf a, b;

	if (pair->a.type != WTI_VALUE_TENSOR || pair->same != WTI_NOT_SAME ||
	    pair->a.digest.dtype != pair->b.digest.dtype ||
	    pair->a.digest.count != pair->b.digest.count)
		return;
	wti_buf_init(&a, BLOB_BYTES_MAX);
	wti_buf_init(&b, BLOB_BYTES_MAX);
	if (wti_blob_read(&runs->runs[0].run, &pair->a.digest, &a) &&
	    wti_blob_read(&runs->runs[1].run, &pair->b.digest, &b))
		*ret_has = wti_elements_compare(pair->a.digest.dtype, a.data, b.data,
						pair->a.digest.count, ret_elements);
	wti_buf_release(&a);
	wti_buf_release(&b);
}

static void add_elements(struct wt_table *table, const char *name, const struct wti_elements *e)
{
	wt_table_row(table);
	wt_table_text(table, name, strlen(name));
	wt_table_count(table, e->count);
	wt_table_count(table, e->different);
	wt_table_count(table, e->first);
	if (e->is_float)
		wt_table_count(table, e->ulp_max);
	else
		wt_table_empty(table);
	for (size_t i = 0; i < 3; i++)
		wt_table_count(table, e->within[i]);
	wt_table_number(table, e->farthest);
	wt_table_count(table, e->nan_a);
	wt_table_count(table, e->nan_b);
}

static void show_elements(struct wti_compared_runs *runs, struct wt_result *result)
{
	const struct wti_first_difference *first = wti_divergence_first(&runs->report);
	struct wt_table *table = wt_result_table(result, "elements", "elements that differ");

	wt_table_column(table, "name", "value", WT_CELL_TEXT);
	wt_table_column(table, "count", "elements", WT_CELL_COUNT);
	wt_table_column(table, "different", "differ", WT_CELL_COUNT);
	wt_table_column(table, "first", "first at", WT_CELL_ID);
	wt_table_column(table, "ulp_max", "ULP at most", WT_CELL_COUNT);
	wt_table_column(table, "within_1", "by 1 ULP", WT_CELL_COUNT);
	wt_table_column(table, "within_4", "up to 4", WT_CELL_COUNT);
	wt_table_column(table, "within_64", "up to 64", WT_CELL_COUNT);
	wt_table_column(table, "farthest", "farthest", WT_CELL_NUMBER);
	wt_table_column(table, "nan_a", "NaN only in A", WT_CELL_COUNT);
	wt_table_column(table, "nan_b", "NaN only in B", WT_CELL_COUNT);
	for (uint32_t i = 0; first && i < first->value_count; i++) {
		compare_contents(runs, &first->values[i], &runs->has_elements[i],
				 &runs->elements[i]);
		if (runs->has_elements[i])
			add_elements(table, first->values[i].name, &runs->elements[i]);
	}
}

/* ---- Runs ------------------------------------------------------------------------------------ */

int wti_compare_tensors(const struct wti_front *front, const char *const words[2],
			const struct wti_within_line *where, struct wti_compared_runs *ret_runs,
			struct wt_result *result, struct wt_err *err)
{
	struct wti_compared_runs *runs = ret_runs;
	int r = 0;

	*runs = (struct wti_compared_runs){.is_damaged = false};
	for (size_t i = 0; i < 2 && !r; i++) {
		r = wti_open(front, words[i], &runs->runs[i], err);
		if (!r)
			runs->is_damaged |= wti_note_damage(&runs->runs[i], result) != 0;
	}
	r = r ? r
	      : wti_diverge(runs->runs[0].trace, runs->runs[1].trace, where, &runs->report, err);
	if (r) {
		wti_compared_runs_close(runs);
		return r;
	}
	if (runs->is_damaged && runs->report.verdict == WTI_REPEAT_IDENTICAL)
		runs->report.verdict = WTI_REPEAT_NOT_MEASURED;
	wti_divergence_show(&runs->report, result);
	show_elements(runs, result);
	wt_result_fact_text(result, "a", "", runs->runs[0].run.path);
	wt_result_fact_text(result, "b", "", runs->runs[1].run.path);
	return 0;
}

void wti_compared_runs_close(struct wti_compared_runs *runs)
{
	for (size_t i = 0; i < 2; i++)
		if (runs->runs[i].trace)
			wti_close(&runs->runs[i]);
	wti_divergence_release(&runs->report);
	*runs = (struct wti_compared_runs){.is_damaged = false};
}
