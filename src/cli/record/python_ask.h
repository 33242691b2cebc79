/* SPDX-License-Identifier: Apache-2.0 */
/* Running an interpreter for an answer of one line, or for one of the package's own scripts. */
#ifndef WTI_CLI_RECORD_PYTHON_ASK_H
#define WTI_CLI_RECORD_PYTHON_ASK_H

#include <stdbool.h>

#include <wheeltap/err.h>

#define WTI_ANSWER_BYTES 512
#define WTI_ANSWER_PATIENCE_S 10

/*
 * The first line that `interpreter` prints with these options and words (ends with NULL), or what
 * there is of it after a while. 0; or an errno if it cannot be run, ETIMEDOUT if it did not answer.
 */
int wti_python_ask(const char *interpreter, const char *const *words,
		   char ret_line[WTI_ANSWER_BYTES]);

struct wti_python_version {
	int major, minor, micro;
	bool is_free_threaded;             /* built without the global interpreter lock */
	char name[32];                     /* of the implementation: cpython, pypy */
	char executable[WTI_ANSWER_BYTES]; /* which one answered, behind a script that starts it */
};

/* 0; an errno as above; ENOEXEC: what answered is no Python; ENODATA: there was no answer. */
int wti_python_ask_version(const char *interpreter, struct wti_python_version *ret_version);

/* Whether it finds that module; nothing of it is run. */
bool wti_python_has(const char *interpreter, const char *module);

struct wti_python_script {
	const char *interpreter;
	const char *home;   /* of the package, the script's first argument */
	const char *name;   /* of the script, below the home */
	const char *option; /* its second argument; or NULL */
	bool to_errors; /* what it prints goes to standard error, as standard output is another's */
};

/* What it prints is the user's to see; it reads nothing. Its status, or a negative code. */
int wti_python_script(const struct wti_python_script *script, struct wt_err *err);

#endif
