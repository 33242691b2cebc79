/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `python`: builds the Python agent for an interpreter, by that interpreter itself. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "python.h"
#include "report.h"

#define BUILDER "/wheeltap/_build.py"

/* Its output is the user's to see. Returns its status, or a negative code. */
static int run_builder(const char *interpreter, const char *home, struct wt_err *err)
{
	char builder[PATH_MAX + sizeof(BUILDER)];
	int status;
	pid_t pid;

	snprintf(builder, sizeof(builder), "%s%s", home, BUILDER);
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return wti_err_errno(err, "cannot start", interpreter);
	if (pid == 0) {
		execlp(interpreter, interpreter, "-I", builder, home, (char *)NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return wti_err_errno(err, "cannot wait for", interpreter);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return wti_err(err, WT_E_MISSING,
			       "cannot run '%.200s'; give the path of an interpreter", interpreter);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int run(const void *options, char **arguments, size_t count)
{
	char home[PATH_MAX];
	struct wt_err err = {0};
	int status = 0;

	if (strcmp(arguments[0], "add") != 0) {
		wti_err(&err, WT_E_ARG, "unknown word '%.64s'; say: wheeltap python add PYTHON",
			arguments[0]);
		return wti_report_error("python", false, &err);
	}
	if (!wti_python_home(home)) {
		wti_err(&err, WT_E_MISSING, "the Python agent is not installed with this wheeltap");
		return wti_report_error("python", false, &err);
	}
	for (size_t i = 1; i < count && status == 0; i++)
		status = run_builder(arguments[i], home, &err);
	if (status < 0)
		return wti_report_error("python", false, &err);
	return status ? WTI_EXIT_ENVIRONMENT : 0;
}

static const struct wti_option options[] = {
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_python = {
	.name = "python",
	.arguments = "add PYTHON...",
	.summary = "let other Python interpreters be recorded",
	.description =
		"The Python agent is an extension of the interpreter, and each version needs its "
		"own. `add` builds it, with the interpreter's own headers and a C compiler, and "
		"puts it where `record` finds it: beside wheeltap, or in the user's data folder. "
		"CPython 3.9 to 3.13.",
	.examples = "wheeltap python add ./venv/bin/python\tthe interpreter of an environment",
	.options = options,
	.arguments_min = 2,
	.arguments_max = 64,
	.group = "record",
	.run = run,
};
