/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which renderer belongs to which suffix. */
#include "report.h"

#include <string.h>

#include <wheeltap/inspect.h>

#include "base/err.h"
#include "base/file.h"
#include "inspect/time/stat.h"
#include "show/show.h"

#define REPORT_BYTES_MAX (256u << 20)

static bool ends_in(const char *path, const char *suffix)
{
	size_t bytes = strlen(path), tail = strlen(suffix);

	return bytes > tail && !strcmp(path + bytes - tail, suffix);
}

static void render(struct wti_buf *out, const struct wt_result *result, const char *file)
{
	static const struct wti_style plain;

	if (ends_in(file, ".json"))
		wti_show_json(out, result);
	else if (ends_in(file, ".csv") && result->table_count)
		wti_show_csv(out, result->tables[0]);
	else if (ends_in(file, ".md"))
		wti_show_markdown(out, result);
	else
		wti_show_text(out, result, &plain);
}

static int write_report(const struct wt_result *result, const char *file, struct wt_err *err)
{
	struct wti_buf out;
	int r = wt_result_status(result);

	if (r)
		return wti_err(err, r, "out of memory for the report '%.200s'", file);
	wti_buf_init(&out, REPORT_BYTES_MAX);
	render(&out, result, file);
	r = wti_buf_status(&out) ? wti_err(err, WT_E_NOMEM, "the report is too large")
				 : wti_file_replace(file, out.data, out.bytes, err);
	wti_buf_release(&out);
	return r;
}

int wti_record_report(const char *folder, const char *file, struct wt_err *err)
{
	const struct wti_stat_options options = {.by = WTI_STAT_BY_FUNCTION,
						 .order = WTI_PROFILE_BY_BYTES};
	struct wt_trace *trace;
	struct wt_result result;
	int r = wt_trace_open(folder, &trace, err);

	if (r)
		return r;
	wt_result_init(&result, "stat");
	r = wt_inspect(wt_inspector_by_name("stat"), trace, NULL, &options, &result, NULL, NULL,
		       err);
	if (!r)
		r = write_report(&result, file, err);
	wt_result_release(&result);
	wt_trace_free(trace);
	return r;
}
