/* SPDX-License-Identifier: Apache-2.0 */
/* What the run learned from: batches of its loaders. */
#include "section.h"

int wti_section_data(struct wti_report_source *source, struct wt_result *result, struct wt_err *err)
{
	if (!wti_section_take(result, &source->contents, "batches", "Batches by loader"))
		wti_not_recorded(result, "batches",
				 "load data with torch.utils.data.DataLoader, which is recorded by "
				 "itself");
	return 0;
}
