/* SPDX-License-Identifier: Apache-2.0 */
/* How verbs that judge a run (doctor, check) end: findings, then one line on all rules. */
#ifndef WTI_CLI_VERDICT_H
#define WTI_CLI_VERDICT_H

#include "show/show.h"

#define WTI_FAIL_ON "error|warning|note"

/* Findings and the closing line. */
void wti_verdict_text(struct wti_buf *out, const struct wt_result *result,
		      const struct wti_style *style);
/* And a table of all rules. */
void wti_verdict_text_all(struct wti_buf *out, const struct wt_result *result,
			  const struct wti_style *style);

#endif
