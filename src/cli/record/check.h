/* SPDX-License-Identifier: Apache-2.0 */
/* `record --check`: findings while the program runs, on standard error. */
#ifndef WTI_CLI_RECORD_CHECK_H
#define WTI_CLI_RECORD_CHECK_H

#include <stdbool.h>

#include <wheeltap/err.h>
#include <wheeltap/result.h>

#include "trace/sink.h"

struct wti_record_check;

struct wti_record_check_options {
	const char *pack;       /* a file; "yes": the built-in one; "rules": none */
	const char *on_finding; /* "warn", "stop", or a command for the shell */
	bool some_calls;        /* not all system calls are recorded */
	bool json;              /* print nothing: the result is printed by the caller */
};

/* Texts of the options have to stay. The command gets findings as JSON. */
int wti_record_check_start(const struct wti_record_check_options *options,
			   struct wti_record_check **ret_check, struct wt_err *err);
struct wti_sink *wti_record_check_sink(struct wti_record_check *check);
/* The recording has ended with this status of run.json. False: it could not be judged, which was
 * printed, and there is no result. */
bool wti_record_check_finish(struct wti_record_check *check, const char *run_status,
			     struct wt_result *ret_result);
/* Prints what was not printed before, and gives it to the command; takes findings out of the
 * result. The exit code: that of the program, or 1 for errors where that is 0. */
int wti_record_check_report(struct wti_record_check *check, struct wt_result *result,
			    int program_code);
void wti_record_check_free(struct wti_record_check *check);

#endif
