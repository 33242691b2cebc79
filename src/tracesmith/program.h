/* SPDX-License-Identifier: Apache-2.0 */
/* The program `wheeltap`, for what the library does not do: it reads traces, and neither records
 * nor renders. */
#ifndef WTI_TRACESMITH_PROGRAM_H
#define WTI_TRACESMITH_PROGRAM_H

#include <wheeltap/err.h>

/* Runs it and waits. `argv[0]`: NULL means as PATH has it. ret_status is that of a shell. */
int wti_program_run(char *argv[], int *ret_status, struct wt_err *err);

#endif
