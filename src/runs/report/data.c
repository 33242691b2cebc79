/* SPDX-License-Identifier: Apache-2.0 */
/* What the run learned from: batches of its loaders, how these were set up, and files it read. */
#include <string.h>

#include "files.h"
#include "show/report/report.h"

int wti_section_data(struct wti_report_source *source, struct wt_result *result, struct wt_err *err)
{
	if (!wti_section_take(result, &source->contents, "batches", "Batches by loader"))
		wti_not_recorded(result, "batches",
				 "load data with torch.utils.data.DataLoader, which is recorded by "
				 "itself");
	wti_section_take(result, &source->contents, "loader_settings", "Settings of loaders");
	return wti_files_add(source, WTI_FILES_READ, result, err);
}
