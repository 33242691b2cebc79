/* SPDX-License-Identifier: Apache-2.0 */
/* What the run left behind. */
#include "section.h"

int wti_section_artifacts(struct wti_report_source *source, struct wt_result *result,
			  struct wt_err *err)
{
	if (!wti_section_take(result, &source->contents, "files", "Checkpoints"))
		wti_not_recorded(result, "checkpoints", "save with torch.save()");
	return 0;
}
