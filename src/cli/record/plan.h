/* SPDX-License-Identifier: Apache-2.0 */
/* `record --dry-run`: what would be hooked, found out in the program's interpreter. */
#ifndef WTI_CLI_RECORD_PLAN_H
#define WTI_CLI_RECORD_PLAN_H

#include <stdbool.h>

#include "python.h"

/* Prints it; the exit code. The program itself is not run. */
int wti_record_plan(char *const *argv, const struct wti_python_plan *plan, bool json);

#endif
