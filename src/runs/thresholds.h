/* SPDX-License-Identifier: Apache-2.0 */
/* Thresholds of rules: [thresholds.CODE] in a wheeltap.toml. */
#ifndef WTI_RUNS_THRESHOLDS_H
#define WTI_RUNS_THRESHOLDS_H

#include <stddef.h>

#include <wheeltap/err.h>

struct wti_setting;

/* NULL and 0 if there is no such file, or nothing in it. To be freed. */
int wti_thresholds_read(const char *path, struct wti_setting **ret_settings, size_t *ret_count,
			struct wt_err *err);

#endif
