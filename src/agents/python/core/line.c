/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of the log: what the program logs, and what the agent has to report about itself.
 */
#include "pyagent.h"

#include <string.h>

#include "common/text.h"
#include "emit.h"

void wti_line_emit_kept(unsigned level, const struct wti_kept_text *kept)
{
	const struct wti_here here = wti_here();

	if (here.ring && level <= WT_LEVEL_ERROR)
		wti_emit_log(here, &(struct wti_record_log){.level = level}, kept);
}

void wti_line_emit(unsigned level, const char *text)
{
	const struct wti_kept_text kept = {
		.data = text, .bytes = (uint32_t)wti_text_cut(text, strlen(text), WTI_TEXT_MAX)};

	if (wti_python.is_on)
		wti_line_emit_kept(level, &kept);
}
