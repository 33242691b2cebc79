/* SPDX-License-Identifier: Apache-2.0 */
/* How a judgement of a run (doctor, check) ends: findings, then one line on all rules. */
#ifndef WTI_SHOW_VERDICT_H
#define WTI_SHOW_VERDICT_H

#include "base/map.h"
#include "show.h"

#define WTI_FAIL_ON "error|warning|note"
/* Whether a finding of this severity is at or above that one of WTI_FAIL_ON. */
bool wti_verdict_fails(enum wt_severity severity, const char *fail_on);
bool wti_verdict_any_fails(const struct wt_result *result, const char *fail_on);

/* Findings and the closing line. */
void wti_verdict_text(struct wti_buf *out, const struct wt_result *result,
		      const struct wti_style *style);
/* What a finding is known by: its code, and its title, as invariants share theirs. Its length. */
enum { WTI_VERDICT_KEY_BYTES = 512 };
size_t wti_verdict_key(char out[WTI_VERDICT_KEY_BYTES], const struct wt_finding *finding);
/* The same when findings were shown before: those with a key in `emitted` get one line. What was
 * not measured is left to `doctor --all`. */
void wti_verdict_text_printed(struct wti_buf *out, const struct wt_result *result,
			      const struct wti_map *emitted, const struct wti_style *style);
/* And a table of all rules. */
void wti_verdict_text_all(struct wti_buf *out, const struct wt_result *result,
			  const struct wti_style *style);

#endif
