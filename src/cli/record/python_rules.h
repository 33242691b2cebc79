/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which Python functions are wanted, from the words and files that people give to the lines that
 * the agent reads.
 */
#ifndef WTI_CLI_RECORD_PYTHON_RULES_H
#define WTI_CLI_RECORD_PYTHON_RULES_H

#include <wheeltap/err.h>

#include "base/buf.h"
#include "cli/verb.h"

/* "key=a,b,c" from "a,b,c" or from "@FILE" with a name a line. NULL or "": nothing. */
int wti_python_names(struct wti_buf *out, const char *key, const char *names, struct wt_err *err);
/* "key=MODULE FUNCTION" for each rule of the files. */
int wti_python_rules(struct wti_buf *out, const char *key, const struct wti_list *files,
		     struct wt_err *err);

#endif
