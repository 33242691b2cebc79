/* SPDX-License-Identifier: Apache-2.0 */
/* Which Python interpreter a command line starts, as far as that is known without running it. */
#ifndef WTI_COLLECT_INTERPRETER_H
#define WTI_COLLECT_INTERPRETER_H

#include <limits.h>
#include <stdbool.h>

#include <wheeltap/err.h>

/* True of python, python3.11, /usr/bin/python3 and such. */
bool wti_is_python(const char *program);
/* The option with which the interpreter keeps the agent out ("-I", "-E", "-S"), or NULL. `argv[0]`
 * is the interpreter. */
const char *wti_python_shut(const char *const *argv, char out[3]);
/* The file of the interpreter: the program itself, or what its first line names. WT_E_MISSING: no
 * such program; WT_E_ARG: it is not known. */
int wti_python_of(char *const *argv, char *const *environment, char ret_path[PATH_MAX],
		  struct wt_err *err);

#endif
