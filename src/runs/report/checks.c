/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the program made of itself, each with what it expected and what it got. */
#include "section.h"

int wti_section_checks(struct wti_report_source *source, struct wt_result *result,
		       struct wt_err *err)
{
	wti_not_recorded(result, "checks",
			 "make them in the program: wheeltap.check(), wt_check()");
	return 0;
}
