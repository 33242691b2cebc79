/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings that somebody has looked at and does not want to see: [[suppress]] in a wheeltap.toml,
 * each with a reason.
 */
#ifndef WTI_RUNS_SUPPRESS_H
#define WTI_RUNS_SUPPRESS_H

#include <wheeltap/result.h>

#define WTI_SUPPRESS_FILE "wheeltap.toml"

struct wti_suppressions;

/* NULL if there is no such file, or nothing in it. To be freed. */
int wti_suppressions_read(const char *path, struct wti_suppressions **ret, struct wt_err *err);
void wti_suppressions_free(struct wti_suppressions *suppressions);
/* "2026-03-01" */
const char *wti_today(char out[16]);
/* Takes findings out. `today` is "2026-03-01". */
void wti_suppress(struct wti_suppressions *suppressions, struct wt_result *result,
		  const char *today);
/* Notes how many were taken out since it was read, and which suppressions have ended or concern
 * nothing. */
void wti_suppress_say(const struct wti_suppressions *suppressions, struct wt_result *result,
		      const char *today);

#endif
