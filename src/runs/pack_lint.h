/* SPDX-License-Identifier: Apache-2.0 */
/* What cannot be meant in a pack. */
#ifndef WTI_RUNS_PACK_LINT_H
#define WTI_RUNS_PACK_LINT_H

#include <wheeltap/result.h>

#include "inspect/learn/pack.h"

void wti_pack_lint(const struct wti_pack *pack, const char *path, const char *today,
		   struct wt_result *result);

#endif
