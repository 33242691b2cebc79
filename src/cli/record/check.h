/* SPDX-License-Identifier: Apache-2.0 */
/* `record --check`: findings while the program runs, on standard error. */
#ifndef WTI_CLI_RECORD_CHECK_H
#define WTI_CLI_RECORD_CHECK_H

#include <stdbool.h>

#include "runs/watch.h"

struct wti_record_check;

/* `on_finding`: "warn", "stop", or a command for the shell, which gets the finding as JSON. */
/* `pack` is the name of a file, "yes": the built-in one, or "rules": none. */
int wti_record_check_start(const char *pack, const char *on_finding, bool some_calls,
			   struct wti_record_check **ret_check, struct wt_err *err);
struct wti_sink *wti_record_check_sink(struct wti_record_check *check);
/* Says how it ended. The exit code: that of the program, or 1 for errors where that is 0. */
int wti_record_check_finish(struct wti_record_check *check, int program_code);

#endif
