/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the page of a run; what stands in it is the business of runs/page.c and show/page. */
#include "export_page.h"

#include <string.h>

#include "base/err.h"
#include "cli/front.h"
#include "runs/page.h"
#include "show/export/sink.h"
#include "show/show.h"

#define PAGE_MAX (1u << 30)

bool wti_has_kind(const struct wt_trace *trace, uint32_t kind)
{
	for (size_t i = 0; i < wt_trace_stream_count(trace); i++) {
		const struct wt_reader *reader = wt_trace_stream(trace, i);

		for (size_t j = 0; j < wt_reader_block_count(reader); j++)
			if (wt_reader_block(reader, j)->kind == kind)
				return true;
	}
	return false;
}

int wti_export_page(const struct wti_opened_run *opened, const struct wti_time_window *window,
		    const char *path, bool force, uint64_t *ret_bytes, struct wt_err *err)
{
	struct wti_progress progress;
	struct wti_front front = wti_front_doing("exporting", &progress);
	struct wti_export_sink sink = {0};
	struct wt_result result;
	struct wti_buf page;
	int r;

	wt_result_init(&result, "run");
	wti_buf_init(&page, PAGE_MAX);
	r = wti_run_page(&front, opened, window->from_ns, window->to_ns, &result, err);
	wti_note_damage(opened, &result);
	if (!r && wt_result_status(&result))
		r = wti_err(err, WT_E_NOMEM, "out of memory");
	if (!r) {
		wti_show_page(&page, &result);
		r = wti_buf_status(&page) ? wti_err(err, WT_E_NOMEM, "the page is too large") : 0;
	}
	if (!r)
		r = wti_sink_open(&sink, path, force, err);
	if (!r) {
		wti_buf_append(&sink.buf, page.data, page.bytes);
		r = wti_sink_commit(&sink, force, err);
		*ret_bytes = page.bytes;
	}
	wti_sink_release(&sink);
	wti_buf_release(&page);
	wt_result_release(&result);
	return r;
}
