/* SPDX-License-Identifier: Apache-2.0 */
/* The last words of `record`, on standard error. */
#ifndef WTI_CLI_RECORD_SAY_H
#define WTI_CLI_RECORD_SAY_H

#include <stdbool.h>

#include "collect/collect.h"

/* What was recorded, what was lost, what to look at next; if nothing joined, why and what to do. */
void wti_record_say(const struct wti_record_outcome *outcome, bool json);

#endif
