/* SPDX-License-Identifier: Apache-2.0 */
/* The last words of `record`, on standard error. */
#ifndef WTI_CLI_RECORD_SAY_H
#define WTI_CLI_RECORD_SAY_H

#include <stdbool.h>

#include <wheeltap/result.h>

#include "collect/collect.h"

/* What was recorded, what was lost, what to look at next; if nothing joined, why and what to do.
 * `judged`: what --check found, or NULL; a part of the JSON. */
void wti_record_say(const struct wti_record_outcome *outcome, bool json,
		    const struct wt_result *judged);

#endif
